internal import Media
internal import TestSupport
internal import Writing

extension FilmReference {
    private static let copies = Monitor<[String: String]>([:])

    /// The film in another container, by the ending of its name, with the index of an MP4 in front, so that it can be read without seeks. Made once.
    public static func copy(of path: String, as ending: String) throws -> String {
        try copies.withLock { copies in
            if let copy = copies[path + ending] { return copy }
            let copy = ProcessFolder.path("copy-\(copies.count).\(ending)")
            var options = FilmCopy.Options()
            options.writer.movesIndexToFront = ending == "mp4"
            try FilmCopy(from: path, to: copy, options: options).run()
            copies[path + ending] = copy
            return copy
        }
    }
}
