/// A handle of Vulkan's as a number: of an object (`VkImage`) or of what a pointer stands for (`VkDevice`, `VkCommandBuffer`).
public typealias VulkanHandle = UInt64

/// The renderer's device, by its handles, and what the renderer enabled on it, which Vulkan cannot be asked about.
///
/// Vulkan 1.1 is needed. Imports need all of `importExtensions`, fences that go along with frames need `VK_KHR_external_semaphore_fd`; enable
/// what there is of `wantedExtensions`.
///
/// Thread-safety: a value. The device outlives every cache made with it.
public struct VulkanDevice: Sendable, Hashable {
    public var instance: VulkanHandle
    public var physicalDevice: VulkanHandle
    public var device: VulkanHandle
    /// Of the queue that draws.
    public var queueFamily: UInt32
    /// The address of the loader's `vkGetInstanceProcAddr`.
    public var getInstanceProcAddr: VulkanHandle
    /// The device's enabled extensions, by name.
    public var extensions: Set<String>
    /// The feature `samplerYcbcrConversion` is enabled.
    public var hasYCbCrConversion: Bool

    public init(
        instance: VulkanHandle, physicalDevice: VulkanHandle, device: VulkanHandle, queueFamily: UInt32, getInstanceProcAddr: VulkanHandle,
        extensions: Set<String>, hasYCbCrConversion: Bool = false
    ) {
        self.instance = instance
        self.physicalDevice = physicalDevice
        self.device = device
        self.queueFamily = queueFamily
        self.getInstanceProcAddr = getInstanceProcAddr
        self.extensions = extensions
        self.hasYCbCrConversion = hasYCbCrConversion
    }

    /// Without these there are uploads only.
    public static let importExtensions: Set<String> = [
        "VK_KHR_external_memory_fd", "VK_EXT_external_memory_dma_buf", "VK_EXT_image_drm_format_modifier",
    ]
    /// All that a cache makes use of.
    public static let wantedExtensions = importExtensions.union([
        "VK_EXT_queue_family_foreign", "VK_KHR_external_semaphore_fd", "VK_KHR_image_format_list",
    ])
}
