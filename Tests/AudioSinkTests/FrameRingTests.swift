import Media
import TestSupport
import Testing

@testable import AudioSink

/// The frames between the renderer and a device's thread.
@Suite struct FrameRingTests {
    private let ring = FrameRing(rate: 1000, channelCount: 1, capacity: 100)

    private func write(_ values: [Float]) -> Int { unsafe values.withUnsafeBufferPointer { unsafe ring.write($0) } }

    private func read(_ count: Int, heardAt milliseconds: Int64) -> (samples: [Float], isFirst: Bool) {
        var samples = [Float](repeating: -1, count: count), isFirst = false
        unsafe samples.withUnsafeMutableBufferPointer {
            isFirst = unsafe ring.read(count, into: $0.baseAddress!, heardAt: at(milliseconds), now: at(milliseconds))
        }
        return (samples, isFirst)
    }

    private func at(_ milliseconds: Int64) -> HostTime { HostTime(nanoseconds: 1_000_000_000 + milliseconds * 1_000_000) }

    @Test func `frames come out in order, silence before the piece and behind it`() {
        #expect(write([1, 2, 3]) == 3)
        #expect(read(2, heardAt: 0) == ([0, 0], false))
        #expect(!ring.isHeard)
        ring.run()
        #expect(read(2, heardAt: 2) == ([1, 2], true))
        #expect(ring.isHeard)
        #expect(read(2, heardAt: 4) == ([3, 0], false))
        #expect(ring.position(at: at(4)).state == .underrun)
    }

    @Test func `a position says what is not heard yet, with the way behind the buffer`() {
        #expect(ring.position(at: at(0)).state == .suspended)
        _ = write([Float](repeating: 1, count: 60))
        ring.run()
        // Ten frames that will be heard 20 ms later.
        _ = read(10, heardAt: 20)
        #expect(ring.position(at: at(0)) == DevicePosition(state: .running, delay: 80, available: 50, time: at(0)))
        #expect(ring.position(at: at(15)) == DevicePosition(state: .running, delay: 65, available: 50, time: at(15)))
        // Time does not pass beyond what the device has taken.
        #expect(ring.position(at: at(60)).delay == 50)
        #expect(ring.position(at: at(600)).state == .suspended)
    }

    @Test func `what is discarded is never heard, and leaves room for the next piece`() {
        #expect(write([Float](repeating: 1, count: 150)) == 100)
        ring.run()
        _ = read(10, heardAt: 0)
        ring.reset()
        #expect(ring.position(at: at(1)).state == .suspended)
        #expect(write([2, 2, 2]) == 3)
        #expect(read(2, heardAt: 10).samples == [0, 0])
        ring.run()
        #expect(read(3, heardAt: 12) == ([2, 2, 2], true))
        #expect(ring.position(at: at(12)) == DevicePosition(state: .running, delay: 3, available: 100, time: at(12)))
    }

    @Test func `a thousand pieces of other lengths keep their order over the end of the memory`() {
        ring.run()
        var next: Float = 0, expected: Float = 0
        for step in 0..<1000 {
            let count = write((0..<(step * 7 % 31)).map { next + Float($0) })
            next += Float(count)
            let wanted = min(step * 5 % 29, Int(next - expected)), samples = read(wanted, heardAt: Int64(step)).samples
            #expect(samples == (0..<wanted).map { expected + Float($0) })
            expected += Float(wanted)
        }
    }
}
