internal import CVulkan
internal import FrameExport
internal import Media
internal import SurfacePool

/// What a sampler must know of a frame that is one image of several planes (`VkSamplerYcbcrConversionCreateInfo`), from the frame's tags.
///
/// Samplers of one conversion are part of a pipeline's layout: a renderer keeps a pipeline for each value that it meets.
public struct VulkanYCbCr: Sendable, Hashable {
    /// `VkFormat`.
    public var format: UInt32
    /// `VkSamplerYcbcrModelConversion`, `VkSamplerYcbcrRange`.
    public var model, range: UInt32
    /// `VkChromaLocation`, as near to the tags as the device can.
    public var xChromaOffset, yChromaOffset: UInt32
    /// Cb and Cr change places (`nv21`): component red is mapped to blue and blue to red.
    public var swapsChroma: Bool
    /// Chroma may be filtered linearly.
    public var filtersChroma: Bool

    /// Nil for formats that Vulkan has no image for.
    init?(_ frame: FrameDescription, features: UInt32) {
        guard let format = Self.format(frame.pixelFormat) else { return nil }
        self.format = UInt32(format.rawValue)
        swapsChroma = frame.pixelFormat == .nv21
        let color = frame.attributes.color.resolved(width: frame.visible.width, height: frame.visible.height)
        let isFull = color.range == .full || frame.pixelFormat.description.impliesFullRange
        let model =
            switch color.matrix {
            case 0: VK_SAMPLER_YCBCR_MODEL_CONVERSION_YCBCR_IDENTITY
            case 1: VK_SAMPLER_YCBCR_MODEL_CONVERSION_YCBCR_709
            case 9, 10: VK_SAMPLER_YCBCR_MODEL_CONVERSION_YCBCR_2020
            default: VK_SAMPLER_YCBCR_MODEL_CONVERSION_YCBCR_601
            }
        self.model = UInt32(model.rawValue)
        range = UInt32((isFull ? VK_SAMPLER_YCBCR_RANGE_ITU_FULL : VK_SAMPLER_YCBCR_RANGE_ITU_NARROW).rawValue)
        let canMidpoint = features & UInt32(VK_FORMAT_FEATURE_MIDPOINT_CHROMA_SAMPLES_BIT.rawValue) != 0
        let canCosite = features & UInt32(VK_FORMAT_FEATURE_COSITED_CHROMA_SAMPLES_BIT.rawValue) != 0
        func offset(isEven: Bool) -> UInt32 {
            let cosited = isEven ? canCosite || !canMidpoint : !canMidpoint
            return UInt32((cosited ? VK_CHROMA_LOCATION_COSITED_EVEN : VK_CHROMA_LOCATION_MIDPOINT).rawValue)
        }
        xChromaOffset = offset(isEven: [.left, .topLeft, .bottomLeft].contains(color.chromaSiting))
        yChromaOffset = offset(isEven: [.top, .topLeft].contains(color.chromaSiting))
        filtersChroma = features & UInt32(VK_FORMAT_FEATURE_SAMPLED_IMAGE_YCBCR_CONVERSION_LINEAR_FILTER_BIT.rawValue) != 0
    }

    static func format(_ format: PixelFormat) -> VkFormat? {
        switch format {
        case .nv12, .nv21: VK_FORMAT_G8_B8R8_2PLANE_420_UNORM
        case .nv16: VK_FORMAT_G8_B8R8_2PLANE_422_UNORM
        case .p010le: VK_FORMAT_G10X6_B10X6R10X6_2PLANE_420_UNORM_3PACK16
        case .p016le: VK_FORMAT_G16_B16R16_2PLANE_420_UNORM
        case .yuv420p, .yuvj420p: VK_FORMAT_G8_B8_R8_3PLANE_420_UNORM
        case .yuv422p, .yuvj422p: VK_FORMAT_G8_B8_R8_3PLANE_422_UNORM
        case .yuv444p, .yuvj444p: VK_FORMAT_G8_B8_R8_3PLANE_444_UNORM
        case .yuv420p16le: VK_FORMAT_G16_B16_R16_3PLANE_420_UNORM
        case .yuv422p16le: VK_FORMAT_G16_B16_R16_3PLANE_422_UNORM
        case .yuv444p16le: VK_FORMAT_G16_B16_R16_3PLANE_444_UNORM
        default: nil
        }
    }
}

extension TexelFormat {
    /// `VkFormat`.
    var vulkan: VkFormat {
        switch self {
        case .r8: VK_FORMAT_R8_UNORM
        case .rg8: VK_FORMAT_R8G8_UNORM
        case .r16: VK_FORMAT_R16_UNORM
        case .rg16: VK_FORMAT_R16G16_UNORM
        case .rgb8: VK_FORMAT_R8G8B8_UNORM
        case .rgba8: VK_FORMAT_R8G8B8A8_UNORM
        case .rgba16: VK_FORMAT_R16G16B16A16_UNORM
        case .rgb565: VK_FORMAT_R5G6B5_UNORM_PACK16
        }
    }
}

extension TexelChannel {
    var vulkan: VkComponentSwizzle {
        switch self {
        case .red: VK_COMPONENT_SWIZZLE_R
        case .green: VK_COMPONENT_SWIZZLE_G
        case .blue: VK_COMPONENT_SWIZZLE_B
        case .alpha: VK_COMPONENT_SWIZZLE_A
        case .one: VK_COMPONENT_SWIZZLE_ONE
        }
    }
}
