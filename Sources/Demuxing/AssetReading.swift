public import Media
public import SampleQueue

/// Reads a film's compressed samples: `AssetReader` in this process, or `SandboxedReader` in one without rights, with the same contract.
///
/// Thread-safety: one thread at a time, except `cancel`, which any thread may call.
public protocol AssetReading: AnyObject, Sendable {
    /// The path or URL.
    var location: String { get }
    /// All tracks, in the order of their numbers.
    var tracks: [AssetTrack] { get }
    /// Length of the film; indefinite for a live stream.
    var duration: MediaTime { get }
    /// libavformat's name of the container.
    var containerName: String { get }
    /// The film's title, where its container has one.
    var title: String? { get }
    /// As `AssetReader.metadata`.
    var metadata: [String: String] { get }
    /// As `AssetReader.chapters`.
    var chapters: [AssetChapter] { get }
    /// The fonts that the container holds for its subtitles, at most 64 MiB of them. Blocks as `nextSample` does, and is called on its thread.
    /// Throws where a process that reads the film dies meanwhile; the next sample has another one go on.
    var fonts: [AttachedFont] { get throws(AssetError) }
    /// Whether `seek` can be expected to work.
    var isSeekable: Bool { get }
    /// The variants that the film is offered in (HLS); nil where it is not.
    var offer: VariantOffer? { get }
    /// As `AssetReader.preferredStart`.
    var preferredStart: MediaTime? { get }
    /// Which time of the film was made when, as far as that is known before it is read: of a list that is whole (`EXT-X-PROGRAM-DATE-TIME`), to the
    /// milliseconds by which lists round the lengths of parts. `SampleBuffer.programDate` tells of others while they are read.
    var programDates: ProgramDateLine { get }
    /// As `AssetReader.bytesReceived`: on the thread that reads.
    var bytesReceived: Int64? { get }
    /// As `AssetReader.timeRange`.
    var timeRange: MediaTimeRange { get set }
    /// As `AssetReader.select`.
    func select(_ trackIDs: Set<Int>)
    /// As `AssetReader.nextSample`.
    func nextSample() throws(AssetError) -> SampleBuffer?
    /// As `AssetReader.seek`.
    func seek(to time: MediaTime) throws(AssetError)
    /// As `AssetReader.cancel`; any thread may call it.
    func cancel()
}

extension AssetReading {
    /// Nil, for what is no list of variants.
    public var offer: VariantOffer? { nil }
    /// Nil, for what is no list.
    public var preferredStart: MediaTime? { nil }
    /// Unknown.
    public var programDates: ProgramDateLine { ProgramDateLine() }
    /// Unknown.
    public var bytesReceived: Int64? { nil }
    /// None.
    public var fonts: [AttachedFont] { [] }
}

extension AssetReader: AssetReading {}
