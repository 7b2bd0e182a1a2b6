internal import DisplaySink
internal import FrameExport
internal import Media
internal import SurfacePool

/// Passes each decoded frame to the exporters and to the display's queue.
///
/// Exporters get a frame before the display, so that an exporter that wants every frame delays the decoder and not the display. Other exporters
/// never make the decoder wait.
struct FrameTee: Sendable {
    let presentation: PresentationQueue
    let exporters: [FrameExporter]

    /// - Parameter epoch: The epoch in which the frame was decoded. A frame of an older epoch is dropped.
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

    /// Sets the closure that receives what exporters report about their clients; nil removes it.
    func onNotice(_ body: (@Sendable (String) -> Void)?) {
        for exporter in exporters { exporter.setNoticeHandler(body) }
    }

    /// Surfaces that the exporters and their clients may hold.
    var surfaceHoldCount: Int { exporters.reduce(0) { $0 + $1.surfaceHoldCount } }
}
