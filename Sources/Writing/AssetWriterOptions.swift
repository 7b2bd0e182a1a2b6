public import Demuxing
public import Media

/// How a film is to be written, beyond its name.
public struct AssetWriterOptions: Sendable {
    /// The container; nil takes the one that the ending of the name asks for.
    public var container: FileContainer?
    /// Replaces a file of the same name, once the new one is whole. Otherwise such a file is an error.
    public var overwrites = false
    /// Writes in fragments: whatever happens, what was written up to the last fragment can be played. The file has its name from the first fragment
    /// on. Fragments of Matroska and WebM are clusters; those of MPEG-TS are only what is handed to the file at once.
    public var isFragmented = false
    /// How long a fragment lasts at least, unless a sync sample of video comes when half of it has passed.
    public var fragmentDuration = MediaTime(value: 1, timescale: 1)
    /// Of a film for web servers (`film.m3u8`, `film.mpd`): how long a segment lasts. It ends at the first sync sample of video that comes when half
    /// of this has passed; without video, when all of it has.
    public var segmentDuration = MediaTime(value: 6, timescale: 1)
    /// With fragments: the system is told to bring each to the disk when it is whole (`fdatasync`), so that it survives a power cut. That happens on
    /// another thread, while the next fragment comes; `AssetWriter.durableByteCount` says how far it is. Otherwise the system chooses the moment,
    /// half a minute later or more.
    public var syncsFragments = false
    /// Puts the index of MP4 and MOV in front of the samples when all is written, so that a player needs no seek. Costs a second pass over the file.
    public var movesIndexToFront = false
    /// Texts about the film by FFmpeg's names: `title`, `artist`, `comment`, `date` …
    public var metadata: [String: String] = [:]
    /// The cover, for MP4, MOV and Matroska (`FileContainer.holdsCover`).
    public var cover: CoverImage?
    /// Parts of the film with names, in source time.
    public var chapters: [AssetChapter] = []
    /// How much may wait for an input that brings nothing.
    public var interleaving = InterleavingLimits()

    /// By default nothing is replaced and the file is written in one piece.
    public init() {}
}

/// How much of the other inputs may wait in memory for one that brings nothing. Samples of all inputs are written in the order of their decode
/// times; beyond this they are written without waiting.
public struct InterleavingLimits: Sendable, Hashable {
    /// From the first to the last sample that waits.
    public var duration: MediaTime
    /// Of all samples that wait.
    public var byteCount: Int

    /// By default 10 s, as in FFmpeg's programs, and 64 MiB.
    public init(duration: MediaTime = MediaTime(value: 10, timescale: 1), byteCount: Int = 64 << 20) {
        self.duration = duration
        self.byteCount = byteCount
    }
}
