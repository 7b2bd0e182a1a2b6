internal import CEGL
internal import FrameExport
public import Media
internal import SurfacePool

/// A frame as textures of the renderer's context: what to bind, and how to look at it.
///
/// Filters are linear, edges are clamped; the renderer may change that. The textures belong to the cache: they are valid while the frame is
/// held, and what has been drawn from them stays valid after that.
///
/// Thread-safety: for the thread on which the context is current.
@safe
public final class EGLTextures {
    /// One texture of a frame: its name in the context and what it holds.
    public struct Plane: Hashable, Sendable {
        /// The texture's name in OpenGL.
        public var name: UInt32
        /// What one texel holds; `.rgba8` for `TexturePath.image`.
        public var texel: TexelFormat
        /// In texels.
        public var size: PixelSize
    }

    /// How the pixels came to the device.
    public let path: TexturePath
    /// What to bind the textures to: `GL_TEXTURE_2D`, or `GL_TEXTURE_EXTERNAL_OES`.
    public let target: UInt32
    /// One of RGB for `TexturePath.image`; otherwise the planes of `pixelFormat` in their order (`gbrp`: green, blue, red).
    public let planes: [Plane]
    /// How the frame's pixels are stored, which says what the planes hold.
    public let pixelFormat: PixelFormat
    /// Where the visible frame lies in each of them. The first row of memory is at texture coordinate 0.
    public let crop: TextureCrop
    /// What samples of planes are multiplied by so that the greatest code value becomes 1.
    public let codeScale: Float
    /// How a shader converts the planes to RGB; nil for formats that are RGB, and where the driver converts (`TexturePath.image`).
    public let conversion: YCbCrConversion?
    let images: [EGLImageKHR]

    init(_ plan: TexturePlan, path: TexturePath, target: UInt32, planes: [Plane], images: [EGLImageKHR]) {
        self.path = path
        self.target = target
        self.planes = planes
        pixelFormat = plan.description.pixelFormat
        crop = plan.crop
        codeScale = path == .image ? 1 : plan.codeScale
        conversion = path == .image ? nil : YCbCrConversion(plan.description)
        unsafe self.images = images
    }
}
