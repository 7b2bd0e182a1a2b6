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
        for exporter in exporters { exporter.offer(frame, epoch: epoch) }
        presentation.enqueue(frame, waitingUntil: nil, epoch: epoch)
    }

    /// - Parameter epoch: The epoch in which the stream was decoded. The end of an older one says nothing.
    func markEndOfStream(epoch: Int) {
        for exporter in exporters { exporter.markEndOfStream(epoch: epoch) }
        presentation.markEndOfStream(epoch: epoch)
    }

    /// Returns the epoch that begins with this flush.
    ///
    /// - Parameter serial: The seek that the frames of the new epoch follow; nil: the same as before.
    func flush(removeImage: Bool, serial: UInt64? = nil) -> Int {
        let epoch = presentation.beginEpoch(removeImage: removeImage)
        for exporter in exporters { exporter.flush(epoch: epoch, serial: serial) }
        return epoch
    }

    /// The seek `serial` has failed, and the frames go on.
    func adopt(_ serial: UInt64) {
        for exporter in exporters { exporter.adopt(serial) }
    }

    // MARK: A film without a clock

    /// Holds an untimed film: its display and its clients get no frame but the first, and those of steps. Does nothing to a film with a clock.
    func hold() {
        guard presentation.pacing == .untimed else { return }
        presentation.setHeld(true)
        let limit = presentation.reached
        for exporter in exporters { exporter.hold(at: limit) }
    }

    /// Lets an untimed film go on.
    func endHold() {
        guard presentation.pacing == .untimed else { return }
        for exporter in exporters { exporter.endHold() }
        presentation.setHeld(false)
    }

    /// Shows the next frame of a film that stands still.
    func showNext(_ timebase: Timebase) {
        guard presentation.pacing == .untimed else { return presentation.showNext { timebase.setTime($0) } }
        for exporter in exporters { exporter.step() }
        presentation.showNext { [exporters] time in
            for exporter in exporters { exporter.extendHold(to: time) }
        }
    }

    /// The media time that an untimed film has reached: of the newest frame that every client which gets all frames has, without one the display,
    /// and the film's end when they have all. Nil before the first frame since the start or a flush, and for a film with a clock.
    var reached: MediaTime? {
        guard presentation.pacing == .untimed else { return nil }
        var least: MediaTime?
        for exporter in exporters {
            guard case .at(let time) = exporter.progress else { continue }
            guard let time else { return nil }
            least = min(least ?? time, time)
        }
        return least ?? presentation.reached
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
