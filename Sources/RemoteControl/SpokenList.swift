internal import Media
internal import PlaySupport

/// Lists as a viewer reads them over the film, a line each, with a mark before what plays.
enum SpokenList {
    /// 20 lines: more do not fit.
    private static let mostLines = 20

    /// The films, of a long list those around the one that plays.
    static func playlist(_ snapshot: RemoteSnapshot) -> String {
        let lines = snapshot.entries.enumerated().map { index, entry in
            let name = entry.title ?? RemoteProperties.fileName(entry.location)
            return mark(index == snapshot.entry) + name
        }
        return around(snapshot.entry, lines)
    }

    /// The tracks by their kinds.
    static func tracks(_ snapshot: RemoteSnapshot) -> String {
        snapshot.tracks.prefix(mostLines).map { track in
            let kind =
                switch track.kind {
                case .video: "Video"
                case .audio: "Audio"
                case .sub: "Subtitles"
                }
            var facts = [track.language, track.title.map { "“\($0)”" }, track.codec, track.file.map(RemoteProperties.fileName)].compactMap(\.self)
            if track.isForced { facts.append("forced") }
            if track.isHearingImpaired { facts.append("hearing impaired") }
            return mark(track.isSelected) + "\(kind) \(track.number)" + (facts.isEmpty ? "" : ": " + facts.joined(separator: ", "))
        }.joined(separator: "\n")
    }

    /// The chapters with the times at which they begin.
    static func chapters(_ snapshot: RemoteSnapshot) -> String {
        let lines = snapshot.chapters.enumerated().map { index, chapter in
            let title = chapter.title.isEmpty ? "Chapter \(index + 1)" : chapter.title
            return mark(index == snapshot.chapter) + MediaTime(seconds: max(chapter.time, 0)).clockText + "  " + title
        }
        return around(snapshot.chapter, lines)
    }

    /// Of another shape than that of the others: letters are white with an outline, and over a white film a disc looks like a circle.
    private static func mark(_ isCurrent: Bool) -> String { isCurrent ? "▶ " : "○ " }

    private static func around(_ current: Int?, _ lines: [String]) -> String {
        guard lines.count > mostLines else { return lines.joined(separator: "\n") }
        let first = min(max((current ?? 0) - mostLines / 2, 0), lines.count - mostLines)
        return lines[first..<first + mostLines].joined(separator: "\n")
    }
}
