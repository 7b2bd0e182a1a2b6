internal import DisplaySink
internal import FrameExport
internal import Media
internal import SurfacePool

/// Where decoded frames go: to the display's queue, and to everyone else who was promised them.
///
/// Exporters get a frame before the display does, so that one that wants every frame holds the decoder and not the screen. None but such a one
/// can make the decoder wait.
struct FrameTee: Sendable {
    let presentation: PresentationQueue
    let exporters: [FrameExporter]

    /// - Parameter epoch: that of the flush which the frame was decoded after; a frame of an older one is dropped.
    func enqueue(_ frame: consuming VideoFrame, epoch: Int) {
        if presentation.epoch == epoch {
            for exporter in exporters { exporter.offer(frame) }
        }
        presentation.enqueue(frame, waitingUntil: nil, epoch: epoch)
    }

    func markEndOfStream() {
        for exporter in exporters { exporter.markEndOfStream() }
        presentation.markEndOfStream()
    }

    /// Returns the epoch that begins with this flush.
    @discardableResult
    func flush(removeImage: Bool) -> Int {
        for exporter in exporters { exporter.flush() }
        return presentation.beginEpoch(removeImage: removeImage)
    }

    func cancel() {
        for exporter in exporters { exporter.cancel() }
        presentation.cancel()
    }

    func connect(to timebase: Timebase) {
        for exporter in exporters { exporter.connect(to: timebase, isPaced: presentation.pacing == .display) }
    }

    /// Has `body` called with what exporters say of their clients; nil: nobody.
    func onNotice(_ body: (@Sendable (String) -> Void)?) {
        for exporter in exporters { exporter.setNoticeHandler(body) }
    }

    /// Surfaces that the exporters and their clients may hold.
    var surfaceHoldCount: Int { exporters.reduce(0) { $0 + $1.surfaceHoldCount } }
}
