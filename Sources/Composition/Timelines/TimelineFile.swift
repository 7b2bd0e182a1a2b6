internal import Demuxing
internal import Glibc
public import Media
public import Reading
internal import Timelines

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

    /// Whether a place names a time line: its name ends in `.otio`.
    public static func isTimeline(_ location: String) -> Bool { location.lowercased().hasSuffix(".otio") }

    /// Reads a file, and opens the first film for its size. Blocks. Where `options.sandbox` asks for it, the text is parsed in a process without
    /// rights, as the head of a film is.
    ///
    /// - Parameters:
    ///   - size: The size of the result; nil takes that of the first film.
    ///   - options: How the text is parsed and the first film is opened.
    /// - Throws: `.source` where the file cannot be read, or the process that parses it fails; `.composition` where it is no time line, has a value
    ///   that no time line can have, or nothing is left to show.
    public init(_ path: String, size: PixelSize? = nil, options: ReadingOptions = ReadingOptions()) throws(ReadingError) {
        let read = try Self.read(path, options), composer = try TimelineComposer(read.description, path)
        name = read.description.name
        composition = composer.composition
        var found = size
        for source in composer.sources where found == nil { found = Self.size(of: source, options) }
        let needsSize = !composition.tracks(.video).isEmpty
        guard let found = found ?? (needsSize ? nil : PixelSize(width: 2, height: 2)) else {
            throw ReadingError(.composition, "\(path): none of its films can be opened, and no size is given.")
        }
        videoComposition = composer.videoComposition(size: found)
        audioMix = composer.audioMix
        notices = (read.notice.map { [$0] } ?? []) + composer.notices
        if let error = ReadingError(prefix: "\(path): ", { videoComposition.isValid(for: composition, $0) }) { throw error }
    }

    /// What the text holds. It is parsed in a process without rights where the options ask for one.
    private static func read(
        _ path: String, _ options: ReadingOptions
    ) throws(ReadingError) -> (description: TimelineDescription, notice: String?) {
        let text = try bytes(path), parsed: ParsedTimeline
        do throws(AssetError) {
            parsed = try ParsedTimeline(text, of: path, options.sandbox, options.source.cancellation)
        } catch { throw ReadingError(error) }
        do throws(TimelineError) { return (try parsed.outcome.get(), parsed.notice) } catch {
            throw ReadingError(.composition, "\(path): \(error.words).")
        }
    }

    private static func bytes(_ path: String) throws(ReadingError) -> [UInt8] {
        guard let file = unsafe path.withPath({ unsafe fopen($0, "re") }) else {
            let code: AssetError.Code = errno == ENOENT ? .noSuchFile : errno == EACCES ? .permission : .cannotOpen
            throw ReadingError(.source(code), "\(path): cannot be opened: \(unsafe String(cString: strerror(errno))).")
        }
        defer { unsafe fclose(file) }
        var bytes: [UInt8] = [], chunk = [UInt8](repeating: 0, count: 1 << 16)
        while bytes.count <= TimelineDescription.largestText {
            let count = unsafe fread(&chunk, 1, chunk.count, file)
            if count == 0 { break }
            bytes += chunk[..<count]
        }
        guard unsafe ferror(file) == 0 else { throw ReadingError(.source(.cannotOpen), "\(path): cannot be read.") }
        // A larger one is refused with the text.
        return bytes
    }

    /// The size of a film as a viewer sees it, with even sides; nil where it cannot be opened.
    private static func size(of source: CompositionSource, _ options: ReadingOptions) -> PixelSize? {
        guard let format = try? options.videoFormat(of: source.url, track: source.trackID) else { return nil }
        let size = format.attributes.displaySize(of: format.visible.size)
        return PixelSize(width: max((size.width + 1) / 2 * 2, 2), height: max((size.height + 1) / 2 * 2, 2))
    }
}
