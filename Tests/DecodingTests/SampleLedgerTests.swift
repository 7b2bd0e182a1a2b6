import Media
import SurfacePool
import Testing

@testable import Decoding

private func time(_ value: Int64) -> MediaTime { MediaTime(value: value, timescale: 25) }

@Suite("SampleLedger")
struct SampleLedgerTests {
    /// A ledger with samples of these time stamps, numbered from 0.
    private func ledger(_ timestamps: [Int64], capacity: Int = SampleLedger.capacity) -> SampleLedger {
        var ledger = SampleLedger(capacity: capacity)
        for value in timestamps { ledger.open(entry(ledger.next, value)) }
        return ledger
    }

    private func entry(_ number: UInt64, _ timestamp: Int64) -> SampleLedger.Entry {
        SampleLedger.Entry(SampleReceipt(number: number, presentationTime: time(timestamp)), timestamp: timestamp)
    }

    private func close(_ ledger: inout SampleLedger, _ number: UInt64?, _ timestamp: Int64, isTimeKnown: Bool = true) -> UInt64? {
        ledger.close(number: number, timestamp: timestamp, isTimeKnown: isTimeKnown)?.receipt.number
    }

    @Test("frames find their samples in whatever order they come out, with a number or without")
    func reordering() {
        for isNumbered in [true, false] {
            var ledger = ledger([0, 3, 1, 2])
            for (number, timestamp) in [(0, 0), (2, 1), (3, 2), (1, 3)] as [(UInt64, Int64)] {
                let found = close(&ledger, isNumbered ? number : nil, timestamp)
                #expect(found == number)
            }
            #expect(ledger.isEmpty)
            let unknown = close(&ledger, nil, 2)
            #expect(unknown == nil, "a frame shown again belongs to no sample")
        }
    }

    @Test("two samples with one time are two samples")
    func duplicates() {
        var ledger = ledger([5, 5])
        let answers = (0..<3).map { _ in close(&ledger, nil, 5) }
        #expect(answers == [0, 1, nil])
    }

    @Test("samples without times are told apart by their numbers")
    func timeless() {
        var ledger = ledger([.min, .min, .min])
        let answers = [1, 0, 2, 1].map { close(&ledger, $0, .min, isTimeKnown: false) }
        #expect(answers == [1, 0, 2, nil])
    }

    @Test("a frame made of an earlier sample's is the later one's whose time it bears")
    func shownAgain() {
        var ledger = ledger([0, 1, 2])
        let answers = [(0, 0), (0, 1), (1, 2)].map { close(&ledger, $0, $1) }
        #expect(answers == [0, 1, 2])
    }

    @Test("a sample that gives no frame is given up when the table is full, the oldest first; numbers may be left out")
    func capacity() {
        var ledger = ledger([0, 1, 2, 3], capacity: 4)
        _ = ledger.close(1)
        let none = ledger.closeOverdue(before: 3)
        #expect(none == nil)
        var overdue: [UInt64] = []
        while let entry = ledger.closeOverdue(before: 7) { overdue.append(entry.receipt.number) }
        #expect(overdue == [0, 2, 3])
        ledger.open(entry(7, 7))
        #expect(ledger.next == 8)
        let (gone, last) = (ledger.close(3) == nil, ledger.closeOldest()?.receipt.number)
        #expect(gone && last == 7)
    }

    @Test("an error answers the sample that the decoder is at, or the nearest that has no answer")
    func errors() {
        var ledger = ledger([0, 1, 2, 3])
        let answers = [2, 2, 2, 2, 2].map { ledger.closeFailed(near: $0)?.receipt.number }
        #expect(answers == [2, 3, 1, 0, nil])
    }

    @Test("a sample whose answer could not be given is open again, in its place")
    func reopening() {
        var ledger = ledger([0, 1, 2])
        let first = ledger.closeOldest()?.receipt.number, second = ledger.closeOldest()?.receipt.number
        ledger.reopen(0)
        let again = ledger.closeOldest()?.receipt.number, last = ledger.closeOldest()?.receipt.number
        #expect([first, second, again, last] == [0, 1, 0, 2] && ledger.isEmpty)
    }

    @Test("an error at a sample that is not to be shown is nobody else's")
    func hiddenErrors() {
        var ledger = SampleLedger()
        var hidden = entry(0, 0)
        hidden.fate = .doNotDisplay
        ledger.open(hidden)
        ledger.open(entry(1, 1))
        _ = ledger.close(0)
        let answer = ledger.closeFailed(near: 0)
        #expect(answer == nil && !ledger.isEmpty)
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
    func automatic(processors: Int, frame: PixelSize, expected: Int) {
        #expect(ThreadCount.automatic(processors: processors, frame: frame, maximumByteCount: 384 << 20) == expected)
    }
}
