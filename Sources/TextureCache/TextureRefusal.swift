internal import FrameExport
internal import Media
internal import SurfacePool

/// A way to import a layout that the driver listed and then refused. It is not tried again.
struct TextureRefusal: Hashable {
    private let path: TexturePath
    private let format: PixelFormat
    private let modifier: FormatModifier

    init(_ path: TexturePath, _ description: FrameDescription) {
        self.path = path
        format = description.pixelFormat
        modifier = description.modifier
    }
}

extension TextureCacheError {
    /// Frames of this layout have no planes that a texture could hold.
    init(noTexturesOf description: FrameDescription) {
        self.init(.unsupported, "Frames of \(description.pixelFormat.rawValue), \(description.layout.size) cannot be textures.")
    }

    /// None of the ways that the renderer allows can be gone.
    init(noWayFor description: FrameDescription) {
        self.init(
            .unsupported,
            description.isDMABuf
                ? "The device does not import \(description.pixelFormat.rawValue) with modifier \(description.modifier)."
                : "The frame is not a DMA-BUF, and uploads are not allowed.")
    }
}
