internal import Glibc

/// Finds the files of subtitles, or of sound, that belong to a film: those beside it with its name, as mpv's `--sub-auto=exact`.
package enum SubtitleSearch {
    /// Endings of such files.
    package static let endings: Set<String> = ["srt", "ass", "ssa", "vtt", "sup", "smi"]
    /// Endings of files of sound.
    package static let soundEndings: Set<String> = [
        "mka", "m4a", "mp3", "ogg", "opus", "oga", "flac", "wav", "aac", "ac3", "eac3", "dts", "thd", "wv", "ape",
    ]

    /// A file that belongs to the film.
    package struct Match: Sendable, Hashable {
        package var path: String
        /// What stands between the film's name and the ending: `de` of `film.de.srt`; nil: nothing.
        package var language: String?
    }

    /// Of the names in the film's folder, those that belong to it, in the order of their names.
    ///
    /// - Parameters:
    ///   - film: The film's path.
    ///   - names: The names of the files beside it.
    ///   - endings: Those of the files.
    package static func matches(of film: String, among names: [String], endings: Set<String> = endings) -> [Match] {
        let folder = film.lastIndex(of: "/").map { String(film[...$0]) } ?? ""
        let stem = withoutEnding(String(film.dropFirst(folder.count)))
        guard !stem.isEmpty else { return [] }
        return names.sorted().compactMap { name in
            guard let dot = name.lastIndex(of: "."), endings.contains(name[name.index(after: dot)...].lowercased()) else { return nil }
            let rest = String(name[..<dot])
            if rest == stem { return Match(path: folder + name, language: nil) }
            // One more part, which is a language: `film.de.srt`, `film.pt-BR.srt`.
            guard rest.hasPrefix(stem + ".") else { return nil }
            let language = rest.dropFirst(stem.count + 1)
            guard isLanguage(language) else { return nil }
            return Match(path: folder + name, language: String(language))
        }
    }

    /// The files beside the film at `path`; none for what is no path.
    package static func matches(of path: String, endings: Set<String> = endings) -> [Match] {
        guard path != "-", !path.contains("://") else { return [] }
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        guard let directory = unsafe opendir(folder) else { return [] }
        defer { unsafe closedir(directory) }
        var names: [String] = []
        while let entry = unsafe readdir(directory) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            names.append(name)
        }
        return matches(of: path, among: names, endings: endings)
    }

    private static func withoutEnding(_ name: String) -> String { name.lastIndex(of: ".").map { String(name[..<$0]) } ?? name }

    /// Two or three letters, and perhaps a script or a region.
    private static func isLanguage(_ text: Substring) -> Bool {
        let parts = text.split(whereSeparator: { $0 == "-" || $0 == "_" })
        guard let code = parts.first, (2...3).contains(code.count), parts.count <= 3 else { return false }
        return parts.allSatisfy { $0.count <= 4 && $0.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) } } && code.allSatisfy(\.isLetter)
    }
}
