internal import Demuxing
internal import Glibc
internal import JSON
public import Media
public import Reading

/// A time line as editing programs exchange it: OpenTimelineIO's JSON, read into a composition.
///
///     let file = try TimelineFile("cut.otio")
///     let session = try ExportSession(from: file.composition, file.videoComposition, audioMix: file.audioMix, to: "film.mp4")
///
/// It reads clips, gaps, tracks, nested stacks, dissolves (`SMPTE_Dissolve`), linear time warps forward, freeze frames, and markers, which become
/// chapters. What else the file has is named in `notices`, each with its time, and the rest is read. Films are found relative to the file; only
/// files are read, no addresses.
///
/// Thread-safety: a value.
public struct TimelineFile: Sendable {
    /// The time line's name; empty where it has none.
    public let name: String
    /// The films' parts.
    public let composition: Composition
    /// Frames at the rate of the time line; each film is fitted to the size of the first one.
    public let videoComposition: VideoComposition
    /// How loud each track of sound is: dissolves.
    public let audioMix: AudioMix
    /// Sentences for the viewer about what the file has and the composition has not.
    public let notices: [String]

    /// The largest file that is read, in bytes.
    private static let largestFile = 64 << 20

    /// Whether a place names a time line: its name ends in `.otio`.
    public static func isTimeline(_ location: String) -> Bool { location.lowercased().hasSuffix(".otio") }

    /// Reads a file, and opens the first film for its size. Blocks.
    ///
    /// - Parameters:
    ///   - size: The size of the result; nil takes that of the first film.
    ///   - options: How the first film is opened.
    /// - Throws: `.source` where the file cannot be read, `.composition` where it is no time line or has a value that no time line can have.
    public init(_ path: String, size: PixelSize? = nil, options: ReadingOptions = ReadingOptions()) throws(ReadingError) {
        let bytes = try Self.bytes(path), tree: JSONValue
        do throws(JSONValue.SyntaxError) { tree = try JSONValue(parsing: bytes, dialect: .python) } catch {
            throw ReadingError(.composition, "\(path): no time line, as its JSON is damaged at byte \(error.offset).")
        }
        var reader = TimelineReader(path)
        try reader.read(tree)
        name = tree.member("name")?.characters ?? ""
        composition = reader.composition
        var found = size
        for source in reader.sources where found == nil { found = Self.size(of: source, options) }
        let needsSize = !reader.composition.tracks(.video).isEmpty
        guard let found = found ?? (needsSize ? nil : PixelSize(width: 2, height: 2)) else {
            throw ReadingError(.composition, "\(path): none of its films can be opened, and no size is given.")
        }
        videoComposition = reader.videoComposition(size: found)
        audioMix = reader.audioMix
        notices = reader.notices
        if let error = ReadingError(prefix: "\(path): ", { videoComposition.isValid(for: composition, $0) }) { throw error }
    }

    private static func bytes(_ path: String) throws(ReadingError) -> [UInt8] {
        guard let file = unsafe path.withPath({ unsafe fopen($0, "re") }) else {
            let code: AssetError.Code = errno == ENOENT ? .noSuchFile : errno == EACCES ? .permission : .cannotOpen
            throw ReadingError(.source(code), "\(path): cannot be opened: \(unsafe String(cString: strerror(errno))).")
        }
        defer { unsafe fclose(file) }
        var bytes: [UInt8] = [], chunk = [UInt8](repeating: 0, count: 1 << 16)
        while bytes.count <= largestFile {
            let count = unsafe fread(&chunk, 1, chunk.count, file)
            if count == 0 { break }
            bytes += chunk[..<count]
        }
        guard unsafe ferror(file) == 0 else { throw ReadingError(.source(.cannotOpen), "\(path): cannot be read.") }
        guard bytes.count <= largestFile else { throw ReadingError(.composition, "\(path): no time line is larger than \(largestFile >> 20) MiB.") }
        return bytes
    }

    /// The size of a film as a viewer sees it, with even sides; nil where it cannot be opened.
    private static func size(of source: CompositionSource, _ options: ReadingOptions) -> PixelSize? {
        guard let format = try? options.videoFormat(of: source.url, track: source.trackID) else { return nil }
        let size = format.attributes.displaySize(of: format.visible.size)
        return PixelSize(width: max((size.width + 1) / 2 * 2, 2), height: max((size.height + 1) / 2 * 2, 2))
    }
}
