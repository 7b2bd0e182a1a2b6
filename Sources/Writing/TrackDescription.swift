public import Demuxing
public import Media

/// What a container is told about a track: the format of its samples, and what people are shown about it.
public struct TrackDescription: Sendable, Hashable {
    /// What a track carries.
    public typealias Kind = AssetTrack.Kind

    /// What the track carries.
    public var kind: Kind
    /// The format of its samples. Colours, HDR metadata, orientation and pixel aspect go into the container where it has a place for them.
    public var format: MediaFormat
    /// The unit of the samples' times, in seconds, as a hint: containers that can choose count in it. Unknown takes 1/90000 s.
    public var timeBase: Ratio
    /// ISO 639 code.
    public var language: String?
    /// The track's title.
    public var title: String?
    /// Players that choose take this track of its kind.
    public var isDefault: Bool

    /// A track of video or sound; what it carries follows from the format. `.other` is a track of subtitles.
    public init(
        format: MediaFormat, timeBase: Ratio = .unknown, language: String? = nil, title: String? = nil, isDefault: Bool = false
    ) {
        kind =
            switch format {
            case .video: .video
            case .audio: .audio
            case .other: .subtitle
            }
        self.format = format
        self.timeBase = timeBase
        self.language = language
        self.title = title
        self.isDefault = isDefault
    }

    /// As a film has it.
    public init(_ track: AssetTrack) {
        self.init(
            format: track.format, timeBase: track.timeBase, language: track.language, title: track.title, isDefault: track.isDefault)
        kind = track.kind
    }

    /// A subtitle is there now and then: nothing waits for one.
    var isSparse: Bool { kind != .video && kind != .audio }
}
