public import Media
public import Recording

/// The status line of a recording: `● 00:00:04.200 / 00:01:00.000  105 frames  1.2 MiB  dropped 0`.
///
/// A pure function of its members.
public struct RecordingStatusLine: Sendable, Hashable {
    /// What the film has come to.
    public var film: MovieFileReport
    /// How long it may become; nil: as long as one likes.
    public var longest: MediaTime?

    /// Makes a line.
    public init(_ film: MovieFileReport, longest: MediaTime? = nil) { (self.film, self.longest) = (film, longest) }

    /// The line for a terminal that is `columns` wide, never wider: parts are left out from the right.
    public func text(columns: Int) -> String {
        let sign = film.beginning == nil ? "… " : film.isPaused ? "⏸ " : "● "
        var parts = [sign + film.time.description + (longest.map { " / \($0)" } ?? "")]
        if film.soundTime == nil || film.frames > 0 { parts.append("\(film.frames) frames") }
        parts.append("\((Double(film.byteCount) / 1_048_576).decimal(1) ?? "?") MiB")
        if film.soundTime == nil || film.frames > 0 { parts.append("dropped \(film.framesDropped.values.reduce(0, +))") }
        if !film.soundLost.isEmpty { parts.append("sound lost") }
        while parts.count > 1, parts.joined(separator: "  ").count > columns { parts.removeLast() }
        return String(parts.joined(separator: "  ").prefix(max(columns, 0)))
    }
}
