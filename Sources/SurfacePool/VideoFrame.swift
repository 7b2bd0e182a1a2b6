public import Media

/// A decoded frame with its time and the right to look at it.
///
/// Thread-safety: may be handed between threads; it exists once, `copy()` makes another with a use of its own.
public struct VideoFrame: ~Copyable, Sendable {
    /// What a display or a client must know about a frame.
    public struct Flags: OptionSet, Sendable, Hashable {
        /// The flags as bits.
        public let rawValue: UInt8
        /// Makes flags of bits; unknown bits are kept.
        public init(rawValue: UInt8) { self.rawValue = rawValue }
        /// Show it as soon as possible, whatever its time is.
        public static let displayImmediately = Flags(rawValue: 1)
        /// The decoder saw damage in it or in what it depends on.
        public static let corrupt = Flags(rawValue: 2)
        /// Decoding can start here.
        public static let sync = Flags(rawValue: 4)
        /// It holds two fields, which were taken one after the other: its odd and its even rows.
        public static let interlaced = Flags(rawValue: 8)
        /// Of two fields that of the upper row comes first.
        public static let topFieldFirst = Flags(rawValue: 16)
    }

    /// The right to read the frame's pixels. It ends with the frame.
    public let use: SurfaceUse
    /// The part of the surface meant to be seen, in pixels of the coded frame.
    public let visible: PixelRect
    /// Colours, HDR metadata, pixel aspect and orientation.
    public let attributes: FrameAttributes
    /// When the frame is to be shown, in media time.
    public var presentationTime: MediaTime
    /// `.invalid` when unknown.
    public var duration: MediaTime
    /// The presentation time as a count of `sourceTimeBase`, as the container wrote it; nil when it did not.
    public let sourceTimestamp: Int64?
    /// Seconds in a unit of `sourceTimestamp`.
    public let sourceTimeBase: Ratio
    /// What is special about the frame; empty for most.
    public var flags: Flags
    /// Counts the frames of a decoding session, from 0.
    public let sequence: UInt64
    /// The number of the sample that this frame answers, as the decoding session counts them; nil for one that answers none.
    public var sampleNumber: UInt64?
    /// What the program attached to that sample.
    public var attachments: Attachments

    /// Makes a frame of a surface that has been written. The frame takes over `use`; `visible` must lie inside the surface.
    public init(
        use: consuming SurfaceUse, visible: PixelRect, attributes: FrameAttributes = FrameAttributes(), presentationTime: MediaTime,
        duration: MediaTime = .invalid, sourceTimestamp: Int64? = nil, sourceTimeBase: Ratio = .unknown, flags: Flags = [],
        sequence: UInt64, sampleNumber: UInt64? = nil, attachments: Attachments = Attachments()
    ) {
        self.use = use
        self.visible = visible
        self.attributes = attributes
        self.presentationTime = presentationTime
        self.duration = duration
        self.sourceTimestamp = sourceTimestamp
        self.sourceTimeBase = sourceTimeBase
        self.flags = flags
        self.sequence = sequence
        self.sampleNumber = sampleNumber
        self.attachments = attachments
    }

    /// The memory that the frame lies in.
    public var surface: Surface { use.surface }
    /// How the pixels are stored: the format of the surface's layout.
    public var pixelFormat: PixelFormat { use.surface.layout.format }

    /// The same frame for another reader, with a use of its own.
    public borrowing func copy() -> VideoFrame { moved(to: use.another(), visible: visible) }

    /// The same frame in other memory, or with another place of its pixels there.
    /// - Parameters:
    ///   - use: The right to read that memory.
    ///   - attributes: Nil: as they are; so are `attachments` and `sequence`.
    package borrowing func moved(
        to use: consuming SurfaceUse, visible: PixelRect, attributes: FrameAttributes? = nil, attachments: Attachments? = nil,
        sequence: UInt64? = nil
    ) -> VideoFrame {
        VideoFrame(
            use: use, visible: visible, attributes: attributes ?? self.attributes, presentationTime: presentationTime, duration: duration,
            sourceTimestamp: sourceTimestamp, sourceTimeBase: sourceTimeBase, flags: flags, sequence: sequence ?? self.sequence,
            sampleNumber: sampleNumber, attachments: attachments ?? self.attachments)
    }

    /// Gives the frame another time. The container's own time stamp no longer applies and goes.
    package consuming func retimed(_ presentationTime: MediaTime, duration: MediaTime) -> VideoFrame {
        let (visible, attributes, flags, sequence) = (visible, attributes, flags, sequence)
        let (sampleNumber, attachments) = (sampleNumber, attachments)
        return VideoFrame(
            use: takeUse(), visible: visible, attributes: attributes, presentationTime: presentationTime, duration: duration, flags: flags,
            sequence: sequence, sampleNumber: sampleNumber, attachments: attachments)
    }

    /// Gives up everything but the right to read.
    public consuming func takeUse() -> SurfaceUse { use }
}

/// A frame in an object, to be kept in a collection or sent as an image sample. Its use ends with the object.
///
/// Thread-safety: all of it; immutable.
public final class SharedFrame: ImageBuffer {
    private let frame: VideoFrame

    /// Takes over the frame.
    public init(_ frame: consuming VideoFrame) { self.frame = frame }

    /// The size of the part meant to be seen, in pixels.
    public var visibleSize: PixelSize { frame.visible.size }
    /// How the pixels are stored.
    public var pixelFormat: PixelFormat { frame.pixelFormat }
    /// When the frame is to be shown, in media time.
    public var presentationTime: MediaTime { frame.presentationTime }
    /// `.invalid` when unknown.
    public var duration: MediaTime { frame.duration }
    /// What is special about the frame; empty for most.
    public var flags: VideoFrame.Flags { frame.flags }

    /// Another reader's copy of the frame.
    public func copy() -> VideoFrame { frame.copy() }
}
