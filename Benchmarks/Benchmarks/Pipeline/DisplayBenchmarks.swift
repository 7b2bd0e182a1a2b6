import Benchmark
import DisplaySink
import Media
import SurfacePool

func displayBenchmarks() {
    let refresh: Int64 = 16_666_667
    let mapping = movingTimebase().mapping
    let candidates = (0..<4).map { FrameScheduler.Candidate(presentationTime: MediaTime(value: Int64($0), timescale: 24)) }

    Benchmark("FrameScheduler: one decision, four frames waiting") { benchmark in
        var scheduler = FrameScheduler()
        var deadline = HostTime(nanoseconds: 0)
        for _ in benchmark.scaledIterations {
            let interval = DisplayInterval(deadline: deadline, nextDeadline: deadline + HostSpan(nanoseconds: refresh))
            blackHole(scheduler.decide(count: 4, mapping: mapping, interval: interval) { candidates[$0] })
            deadline = HostTime(nanoseconds: (deadline.nanoseconds + refresh) % 100_000_000)
        }
    }

    // A frame's whole way between decoder and sink: a slot, a frame, in, out, presented, back to the pool.
    let layout = SurfaceLayout(format: .yuv420p, covering: PixelSize(width: 64, height: 64))
    let pool = SurfacePool(layout: layout, allocator: MemfdAllocator(), minimumCount: 2, maximumCount: 4)
    Benchmark("PresentationQueue: a frame in and out") { benchmark in
        let queue = PresentationQueue(capacity: 4, timebase: Timebase(), pacing: .untimed)
        let interval = DisplayInterval(deadline: HostTime(nanoseconds: 0), nextDeadline: HostTime(nanoseconds: refresh))
        var sequence: UInt64 = 0
        for _ in benchmark.scaledIterations {
            guard let writer = try pool.acquire() else { fatalError("the pool has four slots and one user") }
            let frame = VideoFrame(
                use: writer.finish(), visible: PixelRect(layout.size), presentationTime: MediaTime(value: Int64(sequence), timescale: 30),
                sequence: sequence)
            _ = queue.enqueue(frame)
            if case .show(let shown, _) = queue.next(for: interval) {
                queue.didPresent(sequence: shown.sequence, at: interval.deadline)
            } else {
                fatalError("an untimed queue shows what it has")
            }
            sequence += 1
        }
    }
}

private func movingTimebase() -> Timebase {
    let timebase = Timebase()
    timebase.setRate(1, time: .zero, atHostTime: HostTime(nanoseconds: 0))
    return timebase
}
