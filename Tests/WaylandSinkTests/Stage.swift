import DisplaySink
import Foundation
import Media
import SurfacePool
import TestSupport
import Testing
import WaylandSink

/// A sink in a compositor of its own, fed with stills.
final class Stage {
    let weston: PrivateWeston
    let sink: WaylandSink
    let timebase = Timebase()
    let queue: PresentationQueue
    let events = Monitor<[SinkEvent]>([])
    private var sequence: UInt64 = 0
    private(set) var pools: [SurfacePool] = []

    convenience init(_ weston: PrivateWeston) throws { try self.init(weston, sink: WaylandSink(display: weston.display)) }

    init(_ weston: PrivateWeston, sink: WaylandSink) throws {
        self.weston = weston
        self.sink = sink
        queue = PresentationQueue(capacity: 4, timebase: timebase)
    }

    func start() throws {
        try sink.start(queue) { [events] event in events.change { $0.append(event) } }
    }

    /// Shows a still and waits until the compositor says that it was seen.
    func show(_ still: Quadrants) throws {
        let pool = SurfacePool(layout: still.layout, allocator: MemfdAllocator(), maximumCount: 2)
        pools.append(pool)
        let before = queue.statistics.framesPresented
        var frame = try still.frame(from: pool, sequence: sequence)
        frame.flags = .displayImmediately
        sequence += 1
        queue.enqueue(frame)
        try #require(wait { queue.statistics.framesPresented > before }, "the frame is not shown")
    }

    /// Puts in a still that nobody need see.
    func enqueueUnseen(_ still: Quadrants) throws {
        let pool = SurfacePool(layout: still.layout, allocator: MemfdAllocator(), maximumCount: 2)
        pools.append(pool)
        var frame = try still.frame(from: pool, sequence: sequence)
        frame.flags = .displayImmediately
        sequence += 1
        let isAccepted = queue.enqueue(frame, waitingUntil: MonotonicClock.shared.now() + .seconds(60))
        try #require(isAccepted, "the queue stays full")
    }

    var details: [String] { events.withLock { $0 }.compactMap { if case .detail(let sentence) = $0 { sentence } else { nil } } }

    var inUse: Int { pools.map(\.statistics.inUse).reduce(0, +) }

    var failures: [SinkError] {
        events.withLock { $0 }.compactMap { if case .failed(let error) = $0 { error } else { nil } }
    }

    /// Looks again and again, for a minute at most.
    func wait(_ condition: () throws -> Bool) rethrows -> Bool { try Polling.until(every: .milliseconds(10), condition) }

    /// Covers the monitor, so that places on it are known.
    func fillScreen() throws {
        sink.setFullscreen(true)
        try #require(wait { sink.isFullscreen }, "the window does not cover the monitor")
    }

    /// The colours in the middles of the quarters of `part` of the screen, once they are as `expected` (nil: now).
    func quarters(of part: PixelRect, on screen: PrivateWeston? = nil, expecting expected: [RGBImage.Color], tolerance: Int) throws -> [RGBImage
        .Color]
    {
        var seen: [RGBImage.Color] = []
        // A compositor fades new windows in.
        _ = try Polling.until(every: .milliseconds(50)) {
            let image = try (screen ?? weston).screenshot()
            seen = (0..<4).map { index in
                image.mean(
                    of: PixelRect(
                        x: part.x + part.width * (1 + 4 * (index % 2)) / 8, y: part.y + part.height * (1 + 4 * (index / 2)) / 8,
                        width: part.width / 4, height: part.height / 4))
            }
            return zip(seen, expected).allSatisfy { $0.distance(to: $1) <= tolerance }
        }
        return seen
    }
}
