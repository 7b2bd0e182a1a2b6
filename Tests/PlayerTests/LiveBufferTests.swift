import Media
import Player
import SampleQueue
import Testing

@Suite struct LiveBufferTests {
    /// Of 1,000 bytes, by its number: ten a second; the first of each second can be decoded alone.
    private static func sample(_ number: Int) -> SampleBuffer {
        let block = unsafe [UInt8](repeating: 0, count: 1000).withUnsafeBytes { unsafe BlockBuffer(copying: $0) }
        return SampleBuffer(
            content: .compressed(block, .other("")), trackID: 0, presentationTime: MediaTime(value: Int64(number), timescale: 10),
            duration: MediaTime(value: 1, timescale: 10), flags: number % 10 == 0 ? .sync : .dependsOnOthers)
    }

    private static func buffer(ahead: Int64 = 1 << 30, behind: Int64 = 1 << 30, dropsOldest: Bool = true, holding count: Int = 0) -> LiveBuffer {
        var buffer = LiveBuffer(lead: 0, limits: LiveBuffer.Limits(ahead: ahead, behind: behind, dropsOldest: dropsOldest))
        for number in 0..<count { _ = buffer.append(sample(number)) }
        return buffer
    }

    private static func seconds(_ seconds: Double) -> MediaTime { MediaTime(seconds: seconds) }

    @Test func `samples are played in the order in which they came`() {
        var buffer = Self.buffer(holding: 3)
        let times = (0..<4).map { _ in buffer.take()?.presentationTime.seconds }
        #expect(times == [0, 0.1, 0.2, nil])
        #expect(buffer.isEmpty)
    }

    @Test(arguments: [(2.5, 2.0), (2.0, 2.0), (0.05, 0.0), (99, 4.0)]) func `a seek goes to the sync sample before its time`(
        time: Double, place: Double
    ) {
        var buffer = Self.buffer(holding: 45)
        for _ in 0..<35 { _ = buffer.take() }
        let isThere = buffer.seek(to: Self.seconds(time), mayBeLater: false)
        #expect(isThere)
        let first = buffer.take()
        #expect(first?.presentationTime.seconds == place)
        #expect(first?.flags.contains(.doNotDisplay) == (time >= place + 0.1))
    }

    @Test func `where only later samples have come a seek goes there if it may`() {
        var buffer = Self.buffer(behind: 0, holding: 30)
        for _ in 0..<15 { _ = buffer.take() }
        var isThere = buffer.seek(to: Self.seconds(1.7), mayBeLater: false)
        #expect(!isThere && !buffer.holds(Self.seconds(1.7)))
        var next = buffer.take()
        #expect(next?.presentationTime.seconds == 1.5)
        isThere = buffer.seek(to: Self.seconds(1.7), mayBeLater: true)
        next = buffer.take()
        #expect(isThere && next?.presentationTime.seconds == 2)
    }

    @Test func `what has been played stays as long as there is room`() {
        var buffer = Self.buffer(behind: 16_000, holding: 40)
        for _ in 0..<35 { _ = buffer.take() }
        #expect(!buffer.holds(Self.seconds(1.9)) && buffer.holds(Self.seconds(3)))
    }

    @Test func `what is not played in time gives way to what is newer, from a sync sample on`() {
        var buffer = Self.buffer(ahead: 30_000)
        let gaveWay = (0..<100).filter { buffer.append(Self.sample($0)) }
        #expect(!gaveWay.isEmpty)
        let first = buffer.take()
        #expect(first?.flags.contains(.sync) == true && (first?.presentationTime.seconds ?? 0) >= 8, "\(String(describing: first?.presentationTime))")
    }

    @Test func `without that the sender is waited with`() {
        var buffer = Self.buffer(ahead: 3000, dropsOldest: false, holding: 2)
        #expect(buffer.isFull)
        _ = buffer.take()
        #expect(!buffer.isFull)
    }

    @Test func `memory stays bounded for ever`() {
        var buffer = Self.buffer(ahead: 60_000, behind: 60_000)
        for number in 0..<100_000 {
            _ = buffer.append(Self.sample(number))
            if number % 3 != 0 { _ = buffer.take() }
        }
        #expect(buffer.heldCount < 100, "\(buffer.heldCount)")
    }
}
