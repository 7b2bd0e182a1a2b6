/// What a decoder and a display must know about a compressed video stream before its first sample.
///
/// The Linux counterpart of Core Media's `CMVideoFormatDescription`. A value; equal formats need no new decoder.
public struct VideoFormat: Sendable, Hashable {
    public var codec: VideoCodec
    /// Coded size in pixels, before cropping. Zero when only the decoder can tell.
    public var codedSize: PixelSize
    /// The visible part (clean aperture), inside `codedSize`.
    public var visible: PixelRect
    public var attributes: PictureAttributes
    /// Frames a second as the container or stream states it; unknown for variable rates.
    public var frameRate: Ratio
    /// The codec's out-of-band set-up bytes as the container carries them: `avcC`, `hvcC`, `av1C`, VOL header…; for H.264
    /// and HEVC with start codes, the parameter sets with start codes. Empty where the stream carries everything itself.
    public var configuration: [UInt8]
    /// Codec profile and level as FFmpeg numbers them; -99 is unknown.
    public var profile: Int32
    public var level: Int32
    /// Four bytes from the container that some old codecs need (`codec_tag`).
    public var codecTag: UInt32
    /// Bits in a coded pixel where the container says so (old AVI codecs), else 0.
    public var bitsPerCodedSample: Int32
    /// Frames that a decoder must hold back before the first can be shown in order, where known beforehand; 0 otherwise.
    /// (FFmpeg's `video_delay`. A decoder that has to find out by itself may show the first frames out of order.)
    public var reorderDepth: Int32

    public init(
        codec: VideoCodec, codedSize: PixelSize, visible: PixelRect? = nil, attributes: PictureAttributes = PictureAttributes(),
        frameRate: Ratio = .unknown, configuration: [UInt8] = [], profile: Int32 = -99, level: Int32 = -99,
        codecTag: UInt32 = 0, bitsPerCodedSample: Int32 = 0, reorderDepth: Int32 = 0
    ) {
        self.codec = codec
        self.codedSize = codedSize
        self.visible = visible ?? PixelRect(codedSize)
        self.attributes = attributes
        self.frameRate = frameRate
        self.configuration = configuration
        self.profile = profile
        self.level = level
        self.codecTag = codecTag
        self.bitsPerCodedSample = bitsPerCodedSample
        self.reorderDepth = reorderDepth
    }
}

/// A video codec by FFmpeg's name (`avcodec_get_name`), so that every codec of libavcodec has a value.
public struct VideoCodec: Sendable, Hashable, CustomStringConvertible {
    public let name: String
    public init(name: String) { self.name = name }
    public var description: String { name }
    public static let h264 = VideoCodec(name: "h264")
    public static let hevc = VideoCodec(name: "hevc")
    public static let av1 = VideoCodec(name: "av1")
    public static let vp8 = VideoCodec(name: "vp8")
    public static let vp9 = VideoCodec(name: "vp9")
    public static let mpeg2 = VideoCodec(name: "mpeg2video")
}

/// What an audio decoder must know before the first sample.
public struct AudioFormat: Sendable, Hashable {
    /// FFmpeg's name of the compression scheme.
    public var codecName: String
    /// Hertz.
    public var sampleRate: Int32
    public var channelCount: Int32
    /// Speaker layout as FFmpeg writes it (`stereo`, `5.1(side)`); empty when the container does not say.
    public var channelLayout: String
    /// The codec's out-of-band set-up bytes (AudioSpecificConfig, Vorbis headers…).
    public var configuration: [UInt8]
    /// Frames of silence that the encoder put before the first sound; the decoder removes them.
    public var encoderDelay: Int32
    public var bitsPerCodedSample: Int32
    public var blockAlign: Int32
    public var bitRate: Int64
    public var profile: Int32
    public var codecTag: UInt32
    /// Frames in a packet where constant, else 0.
    public var frameSize: Int32

    public init(
        codecName: String, sampleRate: Int32, channelCount: Int32, channelLayout: String = "", configuration: [UInt8] = [],
        encoderDelay: Int32 = 0, bitsPerCodedSample: Int32 = 0, blockAlign: Int32 = 0, bitRate: Int64 = 0, profile: Int32 = -99,
        codecTag: UInt32 = 0, frameSize: Int32 = 0
    ) {
        self.codecName = codecName
        self.sampleRate = sampleRate
        self.channelCount = channelCount
        self.channelLayout = channelLayout
        self.configuration = configuration
        self.encoderDelay = encoderDelay
        self.bitsPerCodedSample = bitsPerCodedSample
        self.blockAlign = blockAlign
        self.bitRate = bitRate
        self.profile = profile
        self.codecTag = codecTag
        self.frameSize = frameSize
    }
}

/// The format of a compressed sample.
public indirect enum MediaFormat: Sendable, Hashable {
    case video(VideoFormat)
    case audio(AudioFormat)
    /// Subtitles, timed metadata…: the codec's name.
    case other(String)
}
