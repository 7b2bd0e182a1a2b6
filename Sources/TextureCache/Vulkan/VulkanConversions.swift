internal import CVulkan

/// The conversions to RGB that images of several planes are sampled with, one for each set of tags; they go with this object, after the images.
@safe
final class VulkanConversions {
    private let functions: VulkanFunctions
    private let device: VkDevice
    private var made: [VulkanYCbCr: VulkanHandle] = [:]

    init(_ functions: VulkanFunctions, _ device: VkDevice) {
        self.functions = functions
        unsafe self.device = unsafe device
    }

    deinit {
        for handle in made.values { unsafe functions.destroyConversion!(device, VulkanContext.pointer(handle), nil) }
    }

    /// Nil when the device makes none.
    func conversion(_ ycbcr: VulkanYCbCr) -> VulkanHandle? {
        if let known = made[ycbcr] { return known }
        var info = unsafe VkSamplerYcbcrConversionCreateInfo()
        unsafe info.sType = VK_STRUCTURE_TYPE_SAMPLER_YCBCR_CONVERSION_CREATE_INFO
        unsafe info.format = VkFormat(rawValue: ycbcr.format)
        unsafe info.ycbcrModel = VkSamplerYcbcrModelConversion(rawValue: ycbcr.model)
        unsafe info.ycbcrRange = VkSamplerYcbcrRange(rawValue: ycbcr.range)
        unsafe info.xChromaOffset = VkChromaLocation(rawValue: ycbcr.xChromaOffset)
        unsafe info.yChromaOffset = VkChromaLocation(rawValue: ycbcr.yChromaOffset)
        unsafe info.chromaFilter = ycbcr.filtersChroma ? VK_FILTER_LINEAR : VK_FILTER_NEAREST
        if ycbcr.swapsChroma {
            unsafe info.components.r = VK_COMPONENT_SWIZZLE_B
            unsafe info.components.b = VK_COMPONENT_SWIZZLE_R
        }
        var handle: VkSamplerYcbcrConversion?
        guard unsafe functions.createConversion!(device, &info, nil, &handle) == VK_SUCCESS else { return nil }
        made[ycbcr] = unsafe VulkanContext.handle(handle)
        return made[ycbcr]
    }
}
