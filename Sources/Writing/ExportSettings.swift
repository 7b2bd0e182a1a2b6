public import Demuxing
public import Encoding
public import Media
public import Sandbox

/// What an `ExportSession` makes of a film.
public struct ExportSettings: Sendable {
    /// A codec with what its encoder is told.
    public struct Codec: Sendable, Hashable {
        /// FFmpeg's name of the codec, such as `hevc` or `opus`.
        public var name: String
        /// libavcodec's name of the encoder; nil takes the preferred one.
        public var encoder: String?
        /// Options of libavcodec and the encoder by name: `preset`, `crf`, `profile`.
        public var options: [String: String]

        /// Takes any name; whether there is an encoder shows when one is opened.
        public init(name: String, encoder: String? = nil, options: [String: String] = [:]) {
            self.name = name
            self.encoder = encoder
            self.options = options
        }
    }

    /// What becomes of the tracks of video, or of those of sound.
    public enum Treatment: Sendable, Hashable {
        /// Encoded with the usual codec of the container; Matroska, which holds every one, keeps the sound as it is.
        case usual
        /// Copied without decoding.
        case copy
        /// Left out.
        case leaveOut
        /// Encoded.
        case encode(Codec)

        /// Reads `copy`, `none`, or what `codec` reads: as the command line and the C interface say it.
        package init(_ text: String, _ codec: (String) throws(ExportError) -> Codec) throws(ExportError) {
            switch text {
            case "copy": self = .copy
            case "none": self = .leaveOut
            default: self = .encode(try codec(text))
            }
        }
    }

    /// How the file is written.
    public var writer = AssetWriterOptions()
    /// The part of the film, exact to the frame. Only copied tracks begin at the sync sample before.
    public var timeRange = MediaTimeRange(start: .zero, end: .positiveInfinity)
    /// The numbers of the tracks; nil takes all.
    public var tracks: Set<Int>?
    /// The tracks of video.
    public var video = Treatment.usual
    /// The tracks of sound.
    public var audio = Treatment.usual
    /// Whether a device encodes video; of no effect when `video` names an encoder of devices. The same device decodes the film where it can.
    public var hardware = EncoderSpecification.Hardware.disable
    /// The render node to encode on; nil takes the first that encodes the video.
    public var device: String?
    /// Bits a second of video; nil leaves it to the quality.
    public var videoBitRate: Int?
    /// Constant quality of video from 0 (worst) to 1 (best), on the encoder's own scale; nil is the usual one.
    public var videoQuality: Double?
    /// Encodes video in several passes, which reach the rate that is wanted, or a quality everywhere; nil makes one.
    public var passes: MultiPassOptions?
    /// Bytes that the file is to have: the rate of video follows from that and from the film's length. Excludes a rate and a quality.
    public var byteCount: Int?
    /// Bits a second of sound; nil is the usual rate for the number of channels.
    public var audioBitRate: Int?
    /// Visible size of the video, in pixels as they are stored. A side of 0 follows from the other; nil keeps the size.
    public var size: PixelSize?
    /// The processes in which the film is read and decoded.
    public var sandbox = SandboxOptions()
    /// Ends a wait for the film's source while it is opened, from another thread. Later, `ExportSession.end` and `cancel` do.
    public var cancellation = AssetCancellation()

    /// No two sync samples are further apart; nil leaves that to the encoder.
    var syncDistance: MediaTime?

    /// The whole film, encoded as is usual for the container.
    public init() {}
}

extension ExportSettings.Codec {
    /// Names that people use beside FFmpeg's.
    private static let aliases = [
        "avc": "h264", "h265": "hevc", "jpeg": "mjpeg", "pcm": "pcm_s16le", "prores_ks": "prores",
    ]

    /// A device's encoder is named.
    var isForDevice: Bool { encoder.map { Encoders.deviceNames(for: VideoCodec(name: name)).contains($0) } ?? false }

    /// Reads `CODEC[:key=value[,key=value …]]`, where CODEC is a codec or one of libavcodec's encoders.
    ///
    /// - Throws: `.settings` with a sentence that lists what this machine encodes.
    public init(videoText text: String) throws(ExportError) {
        let codecs = Encoders.usualCodecs
        try self.init(text, "video", codecs.map(\.name)) { name in
            Encoders.names(for: VideoCodec(name: name)) + Encoders.deviceNames(for: VideoCodec(name: name))
        }
    }

    /// The same for sound.
    public init(audioText text: String) throws(ExportError) {
        try self.init(text, "sound", SoundEncoders.usualCodecs) { SoundEncoders.names(for: $0) }
    }

    private init(_ text: String, _ kind: String, _ codecs: [String], _ encoders: (String) -> [String]) throws(ExportError) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let word = Self.aliases[parts[0]] ?? parts[0]
        var options: [String: String] = [:]
        for pair in (parts.count == 2 ? parts[1] : "").split(separator: ",") {
            guard let sign = pair.firstIndex(of: "="), sign > pair.startIndex else {
                throw .settings("\(text): options are written CODEC:key=value,key=value.")
            }
            options[String(pair[..<sign])] = String(pair[pair.index(after: sign)...])
        }
        if !encoders(word).isEmpty {
            self.init(name: word, options: options)
        } else if let codec = codecs.first(where: { encoders($0).contains(parts[0]) }) {
            self.init(name: codec, encoder: parts[0], options: options)
        } else {
            throw .settings("\(parts[0]): this FFmpeg has no \(kind) encoder of that name; it encodes \(codecs.joined(separator: ", ")).")
        }
    }
}

extension FileContainer {
    /// The usual codec of video; the first that is installed.
    var usualVideo: [VideoCodec] {
        switch self {
        case .mp4, .mov, .matroska, .mpegTS, .dash: [.h264, .hevc, .av1]
        case .webm: [.vp9, .av1]
        }
    }

    /// The usual codec of sound; nil keeps the sound as it is.
    var usualAudio: [String]? {
        switch self {
        case .mp4, .mov, .mpegTS, .dash: ["aac", "mp3"]
        case .webm: ["opus", "vorbis"]
        case .matroska: nil
        }
    }
}
