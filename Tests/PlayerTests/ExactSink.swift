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
        var count = 0, overlays = 0
        /// It stands still after so many frames.
        var most = Int.max
        var isWoken = false
        var isStopping = false
        var timebase: Timebase?
    }
    private let state = Monitor(State())
    private let thread = Monitor<LoopThread?>(nil)

    private let hashes: Bool, keepsAll: Bool
    let drawsOverlays: Bool

    /// - Parameters:
    ///   - hashes: checksums are made of what is shown.
    ///   - keepsAll: every frame is written down; otherwise they are counted.
    ///   - drawsOverlays: what lies over the film is asked for with each frame.
    init(hashes: Bool = false, keepsAll: Bool = true, drawsOverlays: Bool = false) {
        (self.hashes, self.keepsAll, self.drawsOverlays) = (hashes, keepsAll, drawsOverlays)
    }

    var shown: [Shown] { state.withLock { $0.shown } }

    /// The clock of the first film; nil before it is shown.
    var timebase: Timebase? { state.withLock { $0.timebase } }

    /// How many frames have been shown, and how many of them had something over them.
    var counts: (frames: Int, overlays: Int) { state.withLock { ($0.count, $0.overlays) } }

    /// Stands still after so many frames, until another number is set.
    func stand(after count: Int) { state.change { $0.most = count } }

    /// Waits until so many frames have been shown.
    func wait(for count: Int) -> Bool {
        state.wait(until: MonotonicClock.shared.now() + .seconds(60)) { $0.shown.count >= count ? true : nil } ?? false
    }

    func start(_ queue: PresentationQueue, events: @escaping @Sendable (SinkEvent) -> Void) throws(SinkError) {
        state.withLock { ($0.isStopping, $0.timebase) = (false, queue.timebase) }
        queue.setWake { [state] in state.change { $0.isWoken = true } }
        let thread = LoopThread(name: "exact") { [self] in
            // The refresh that is decided about. It never lies after the moment for which the next frame waits.
            var refresh = MonotonicClock.shared.now()
            while true {
                let isStopping = state.wait(until: nil) { $0.isStopping ? true : $0.count < $0.most ? false : nil }
                if isStopping ?? true { return }
                var limit: HostTime?
                switch queue.next(for: DisplayInterval(deadline: refresh, nextDeadline: refresh, period: nil)) {
                case .show(let frame, let isFirst):
                    note(frame, at: refresh)
                    if drawsOverlays, let overlay = queue.overlay { look(at: overlay, frame.presentationTime, frame.visible.size) }
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

    /// As a display does that is as large as the frame.
    private func look(at overlay: any OverlaySource, _ time: MediaTime, _ size: PixelSize) {
        overlay.setCanvas(OverlayCanvas(size: size, film: PixelRect(x: 0, y: 0, width: size.width, height: size.height)))
        if overlay.image(at: time) != nil { state.withLock { $0.overlays += 1 } }
    }

    private func note(_ frame: borrowing VideoFrame, at moment: HostTime) {
        state.change { $0.count += 1 }
        guard keepsAll else { return }
        let size = frame.visible.size, plane = frame.surface.layout.plane(0)
        let code = unsafe frame.surface.withUnsafeBytes { bytes in
            unsafe FrameCode(plane: UnsafeRawBufferPointer(rebasing: bytes[plane.offset...]), size: size, bytesPerRow: plane.pitch)
        }
        var shown = Shown(time: frame.presentationTime, duration: frame.duration, size: size, number: code?.number, moment: moment)
        if hashes { shown.hash = FrameBytes(frame).md5 }
        state.change { $0.shown.append(shown) }
    }
}
