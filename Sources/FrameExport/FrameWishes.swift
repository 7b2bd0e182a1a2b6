public import Media
public import SurfacePool

/// What a client's device takes. Frames that are something else are converted, once for all clients of the film and its display; what that costs is
/// counted (`FrameStatistics.bytesCopied`) and told as a detail. What is left empty stays as the decoder makes it and costs nothing.
///
/// Several clients of a film get what all of them take; where they have nothing in common, what the first takes. A detail tells the others.
public struct FrameWishes: Sendable, Hashable {
    /// The pixel formats that the client takes; empty: any. A film in another one is converted to the one of these that keeps most of it.
    public var formats: Set<PixelFormat> = []
    /// The modifiers that it takes; empty: any. Conversions make linear frames only, so a film whose frames have a modifier that is not among these
    /// fails with a sentence where `.linear` is not either.
    public var modifiers: Set<FormatModifier> = []
    /// The visible size in pixels, before the frame is turned upright; nil: the film's. Frames of another one are scaled, and their pixel aspect
    /// keeps the shape of what is seen.
    public var size: PixelSize?
    /// Rows begin so many bytes apart, or a multiple of it: a power of two, at most 4096, for devices that import nothing else (256 on many). A wish:
    /// frames of hardware decoders and of cameras lie as their drivers have it, deinterlaced ones as without a wish. 1: no wish; rows are 64 bytes
    /// apart or a multiple of it anyway.
    public var rowAlignment = 1
    /// The device that imports the frames, by its render node; nil: not said. Frames that another device has laid out in a way of its own are
    /// converted. Linear ones are handed out as they are, whosever memory it is: whether a device reaches another's is for its driver to say.
    public var device: DeviceNumber?

    /// Wishes for nothing.
    public init() {}
}
