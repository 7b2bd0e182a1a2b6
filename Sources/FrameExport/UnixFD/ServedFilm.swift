internal import Media

/// A film that a server serves: its exporter, and what its clients have been told of it.
///
/// Thread-safety: `exporter` and `setContinues` from any thread; the rest belongs to the server's thread.
final class ServedFilm: @unchecked Sendable {
    let name: String
    let exporter: FrameExporter
    private let continues = Monitor(false)
    var caps: VideoCaps?
    var stamps = FrameStamps()
    /// It has had a client.
    var hasServed = false
    var hasSaidEnd = false
    /// Something of it has come: a frame, or its end.
    var hasBegun = false
    var hasRefused = false

    init(_ name: String, _ configuration: FrameServer.Configuration, _ wishes: FrameWishes, bell: EventFD) {
        self.name = name
        var exporting = FrameExporterConfiguration(
            budget: configuration.clientLimit * configuration.clientBudget, bound: configuration.isLossless ? 2 : 8,
            policy: configuration.isLossless ? .makeDecoderWait : .dropOldest, delivery: configuration.isLossless ? .whenDecoded : .whenDue)
        exporting.wishes = wishes
        exporter = FrameExporter(exporting)
        exporter.onFrameAvailable { bell.signal() }
    }

    /// Whether another film follows under this name, without an end between.
    var isContinued: Bool { continues.withLock { $0 } }

    func setContinues(_ value: Bool) { continues.withLock { $0 = value } }

    func stop() {
        exporter.onFrameAvailable(nil)
        exporter.cancel()
    }
}
