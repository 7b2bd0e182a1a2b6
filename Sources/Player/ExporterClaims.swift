internal import DisplaySink
internal import FrameExport

/// The exporters that a film feeds, one film at a time. They are free again with `release`, or with the object.
final class ExporterClaims: Sendable {
    /// Those that were free.
    let exporters: [FrameExporter]
    /// Why the film cannot begin: an exporter serves another film, or was given twice.
    let conflict: SinkError?

    /// - Parameter epoch: the one in which the film begins.
    init(_ wanted: [FrameExporter], epoch: Int) {
        var taken: [FrameExporter] = [], conflict: SinkError?
        for exporter in wanted {
            if exporter.claim(epoch: epoch) {
                taken.append(exporter)
            } else if conflict == nil {
                let other =
                    taken.contains { $0 === exporter } ? "was given twice" : "serves another film; close that first, or make one for each film"
                conflict = SinkError(.inUse, "Exporter \(exporter.number) \(other).")
            }
        }
        exporters = taken
        self.conflict = conflict
    }

    deinit { release() }

    func release() {
        for exporter in exporters { exporter.release() }
    }
}
