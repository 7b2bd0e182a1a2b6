/// What a decoder and a display must know about a compressed video stream before its first sample.
///
/// The Linux counterpart of Core Media's `CMVideoFormatDescription`. A value; equal formats need no new decoder.
public struct VideoFormat: Sendable, Hashable {
    /// The codec that the samples need.
    public var codec: VideoCodec
    /// Coded size in pixels, before cropping. Zero when only the decoder can tell.
    public var codedSize: PixelSize
    /// The visible part (clean aperture), inside `codedSize`.
    public var visible: PixelRect
    /// What a display must know about the frames: pixel aspect, orientation, colour and HDR metadata.
    public var attributes: FrameAttributes
    /// Frames a second as the container or stream states it; unknown for variable rates.
    public var frameRate: Ratio
    /// The codec's out-of-band set-up bytes as the container carries them: `avcC`, `hvcC`, `av1C`, VOL header…; for H.264
    /// and HEVC with start codes, the parameter sets with start codes. Empty where the stream carries everything itself.
    public var configuration: [UInt8]
    /// Codec profile as FFmpeg numbers it (`AV_PROFILE_…`); -99 is unknown.
    public var profile: Int32
    /// Codec level as FFmpeg numbers it (ten times the level for H.264, thirty times for HEVC); -99 is unknown.
    public var level: Int32
    /// Four bytes from the container that some old codecs need (`codec_tag`).
    public var codecTag: UInt32
    /// Bits in a coded pixel where the container says so (old AVI codecs), else 0.
    public var bitsPerCodedSample: Int32
    /// Frames that a decoder must hold back before the first can be shown in order, where known beforehand; 0 otherwise.
    /// (FFmpeg's `video_delay`. A decoder that has to find out by itself may show the first frames out of order.)
    public var reorderDepth: Int32
    /// Samples carry the alpha of their frames beside them, as VP8 and VP9 do in Matroska and WebM (`AlphaMode` 1).
    public var hasAlpha = false
    /// libavutil's number of the pixel format, where decoding has shown it; -1 otherwise. Some containers state what follows.
    package var libraryPixelFormat: Int32 = -1

    /// Describes a stream; `visible` defaults to the whole of `codedSize`.
    public init(
        codec: VideoCodec, codedSize: PixelSize, visible: PixelRect? = nil, attributes: FrameAttributes = FrameAttributes(),
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
    /// FFmpeg's short name, such as `h264`.
    public let name: String
    /// Takes any name; whether libavcodec has a decoder for it shows only when one is opened.
    public init(name: String) { self.name = name }
    /// The name.
    public var description: String { name }
    /// ITU-T H.264 (AVC).
    public static let h264 = VideoCodec(name: "h264")
    /// ITU-T H.265 (HEVC).
    public static let hevc = VideoCodec(name: "hevc")
    /// AOMedia AV1.
    public static let av1 = VideoCodec(name: "av1")
    /// VP8 (RFC 6386).
    public static let vp8 = VideoCodec(name: "vp8")
    /// VP9, the usual codec of WebM.
    public static let vp9 = VideoCodec(name: "vp9")
    /// MPEG-2 video (ITU-T H.262), the codec of DVDs and older broadcasts.
    public static let mpeg2 = VideoCodec(name: "mpeg2video")
}

/// What an audio decoder must know before the first sample.
public struct AudioFormat: Sendable, Hashable {
    /// FFmpeg's name of the compression scheme.
    public var codecName: String
    /// Hertz.
    public var sampleRate: Int32
    /// Channels in a frame of sound.
    public var channelCount: Int32
    /// Speaker layout as FFmpeg writes it (`stereo`, `5.1(side)`); empty when the container does not say.
    public var channelLayout: String
    /// The codec's out-of-band set-up bytes (AudioSpecificConfig, Vorbis headers…).
    public var configuration: [UInt8]
    /// Frames of silence that the encoder put before the first sound; the decoder removes them.
    public var encoderDelay: Int32
    /// Bits in a coded sample where the container says so, else 0.
    public var bitsPerCodedSample: Int32
    /// Bytes in a coded block, which some codecs need (`nBlockAlign` in WAV); 0 when not stated.
    public var blockAlign: Int32
    /// Bits a second; 0 when unknown.
    public var bitRate: Int64
    /// Codec profile as FFmpeg numbers it; -99 is unknown.
    public var profile: Int32
    /// Four bytes from the container that some old codecs need (`codec_tag`).
    public var codecTag: UInt32
    /// Frames in a packet where constant, else 0.
    public var frameSize: Int32

    /// Describes a sound track; the defaults stand for what a container does not state.
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
    /// A video track's format.
    case video(VideoFormat)
    /// A sound track's format.
    case audio(AudioFormat)
    /// Subtitles, timed metadata…: the codec's name.
    case other(String)
}
