internal import CVulkan
internal import FrameExport
public import Media

/// A frame as images of the renderer's device: what to put in descriptors, and how to look at it.
///
/// The images belong to the cache: they are valid until the frame has been released and what reads them has ended.
///
/// Thread-safety: as the cache's.
@safe
public final class VulkanTextures {
    /// One image of a frame, with the view to sample it through.
    public struct Plane: Hashable, Sendable {
        /// `VkImage`, `VkImageView`.
        public var image, view: VulkanHandle
        /// `VkFormat`.
        public var format: UInt32
        /// What one texel holds; for `TexturePath.image`, a texel of the first plane.
        public var texel: TexelFormat
        /// In texels.
        public var size: PixelSize
    }

    /// How the pixels came to the device.
    public let path: TexturePath
    /// One for `TexturePath.image`; otherwise the planes of `pixelFormat` in their order (`gbrp`: green, blue, red).
    public let planes: [Plane]
    /// How the frame's pixels are stored, which says what the planes hold.
    public let pixelFormat: PixelFormat
    /// Where the visible frame lies in each of them.
    public let crop: TextureCrop
    /// What samples of planes are multiplied by so that the greatest code value becomes 1.
    public let codeScale: Float
    /// How a shader converts the planes to RGB; nil for formats that are RGB, and for `TexturePath.image`.
    public let conversion: YCbCrConversion?
    /// For one image of several planes: what its sampler is made with, and the view's `VkSamplerYcbcrConversion`; nil otherwise.
    public let ycbcr: (VulkanYCbCr, conversion: VulkanHandle)?

    let memories: [VkDeviceMemory]
    /// Holds the bytes of an upload between the frame and the images.
    let staging: VulkanStaging?
    /// Its images have been used by the device, so that their contents count.
    var isTransitioned = false
    /// The staging buffer holds a frame that the images do not have yet.
    var isPending = false
    /// Waits for the decoder; made when first needed. One is enough: the memory is not written again before the release.
    var semaphore: VkSemaphore?

    init(
        _ plan: TexturePlan, path: TexturePath, planes: [Plane], memories: [VkDeviceMemory], staging: VulkanStaging? = nil,
        ycbcr: (VulkanYCbCr, conversion: VulkanHandle)? = nil
    ) {
        self.path = path
        self.planes = planes
        pixelFormat = plan.description.pixelFormat
        crop = plan.crop
        codeScale = path == .image ? 1 : plan.codeScale
        conversion = path == .image ? nil : YCbCrConversion(plan.description)
        self.ycbcr = ycbcr
        unsafe self.memories = memories
        self.staging = staging
        unsafe semaphore = nil
    }
}

/// A buffer that the CPU writes and the device copies from: every plane's rows without padding.
@safe
struct VulkanStaging {
    let buffer: VkBuffer
    let memory: VkDeviceMemory
    let base: UnsafeMutableRawPointer
    /// Where each plane begins.
    let offsets: [Int]
}
