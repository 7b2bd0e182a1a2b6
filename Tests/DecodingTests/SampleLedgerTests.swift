import Media
import Testing

@testable import Decoding

private func time(_ value: Int64) -> MediaTime { MediaTime(value: value, timescale: 25) }

@Suite("SampleLedger")
struct SampleLedgerTests {
    private func open(_ ledger: inout SampleLedger, _ value: Int64) -> MediaTime? {
        ledger.open(timestamp: value, presentationTime: time(value), duration: .invalid, displayImmediately: false)
    }

    @Test("pictures find their samples in whatever order they come out")
    func reordering() {
        var ledger = SampleLedger()
        for value in [0, 3, 1, 2] as [Int64] { _ = open(&ledger, value) }
        for value in [0, 1, 2, 3] as [Int64] {
            let entry = ledger.close(timestamp: value)
            #expect(entry?.presentationTime == time(value))
        }
        #expect(ledger.isEmpty)
        let unknown = ledger.close(timestamp: 2)
        #expect(unknown == nil, "a picture shown again belongs to no sample")
    }

    @Test("two samples with one time are two samples")
    func duplicates() {
        var ledger = SampleLedger()
        _ = open(&ledger, 5)
        _ = open(&ledger, 5)
        let answers = (0..<3).map { _ in ledger.close(timestamp: 5) != nil }
        #expect(answers == [true, true, false])
    }

    @Test("a sample that gives no picture is given up when the table is full, the oldest first")
    func capacity() {
        var ledger = SampleLedger()
        for value in 0..<Int64(SampleLedger.capacity) {
            let abandoned = open(&ledger, value)
            #expect(abandoned == nil)
        }
        let first = open(&ledger, 1000), second = open(&ledger, 1001)
        #expect(first == time(0) && second == time(1))
    }

    @Test("an error answers for one of the samples without a picture")
    func errors() {
        var ledger = SampleLedger()
        for value in 0..<3 { _ = open(&ledger, Int64(value)) }
        ledger.noteError()
        var answers: [MediaTime?] = []
        while !ledger.isEmpty { answers.append(ledger.closeOldest()) }
        #expect(answers == [nil, time(1), time(2)])
    }
}

@Suite("ThreadCount")
struct ThreadCountTests {
    @Test(
        "as many threads as the machine and the memory bear",
        arguments: [
            (1, PixelSize(width: 1920, height: 1080), 1), (2, PixelSize(width: 1920, height: 1080), 3),
            (64, PixelSize(width: 1920, height: 1080), 16), (64, PixelSize(width: 3840, height: 2160), 8),
            (64, PixelSize(width: 15360, height: 8640), 1), (8, PixelSize(width: 0, height: 0), 9),
        ])
    func automatic(processors: Int, picture: PixelSize, expected: Int) {
        #expect(ThreadCount.automatic(processors: processors, picture: picture, maximumByteCount: 384 << 20) == expected)
    }
}
