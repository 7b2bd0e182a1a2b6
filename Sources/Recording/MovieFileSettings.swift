public import Encoding
public import Media
public import Writing

/// How a `MovieFileOutput` records.
public struct MovieFileSettings: Sendable {
    /// The codec of the frames by FFmpeg's name; nil: vp9 for WebM, else h264.
    public var videoCodec: String?
    /// Whether a device encodes the frames, reading them where the camera has written them if its driver imports that memory.
    public var hardware = EncoderSpecification.Hardware.disable
    /// The render node to encode on; nil takes the first that encodes the frames.
    public var device: String?
    /// Bits a second of video; nil: the encoder's usual quality.
    public var videoBitRate: Int?
    /// The codec of the sound; nil: opus for WebM, else aac.
    public var audioCodec: String?
    /// Bits a second of sound; nil: the encoder's usual ones.
    public var audioBitRate: Int?
    /// Whether the film has a track of timed metadata, for `MovieFileOutput.add`. MP4, MOV, Matroska and WebM hold one.
    public var recordsMetadata = false
    /// The film ends when it is as long; nil: it may be of any length. Pauses do not count.
    public var maximumDuration: MediaTime?
    /// The film ends before the whole file has more bytes; nil: it may be of any size. Less than 8 KiB are too few for any film.
    public var maximumByteCount: Int64?
    /// The film ends when the file system has fewer bytes left for this user; nil: when there are none left, which is an error.
    public var minimumFreeByteCount: Int64?
    /// How the file is written.
    public var writer: AssetWriterOptions

    /// Fragments of half a second, each of which is on the disk a moment after it is complete, so that a power cut loses less than a second.
    public init() {
        writer = AssetWriterOptions()
        writer.isFragmented = true
        writer.fragmentDuration = MediaTime(value: 1, timescale: 2)
        writer.syncsFragments = true
    }
}
