internal import CAV
internal import CAVFormat
public import Demuxing
public import Media

/// The containers that an `AssetWriter` can write.
public enum FileContainer: String, Sendable, Hashable, CaseIterable {
    /// MPEG-4 (ISO/IEC 14496-14).
    case mp4
    /// QuickTime.
    case mov
    /// Matroska (RFC 9559), which holds nearly everything.
    case matroska
    /// WebM: Matroska with VP8, VP9, AV1, Vorbis and Opus.
    case webm
    /// MPEG transport stream (ISO/IEC 13818-1), as broadcasts use it.
    case mpegTS
    /// DASH (ISO/IEC 23009-1): MP4 in fragments, a file for each track of video and sound, and a manifest, whose name is the film's.
    case dash

    /// The container that a file's name asks for by its ending; nil where it is none of these. `m3u8` is the playlist of an MP4 in fragments.
    public init?(path: String) {
        guard let dot = path.lastIndex(of: "."), let found = Self.endings[path[path.index(after: dot)...].lowercased()] else { return nil }
        self = found
    }

    private static let endings: [String: FileContainer] = [
        "mp4": .mp4, "m4v": .mp4, "m4a": .mp4, "mov": .mov, "qt": .mov, "mkv": .matroska, "mka": .matroska, "webm": .webm, "ts": .mpegTS,
        "mts": .mpegTS, "m3u8": .mp4, "mpd": .dash,
    ]

    /// Whether the file says what part of its samples is shown, so that a film begins and ends where the source did.
    public var hasEditLists: Bool { self == .mp4 || self == .mov || self == .dash }

    /// Whether Matroska's muxer writes it, WebM being a part of Matroska.
    var isMatroska: Bool { self == .matroska || self == .webm }

    /// Whether samples of this format can be written into it.
    public func canHold(_ kind: TrackDescription.Kind, _ format: MediaFormat) -> Bool {
        let name =
            switch format {
            case .video(let format): format.codec.name
            case .audio(let format): format.codecName
            case .other(let name): name
            }
        guard let descriptor = unsafe avcodec_descriptor_get_by_name(name) else { return false }
        let id = unsafe descriptor.pointee.id, type = unsafe descriptor.pointee.type
        switch kind {
        case .attachedPicture where self != .mp4, .other: return false
        case .subtitle where self == .dash: return false
        case .subtitle where type != AVMEDIA_TYPE_SUBTITLE: return false
        default: break
        }
        // Its muxer writes what it does not know as private data, which nobody reads.
        if self == .mpegTS { return Self.transported.contains(name) }
        return unsafe avformat_query_codec(av_guess_format(muxerName, nil, nil), id, FF_COMPLIANCE_NORMAL) == 1
    }

    /// By FFmpeg's names, those to which the muxer gives a stream type or a registration.
    private static let transported: Set<String> = [
        "h264", "hevc", "mpeg1video", "mpeg2video", "mpeg4", "cavs", "dirac", "vc1", "aac", "aac_latm", "mp1", "mp2", "mp3", "ac3", "eac3", "dts",
        "truehd", "opus", "s302m", "dvb_subtitle", "dvb_teletext", "hdmv_pgs_subtitle",
    ]

    /// libavformat's name.
    var muxerName: String {
        switch self {
        case .mpegTS: "mpegts"
        case .dash: "mp4"
        case .mp4, .mov, .matroska, .webm: rawValue
        }
    }
}
