public import Media

/// One track of a film, as its container describes it.
public struct AssetTrack: Sendable, Hashable {
    /// What a track carries.
    public enum Kind: String, Sendable, Hashable {
        /// Moving frames, sound, or text and images to be laid over the frames.
        case video, audio, subtitle
        /// A cover: one frame that is not a film.
        case attachedPicture
        /// Anything else, such as timed metadata.
        case other
    }

    /// The track's number in its reader.
    public var id: Int
    /// What the track carries.
    public var kind: Kind
    /// The codec, and what a decoder must know before the first sample.
    public var format: MediaFormat
    /// Unit of the container's times, in seconds.
    public var timeBase: Ratio
    /// Indefinite when the container does not say.
    public var duration: MediaTime
    /// Bits a second; 0 when unknown.
    public var bitRate: Int64
    /// ISO 639 code.
    public var language: String?
    /// The track's title, where its container has one.
    public var title: String?
    /// The container marks it as the one to play.
    public var isDefault: Bool
    /// libavcodec has a decoder for it.
    public var isDecodable: Bool
    /// Subtitles that every viewer needs, such as signs and foreign dialogue.
    public var isForced = false
    /// Subtitles that describe sounds, too.
    public var isHearingImpaired = false
    /// The file that holds it, where that is not the film's.
    public var file: String?
    /// How loud the sound was measured to be, where its tags or the film's say so.
    public var replayGain: ReplayGain?
    /// Which other tracks this one names, and what they are to it. Read from MP4 and MOV, where the reader was asked to be thorough.
    public var references: [TrackReference] = []
    /// What a decoder of subtitles must know before the first sample; empty for other tracks, whose formats hold it.
    package var configuration: [UInt8] = []
    /// Captions that the samples of a video track carry: read only where the track is selected.
    package var isInsideFrames = false
    /// Subtitles with parts of their own, which are fetched only where the track is selected.
    package var isApart = false

    package init(
        id: Int, kind: Kind, format: MediaFormat, timeBase: Ratio, duration: MediaTime, bitRate: Int64, language: String?, title: String?,
        isDefault: Bool, isDecodable: Bool
    ) {
        self.id = id
        self.kind = kind
        self.format = format
        self.timeBase = timeBase
        self.duration = duration
        self.bitRate = bitRate
        self.language = language
        self.title = title
        self.isDefault = isDefault
        self.isDecodable = isDecodable
    }
}
