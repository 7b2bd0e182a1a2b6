public import Media
public import SurfacePool

/// What an importer must know about a frame besides its descriptor: where the planes lie, what the bytes mean, and when to show it.
///
/// Thread-safety: a value.
public struct FrameDescription: Sendable, Hashable {
    /// Format, modifier and the place of every plane. `size` is what has memory, at least the coded frame.
    public var layout: SurfaceLayout
    /// The part meant to be seen, in pixels.
    public var visible: PixelRect
    /// Colours, HDR metadata, pixel aspect and rotation.
    public var attributes: FrameAttributes
    /// Whether it holds two fields, which a renderer may want to separate. Not known of another process's frames, which count as progressive.
    public var fieldOrder: FieldOrder
    /// When the frame is to be shown, in media time; `.invalid` when unknown.
    public var presentationTime: MediaTime
    /// `.invalid` when unknown.
    public var duration: MediaTime
    /// When the film's clock wants the frame to light up (CLOCK_MONOTONIC); nil while the film stands still and
    /// for one without a clock.
    public var hostTime: HostTime?
    /// Which memory it is. What an importer makes of it (an `EGLImage`, a `VkImage`) can be used for every later frame of the same identity.
    public var identity: SurfaceIdentity
    /// Counts the frames of one exporter or connection, from 0; gaps are frames that this client did not get.
    public var sequence: UInt64
    /// The seek that the frame follows, as `Player.seek(to:)` numbers them; 0 before the first, and for frames of another process.
    public var serial: UInt64
    /// HDR10+ of this frame (SMPTE ST 2094-40), as ITU-T T.35 carries it in the stream, from the country's code on. Nil: it has none, or comes from
    /// another process.
    public var hdr10Plus: [UInt8]?
    /// Dolby Vision's RPU of this frame, as its NAL unit or OBU carries it. Nil as `hdr10Plus`.
    public var dolbyVisionRPU: [UInt8]?
    /// The device whose memory the frame lies in, by its render node: a hardware decoder's. Nil for memory of the system, and where nobody knows.
    public var device: DeviceNumber?
    /// Where the memory comes from; nil for frames of another process, which does not say.
    public var memoryKind: SurfaceMemory.Kind?
    /// The descriptor is a DMA-BUF; otherwise a memfd that only the CPU can read.
    public var isDMABuf: Bool

    /// Makes a description, for frames that come from elsewhere than an exporter.
    public init(
        layout: SurfaceLayout, visible: PixelRect, attributes: FrameAttributes = FrameAttributes(), presentationTime: MediaTime = .invalid,
        duration: MediaTime = .invalid, hostTime: HostTime? = nil, identity: SurfaceIdentity, sequence: UInt64, isDMABuf: Bool,
        serial: UInt64 = 0, fieldOrder: FieldOrder = .progressive
    ) {
        self.layout = layout
        self.visible = visible
        self.attributes = attributes
        self.presentationTime = presentationTime
        self.duration = duration
        self.hostTime = hostTime
        self.identity = identity
        self.sequence = sequence
        self.isDMABuf = isDMABuf
        self.serial = serial
        self.fieldOrder = fieldOrder
    }

    /// How the pixels are stored: the layout's format.
    public var pixelFormat: PixelFormat { layout.format }
    /// The kernel's code (`drm_fourcc.h`); nil where it has none for this format.
    public var fourCC: FourCC? { layout.format.fourCC }
    /// How the device arranges the bytes: the layout's modifier.
    public var modifier: FormatModifier { layout.modifier }
}

/// One plane of a frame as an importer takes it (`EGL_DMA_BUF_PLANE0_FD_EXT`, `VkSubresourceLayout`).
public struct ExportedPlane: Sendable, Hashable {
    /// Lent by the frame: duplicate it to keep it. All planes of a frame share one.
    public var fd: Int32
    /// Bytes from the start of the memory.
    public var offset: Int
    /// Bytes from one row to the next.
    public var pitch: Int
}
