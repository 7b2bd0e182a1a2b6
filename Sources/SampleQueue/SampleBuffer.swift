internal import Bitstream
public import Media

/// What a decoder must know about a sample.
public struct SampleFlags: OptionSet, Sendable, Hashable {
    /// One bit for each flag.
    public let rawValue: UInt16
    /// Takes bits; those without a name are kept.
    public init(rawValue: UInt16) { self.rawValue = rawValue }
    /// Decoding can begin here.
    public static let sync = SampleFlags(rawValue: 1)
    /// Decoding depends on earlier samples.
    public static let dependsOnOthers = SampleFlags(rawValue: 2)
    /// No other sample depends on it: it may be left out when time is short.
    public static let droppable = SampleFlags(rawValue: 4)
    /// Decode it because others depend on it, but do not show it.
    public static let doNotDisplay = SampleFlags(rawValue: 8)
    /// Show it as soon as it is decoded, whatever its time is.
    public static let displayImmediately = SampleFlags(rawValue: 16)
    /// The container knows that bytes are missing or wrong.
    public static let corrupt = SampleFlags(rawValue: 32)
}

/// An instruction among the samples, obeyed when its turn comes.
public enum Marker: Sendable, Hashable {
    /// The decoder puts out every frame that it holds back. It keeps its references (`DecompressionSession.finishDelayedFrames`).
    /// Sound after the marker's presentation time, where it has one, gives way to what follows.
    case drain
    /// The same, and the decoder forgets its references: a sync sample follows.
    case resetDecoder
    /// Times or content jump here: the same as `resetDecoder` for the decoder.
    case discontinuity
    /// Nothing follows: the same as `resetDecoder`, and the display reports the end after the last frame.
    case endOfStream
}

/// One item of a stream with its times: compressed bytes, a finished frame, or a marker.
///
/// The Linux counterpart of Core Media's `CMSampleBuffer`. Thread-safety: a value.
public struct SampleBuffer: Sendable {
    /// What the item is, besides its times.
    public enum Content: Sendable {
        /// The bytes of one sample, for a decoder, and their format.
        case compressed(BlockBuffer, MediaFormat)
        /// A frame that needs no decoding.
        case image(any ImageBuffer)
        /// An instruction in its place among the samples.
        case marker(Marker)
    }

    /// The bytes, the frame or the marker.
    public var content: Content
    /// The container's number of the track.
    public var trackID: Int
    /// When the frame is shown, in media time. `.invalid` when unknown.
    public var presentationTime: MediaTime
    /// When the sample is decoded, in media time: samples follow each other in this order. `.invalid` when unknown.
    public var decodeTime: MediaTime
    /// How long the sample lasts, in media time, with the parts that the trims hide. `.invalid` when unknown.
    public var duration: MediaTime
    /// What a decoder must know about the sample.
    public var flags: SampleFlags
    /// How much of the sample's duration is not shown at its beginning: its frame appears that much later. Zero by default. Honoured for video; a
    /// sample of which nothing is left is decoded and not shown.
    public var trimAtStart = MediaTime.zero
    /// How much of the sample's duration is not shown at its end: its frame disappears that much earlier.
    public var trimAtEnd = MediaTime.zero
    /// The program's own values. They arrive with the frame that answers the sample, and with the marker.
    public var attachments = Attachments()
    /// The container's own time stamps in units of `sourceTimeBase`; nil where it has none.
    package var sourcePresentationTimestamp: Int64?
    package var sourceDecodeTimestamp: Int64?
    package var sourceTimeBase: Ratio
    /// The parameter sets of the sample's format stand among the NAL units of this sample or of one before it.
    package var hasParameterSetsInBand = false

    /// An item with its times; times that are left out are unknown.
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

    /// The samples that lie one after the other in `bytes`.
    ///
    /// Each gets a copy of its bytes, as a decoder needs zeros behind every sample.
    /// - Parameter parts: From the beginning of `bytes`; together they must not be longer.
    public static func samples(in bytes: UnsafeRawBufferPointer, _ format: MediaFormat, _ parts: [Part], trackID: Int = 0) -> [SampleBuffer] {
        var position = 0
        return parts.map { part in
            precondition(part.byteCount > 0 && part.byteCount <= bytes.count - position, "the samples are longer than their bytes")
            defer { position += part.byteCount }
            let block = unsafe BlockBuffer(copying: UnsafeRawBufferPointer(rebasing: bytes[position..<position + part.byteCount]))
            return SampleBuffer(
                content: .compressed(block, format), trackID: trackID, presentationTime: part.presentationTime, decodeTime: part.decodeTime,
                duration: part.duration, flags: part.flags)
        }
    }

    /// One of several samples in a piece of memory.
    public struct Part: Sendable, Hashable {
        /// The sample's length in bytes, above zero.
        public var byteCount: Int
        /// When the frame is shown, in media time; `.invalid` when unknown.
        public var presentationTime: MediaTime
        /// When the sample is decoded, in media time; `.invalid` when unknown.
        public var decodeTime: MediaTime
        /// How long the sample lasts, in media time; `.invalid` when unknown.
        public var duration: MediaTime
        /// What a decoder must know about the sample.
        public var flags: SampleFlags

        /// A part that follows the one before it; times that are left out are unknown.
        public init(
            byteCount: Int, presentationTime: MediaTime = .invalid, decodeTime: MediaTime = .invalid, duration: MediaTime = .invalid,
            flags: SampleFlags = []
        ) {
            self.byteCount = byteCount
            self.presentationTime = presentationTime
            self.decodeTime = decodeTime
            self.duration = duration
            self.flags = flags
        }
    }

    /// Whether a decoder that was opened for `stream` reads what is new in this sample's format from the NAL units, so that it need not be
    /// opened anew for it.
    package func bringsParameterSets(to stream: VideoFormat) -> Bool {
        guard hasParameterSetsInBand, case .compressed(_, .video(let format)) = content, format.codec == stream.codec,
            let codec = NALCodec(format.codec)
        else { return false }
        return NALPackaging(configuration: format.configuration, codec: codec) == NALPackaging(configuration: stream.configuration, codec: codec)
    }

    /// Where the sample's bytes begin in the film that they were read from, in bytes, as libavformat counts them (`AVPacket.pos`). nil for other
    /// samples, and where the container does not tell.
    public var fileOffset: Int64? {
        if case .compressed(let block, _) = content { block.fileOffset } else { nil }
    }

    /// Compressed bytes; 0 for frames and markers.
    public var byteCount: Int {
        if case .compressed(let bytes, _) = content { bytes.count } else { 0 }
    }
}
