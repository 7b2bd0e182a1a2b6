internal import Bitstream
public import Media

/// What is to be known about a sample before it is decoded.
public struct SampleFlags: OptionSet, Sendable, Hashable {
    public let rawValue: UInt16
    public init(rawValue: UInt16) { self.rawValue = rawValue }
    /// Decoding can begin here.
    public static let sync = SampleFlags(rawValue: 1)
    /// Decoding needs earlier samples.
    public static let dependsOnOthers = SampleFlags(rawValue: 2)
    /// No other sample needs it: it may be left out when time is short.
    public static let droppable = SampleFlags(rawValue: 4)
    /// Decode it because others need it, but do not show it.
    public static let doNotDisplay = SampleFlags(rawValue: 8)
    /// Show it as soon as it is decoded, whatever its time says.
    public static let displayImmediately = SampleFlags(rawValue: 16)
    /// The container knows that bytes are missing or wrong.
    public static let corrupt = SampleFlags(rawValue: 32)
}

/// An instruction among the samples, obeyed when its turn comes.
public enum Marker: Sendable, Hashable {
    /// Put out everything held back before going on.
    case drain
    /// Forget the decoder's state: what follows can be decoded by itself.
    case resetDecoder
    /// Times or content jump here.
    case discontinuity
    /// Nothing follows.
    case endOfStream
}

/// One step of a stream: compressed bytes, a finished frame, or a marker; with its times.
///
/// The Linux counterpart of Core Media's `CMSampleBuffer`. Thread-safety: a value.
public struct SampleBuffer: Sendable {
    public enum Content: Sendable {
        case compressed(BlockBuffer, MediaFormat)
        case image(any ImageBuffer)
        case marker(Marker)
    }

    public var content: Content
    /// The container's number of the track.
    public var trackID: Int
    /// `.invalid` when unknown, as the other two.
    public var presentationTime: MediaTime
    public var decodeTime: MediaTime
    public var duration: MediaTime
    public var flags: SampleFlags
    /// The times as the container wrote them, in units of `sourceTimeBase`; nil where it did not.
    package var sourcePresentationTimestamp: Int64?
    package var sourceDecodeTimestamp: Int64?
    package var sourceTimeBase: Ratio
    /// The parameter sets of the sample's format stand among the NAL units of this sample or of one before it.
    package var hasParameterSetsInBand = false

    public init(
        content: Content, trackID: Int = 0, presentationTime: MediaTime = .invalid, decodeTime: MediaTime = .invalid,
        duration: MediaTime = .invalid, flags: SampleFlags = []
    ) {
        self.content = content
        self.trackID = trackID
        self.presentationTime = presentationTime
        self.decodeTime = decodeTime
        self.duration = duration
        self.flags = flags
        sourcePresentationTimestamp = nil
        sourceDecodeTimestamp = nil
        sourceTimeBase = .unknown
    }

    /// A marker in its place between samples.
    public init(marker: Marker, trackID: Int = 0) { self.init(content: .marker(marker), trackID: trackID) }

    /// Whether a decoder that was opened for `stream` reads what is new in this sample's format from the NAL units, so that it need not be
    /// opened anew for it.
    package func bringsParameterSets(to stream: VideoFormat) -> Bool {
        guard hasParameterSetsInBand, case .compressed(_, .video(let format)) = content, format.codec == stream.codec,
            let codec = NALCodec(format.codec)
        else { return false }
        return NALPackaging(configuration: format.configuration, codec: codec) == NALPackaging(configuration: stream.configuration, codec: codec)
    }

    /// Compressed bytes; 0 for frames and markers.
    public var byteCount: Int {
        if case .compressed(let bytes, _) = content { bytes.count } else { 0 }
    }
}
