/// How a frame's pixels came to the device.
public enum TexturePath: String, Sendable, Hashable, CaseIterable {
    /// The frame's memory itself, as one image that the driver converts to RGB when it is sampled.
    case image
    /// The frame's memory itself, an image for each plane.
    case planes
    /// A copy, because the memory is not a DMA-BUF or the device does not take it.
    case upload
}

/// What a cache has done; counted, never estimated.
public struct TextureCacheStatistics: Sendable, Hashable {
    /// Surfaces whose memory was imported.
    public var imported = 0
    /// Frames that were shown from an import made before.
    public var reused = 0
    /// Frames copied to the device.
    public var uploaded = 0
    /// Pixel bytes copied by uploads; 0 where every frame was imported.
    public var bytesCopied = 0
    /// Surfaces whose textures were dropped.
    public var dropped = 0
    /// Imports that the driver refused although it lists the format.
    public var refused = 0

    /// Begins with every count at 0.
    public init() {}
}
