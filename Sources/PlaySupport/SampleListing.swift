internal import Demuxing
internal import JSON
internal import Media

/// The samples of a track, in decode order, for `play info --samples`.
enum SampleListing {
    /// A heading, and one line for each sample.
    static func lines(_ table: SampleTable) -> [String] {
        let heading = row("sample", "kind", "decoded", "shown", "lasts", "bytes", "offset", "needs")
        return ["track \(table.track.id): \(table.count) samples", heading]
            + (0..<table.count).map { line(table[$0]) }
    }

    private static func line(_ sample: SampleCursor) -> String {
        let kind =
            switch sample.sync {
            case .full: "sync"
            case .partial: "open"
            case .none: sample.isDroppable ? "drop" : "-"
            }
        var line = row(
            String(sample.number), kind, seconds(sample.decodeTime), seconds(sample.presentationTime), seconds(sample.duration),
            String(sample.byteCount), sample.offset.map { String($0) } ?? "-", String(sample.samplesNeededBefore))
        if sample.isHidden { line += "  hidden" }
        if sample.isCorrupt { line += "  corrupt" }
        return line
    }

    private static func row(_ cells: String...) -> String {
        zip(cells, widths).map { cell, width in String(repeating: " ", count: max(width - cell.count, 0)) + cell }.joined(separator: "  ")
    }

    /// Room for a million samples, and for times up to 99 hours with microseconds.
    private static let widths = [8, 4, 13, 13, 10, 9, 13, 6]

    /// With six decimals; `-` for a time that is not known.
    private static func seconds(_ time: MediaTime) -> String {
        guard let nanoseconds = time.nanoseconds() else { return "-" }
        let magnitude = (nanoseconds.magnitude + 500) / 1000
        let fraction = String(magnitude % 1_000_000)
        return (nanoseconds < 0 ? "-" : "") + "\(magnitude / 1_000_000)." + String(repeating: "0", count: 6 - fraction.count) + fraction
    }

    /// One object for each sample. Times are whole numbers of the track's time base.
    static func objects(_ table: SampleTable) -> [JSONValue] {
        (0..<table.count).map { number in
            let sample = table[number]
            return .object([
                .init("track", count: table.track.id),
                .init("number", count: number),
                .init("presentationNumber", count: sample.presentationNumber),
                .init("sync", text: sample.sync.rawValue),
                .init("droppable", .bool(sample.isDroppable)),
                .init("hidden", .bool(sample.isHidden)),
                .init("corrupt", .bool(sample.isCorrupt)),
                .init("decodeTicks", sample.decodeTicks.map { .integer($0) } ?? .null),
                .init("presentationTicks", sample.presentationTicks.map { .integer($0) } ?? .null),
                .init("durationTicks", sample.durationTicks.map { .integer($0) } ?? .null),
                .init("bytes", count: sample.byteCount),
                .init("offset", sample.offset.map { .integer($0) } ?? .null),
                .init("samplesNeededBefore", count: sample.samplesNeededBefore),
            ])
        }
    }
}
