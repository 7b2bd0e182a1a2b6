import DisplaySink
import Media
import PixelConversion
import SurfacePool
import TestSupport

/// A display whose refreshes lie where frames are due, so that it shows every frame that it is given, however busy the machine is, and writes down
/// which.
final class ExactSink: DisplaySink {
    struct Shown: Sendable {
        var time: MediaTime
        var duration: MediaTime
        var size: PixelSize
        /// The film's own number of the frame; nil for films without numbers.
        var number: Int?
        /// The checksum of its pixels; nil where it was not asked for.
        var hash: String?
        /// When it lit up.
        var moment: HostTime
    }

    let name = "exact"
    let pacing = Pacing.display
    let surfaceHoldCount = 1
    var preferredAllocator: any SurfaceAllocator { MemfdAllocator() }
    var conversion: ConversionReport? { nil }
    private struct State: Sendable {
        var shown: [Shown] = []
        var isWoken = false
        var isStopping = false
    }
    private let state = Monitor(State())
    private let thread = Monitor<LoopThread?>(nil)

    private let hashes: Bool

    /// - Parameter hashes: checksums are made of what is shown.
    init(hashes: Bool = false) { self.hashes = hashes }

    var shown: [Shown] { state.withLock { $0.shown } }

    /// Waits until so many frames have been shown.
    func wait(for count: Int) -> Bool {
        state.wait(until: MonotonicClock.shared.now() + .seconds(60)) { $0.shown.count >= count ? true : nil } ?? false
    }

    func start(_ queue: PresentationQueue, events: @escaping @Sendable (SinkEvent) -> Void) throws(SinkError) {
        state.withLock { $0.isStopping = false }
        queue.setWake { [state] in state.change { $0.isWoken = true } }
        let thread = LoopThread(name: "exact") { [state, hashes] in
            // The refresh that is decided about. It never lies after the moment for which the next frame waits.
            var refresh = MonotonicClock.shared.now()
            while !state.withLock({ $0.isStopping }) {
                var limit: HostTime?
                switch queue.next(for: DisplayInterval(deadline: refresh, nextDeadline: refresh, period: nil)) {
                case .show(let frame, let isFirst):
                    Self.note(frame, at: refresh, state, hashes)
                    if isFirst { events(.firstFrameShown(refresh)) }
                    queue.didPresent(sequence: frame.sequence, at: refresh)
                    continue
                case .finished:
                    events(.finished)
                    continue
                case .removeImage: continue
                case .keep(let until): limit = until
                }
                let isWoken = state.wait(until: limit) { state in
                    defer { state.isWoken = false }
                    return state.isWoken || state.isStopping ? true : nil
                }
                if isWoken == nil, let limit { refresh = max(refresh, limit) }
            }
        }
        self.thread.withLock { $0 = thread }
    }

    func stop() {
        state.change { $0.isStopping = true }
        thread.withLock { $0.take() }?.join()
    }

    private static func note(_ frame: borrowing VideoFrame, at moment: HostTime, _ state: Monitor<State>, _ hashes: Bool) {
        let size = frame.visible.size, plane = frame.surface.layout.plane(0)
        let code = unsafe frame.surface.withUnsafeBytes { bytes in
            unsafe FrameCode(plane: UnsafeRawBufferPointer(rebasing: bytes[plane.offset...]), size: size, bytesPerRow: plane.pitch)
        }
        var shown = Shown(time: frame.presentationTime, duration: frame.duration, size: size, number: code?.number, moment: moment)
        if hashes { shown.hash = FrameBytes(frame).md5 }
        state.change { $0.shown.append(shown) }
    }
}
