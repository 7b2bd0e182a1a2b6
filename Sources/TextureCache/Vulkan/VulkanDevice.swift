/// A Vulkan handle as a number, dispatchable (`VkDevice`, `VkCommandBuffer`) or not (`VkImage`).
public typealias VulkanHandle = UInt64

/// The renderer's device: its handles, and what the renderer enabled on it, since Vulkan has no query for that.
///
/// Vulkan 1.1 is needed. Imports need all of `importExtensions`; fences that come with frames need `VK_KHR_external_semaphore_fd`. Enable
/// those of `wantedExtensions` that the device has.
///
/// Thread-safety: a value. The device outlives every cache made with it.
public struct VulkanDevice: Sendable, Hashable {
    /// The renderer's `VkInstance`.
    public var instance: VulkanHandle
    /// The `VkPhysicalDevice` that `device` was made of.
    public var physicalDevice: VulkanHandle
    /// The renderer's `VkDevice`.
    public var device: VulkanHandle
    /// The family of the queue that draws.
    public var queueFamily: UInt32
    /// The address of the loader's `vkGetInstanceProcAddr`.
    public var getInstanceProcAddr: VulkanHandle
    /// The device's enabled extensions, by name.
    public var extensions: Set<String>
    /// The feature `samplerYcbcrConversion` is enabled.
    public var hasYCbCrConversion: Bool

    /// Collects the renderer's handles; nothing is called. A cache checks them when it is made.
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

    /// The extensions that importing a DMA-BUF needs; without them every frame is uploaded.
    public static let importExtensions: Set<String> = [
        "VK_KHR_external_memory_fd", "VK_EXT_external_memory_dma_buf", "VK_EXT_image_drm_format_modifier",
    ]
    /// Every extension that a cache uses.
    public static let wantedExtensions = importExtensions.union([
        "VK_EXT_queue_family_foreign", "VK_KHR_external_semaphore_fd", "VK_KHR_image_format_list",
    ])
}
