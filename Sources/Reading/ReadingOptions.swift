public import Decoding
public import Demuxing
package import Media
public import Sandbox
public import SurfacePool

/// How a film is to be read and decoded.
public struct ReadingOptions: Sendable {
    /// How the film is opened.
    public var source: AssetReaderOptions
    /// How frames are decoded. `decoder.requirements` says in which formats and sizes and for which uses they are wanted; empty leaves them where
    /// and as the decoder writes them, and nothing is copied. `decoder.holdCount` frames may be held at once: reading waits while more are.
    public var decoder: DecoderOptions
    /// The processes without rights in which the film is demuxed and decoded.
    public var sandbox: SandboxOptions
    /// Where the memory of frames comes from.
    public var allocator: any SurfaceAllocator
    /// Whether an edit list is applied: what it hides is left out, and times count from the beginning of the edited film. Without it the times are
    /// those of the media itself.
    public var appliesEdits: Bool
    /// Counts the pixel bytes that decoders write, and those that are copied; nil: they are not counted.
    package var statistics: FrameStatistics?

    /// By default frames stay as the decoder makes them, in this process, with the edits applied; eight may be held.
    public init(
        source: AssetReaderOptions = AssetReaderOptions(), decoder: DecoderOptions = DecoderOptions(holdCount: 8),
        sandbox: SandboxOptions = SandboxOptions(), allocator: any SurfaceAllocator = MemfdAllocator(), appliesEdits: Bool = true
    ) {
        self.source = source
        self.decoder = decoder
        self.sandbox = sandbox
        self.allocator = allocator
        self.appliesEdits = appliesEdits
    }

    /// An open film.
    func open(_ location: String) throws(ReadingError) -> SourceReader {
        var options = source
        // libavformat's name for it, in its demuxer of MP4 and MOV.
        if !appliesEdits { options.libraryOptions["ignore_editlist"] = "1" }
        do { return try SourceReader(opening: location, options, sandbox) } catch { throw ReadingError(error) }
    }

    /// What the container says of a film's frames, without a decoder; nil where they are none. Blocks.
    package func videoFormat(of location: String, track id: Int?) throws(ReadingError) -> VideoFormat? {
        guard case .video(let format) = try open(location).track(id, .video).format else { return nil }
        return format
    }
}

extension SourceReader {
    /// The track with this number, or the one of the kind that the container marks as default, else its first.
    func track(_ id: Int?, _ kind: AssetTrack.Kind) throws(ReadingError) -> AssetTrack {
        let tracks = reader.tracks.filter { $0.kind == kind }
        if let track = id.map({ id in tracks.first { $0.id == id } }) ?? tracks.first(where: \.isDefault) ?? tracks.first { return track }
        throw ReadingError(
            .noTrack, id.map { "\(reader.location): track \($0) is no \(kind) track." } ?? "\(reader.location): it has no \(kind) track.")
    }
}
