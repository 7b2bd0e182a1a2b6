internal import DisplaySink
internal import FrameExport
internal import Media
internal import SurfacePool

/// Where decoded pictures go: to the display's queue, and to everyone else who was promised them.
///
/// Exporters get a frame before the display does, so that one that wants every frame holds the decoder and not the screen. None but such a one
/// can make the decoder wait.
struct FrameTee: Sendable {
    let presentation: PresentationQueue
    let exporters: [FrameExporter]

    func enqueue(_ frame: consuming VideoFrame) {
        for exporter in exporters { exporter.offer(frame) }
        presentation.enqueue(frame, waitingUntil: nil)
    }

    func markEndOfStream() {
        for exporter in exporters { exporter.markEndOfStream() }
        presentation.markEndOfStream()
    }

    func flush(removeImage: Bool) {
        for exporter in exporters { exporter.flush() }
        presentation.flush(removeImage: removeImage)
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
