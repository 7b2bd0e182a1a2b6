internal import AudioSink
internal import DisplaySink
internal import Media

/// The audio exporter that a film feeds, one film at a time. It is free again with `release`, or with the object.
final class AudioExporterClaim: Sendable {
    /// Nil: none is wanted, or it was not free.
    let exporter: AudioExporter?
    /// Why the film cannot begin: the exporter serves another film.
    let conflict: SinkError?

    /// - Parameter start: where the film begins.
    init(_ wanted: AudioExporter?, from start: MediaTime) {
        let isFree = wanted?.claim(from: start) ?? true
        exporter = isFree ? wanted : nil
        conflict = isFree ? nil : SinkError(.inUse, "The audio exporter serves another film; close that first, or make one for each film.")
    }

    deinit { release() }

    func release() { exporter?.release() }
}
