import DisplaySink
import Media
import PixelConversion
import SurfacePool
import TestSupport

/// A 60 Hz display that reads each frame's machine-readable number and notes when it lit up.
final class WatchingSink: DisplaySink {
    struct Sighting: Sendable {
        var number: Int
        var isFlash: Bool
        var time: HostTime
        var surface: SurfaceIdentity
    }

    let name = "watching"
    let pacing = Pacing.display
    let surfaceHoldCount = 1
    var preferredAllocator: any SurfaceAllocator { MemfdAllocator() }
    var conversion: ConversionReport? { nil }
    private let seen = Monitor([Sighting]())
    private let isStopping = Monitor(false)
    private let thread = Monitor<LoopThread?>(nil)
    private static let period: Int64 = 16_666_667

    var sightings: [Sighting] { seen.withLock { $0 } }

    /// Waits until a frame satisfies `condition`.
    func wait(for condition: @escaping (Sighting) -> Bool) -> Bool {
        seen.wait(until: MonotonicClock.shared.now() + .seconds(60)) { $0.contains(where: condition) ? true : nil } ?? false
    }

    func start(_ queue: PresentationQueue, events: @escaping @Sendable (SinkEvent) -> Void) throws(SinkError) {
        let thread = LoopThread(name: "watching") { [self] in
            while !isStopping.withLock({ $0 }) {
                let now = MonotonicClock.shared.now().nanoseconds
                let refresh = HostTime(nanoseconds: (now / Self.period + 1) * Self.period)
                switch queue.next(for: DisplayInterval(deadline: refresh, nextDeadline: refresh + .nanoseconds(Self.period))) {
                case .show(let frame, let isFirst):
                    note(frame, at: refresh)
                    if isFirst { events(.firstFrameShown(MonotonicClock.shared.now())) }
                    queue.didPresent(sequence: frame.sequence, at: refresh)
                case .finished: events(.finished)
                case .keep: break
                case .removeImage: break
                }
                // Until the refresh itself, or until stopped.
                _ = isStopping.wait(until: refresh) { $0 ? true : nil }
            }
        }
        self.thread.withLock { $0 = thread }
    }

    func stop() {
        isStopping.change { $0 = true }
        thread.withLock { $0.take() }?.join()
    }

    private func note(_ frame: borrowing VideoFrame, at time: HostTime) {
        let size = frame.visible.size, plane = frame.surface.layout.plane(0)
        let code = unsafe frame.surface.withUnsafeBytes { bytes in
            unsafe FrameCode(plane: UnsafeRawBufferPointer(rebasing: bytes[plane.offset...]), size: size, bytesPerRow: plane.pitch)
        }
        if let code { seen.change { $0.append(Sighting(number: code.number, isFlash: code.isFlash, time: time, surface: frame.surface.identity)) } }
    }
}
