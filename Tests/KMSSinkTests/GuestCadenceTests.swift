import DisplaySink
import Foundation
import KMSSink
import Media
import SinkConformance
import SurfacePool
import TestSupport
import Testing

/// For how many refreshes of a real kernel's monitor each frame is seen, by the counts and times of its flip events.
@Suite("Rhythm on a monitor", .serialized, .enabled(if: Guest.isOne, "only in the lab's virtual machine")) struct GuestCadenceTests {
    private final class Recorder: SinkProbe {
        let refreshes = Monitor<[(number: UInt64, refresh: UInt64)]>([])
        func lit(sequence: UInt64, at time: HostTime, refresh: UInt64) { refreshes.change { $0.append((sequence, refresh)) } }
    }

    private static let isFull = ProcessInfo.processInfo.environment["LAB_FULL"] == "1"
    private static let seconds = isFull ? 60 : 8
    /// Of VESA's 640x480: its pixel clock by the pixels of a whole turn.
    private static let refreshRate = 25_175_000.0 / (800 * 525)
    static let rates: [Int32] = isFull ? [24, 25, 30, 50, 60] : [24, 30]

    @Test("each frame has its refreshes, none is lost unsaid", arguments: rates) func rhythm(rate: Int32) throws {
        let recorder = Recorder()
        let sink = try KMSSink(KMSSink.Options(connectors: [Guest.vkms], mode: #require(ModeRequest(text: "640x480"))), probe: recorder)
        let timebase = Timebase(), queue = PresentationQueue(capacity: 8, timebase: timebase)
        let frames = TestFrames(size: PixelSize(width: 320, height: 180), allocator: sink.preferredAllocator)
        try sink.start(queue) { _ in }
        let count = Self.seconds * Int(rate)
        queue.enqueue(try frames.frame(0, rate: rate, flags: .displayImmediately))
        try #require(Polling.until { queue.statistics.framesPresented > 0 })
        for number in 1..<7 { queue.enqueue(try frames.frame(number, rate: rate)) }
        timebase.setRate(1, time: .zero, atHostTime: queue.refresh(notBefore: MonotonicClock.shared.now() + .milliseconds(300)))
        for number in 7..<count { queue.enqueue(try frames.frame(number, rate: rate)) }
        #expect(Polling.until { queue.count == 0 })
        sink.stop()

        let statistics = queue.statistics, seen = recorder.refreshes.withLock { $0 }, ideal = Self.refreshRate / Double(rate)
        #expect(statistics.framesPresented + statistics.droppedTotal == count && seen.count == statistics.framesPresented)
        #expect(zip(seen, seen.dropFirst()).allSatisfy { $0.number < $1.number && $0.refresh < $1.refresh }, "one frame a refresh, in order")
        // The first frame stands until the film begins.
        let moving = seen.dropFirst()
        var odd = 0, worst = 0.0
        for (one, next) in zip(moving, moving.dropFirst()) {
            let fits = (Int(ideal.rounded(.down))...Int(ideal.rounded(.up))).contains(Int(next.refresh - one.refresh))
            if next.number != one.number + 1 || !fits { odd += 1 }
        }
        if let first = moving.first {
            for row in moving { worst = max(worst, abs(Double(row.refresh - first.refresh) - Double(row.number - first.number) * ideal)) }
        }
        // An emulated machine on a busy host wakes threads late, which is no fault of the sink's: its rhythm is told, not judged.
        print(
            "rhythm: \(rate) on 59.94 Hz: \(seen.count) of \(count) shown, \(odd) of them out of rhythm, at worst \(worst) refreshes from the ideal; "
                + "error p50 \(Int(statistics.error(percentile: 0.5))) µs, p99 \(Int(statistics.error(percentile: 0.99))) µs")
        #expect(frames.pool.statistics.inUse == 0)
    }
}
