internal import CVulkan
internal import Media
internal import SurfacePool

/// The renderer's Vulkan device: its functions, and what is queried once.
@safe
struct VulkanContext {
    let functions: VulkanFunctions
    let device: VkDevice
    let physicalDevice: VkPhysicalDevice
    let queueFamily: UInt32
    /// Who writes the memory that is imported.
    let foreignFamily: UInt32
    /// DMA-BUFs become images.
    let importsImages: Bool
    let hasYCbCrConversion: Bool
    /// Fences become semaphores, and semaphores fences.
    let importsFences, exportsFences: Bool
    let conversions: VulkanConversions
    private let memoryTypes: [VkMemoryType]

    init(_ handles: VulkanDevice) throws(TextureCacheError) {
        guard let instance = unsafe Self.pointer(handles.instance), let device = unsafe Self.pointer(handles.device),
            let physicalDevice = unsafe Self.pointer(handles.physicalDevice), let address = unsafe Self.pointer(handles.getInstanceProcAddr)
        else { throw TextureCacheError(.device, "A handle of the Vulkan device is 0.") }
        unsafe functions = try VulkanFunctions(unsafeBitCast(address, to: PFN_vkGetInstanceProcAddr.self), instance: instance, device: device)
        unsafe self.device = unsafe device
        unsafe conversions = VulkanConversions(functions, device)
        unsafe self.physicalDevice = unsafe physicalDevice
        queueFamily = handles.queueFamily
        foreignFamily = handles.extensions.contains("VK_EXT_queue_family_foreign") ? cvulkan_foreign : cvulkan_external
        importsImages = unsafe handles.extensions.isSuperset(of: VulkanDevice.importExtensions) && functions.memoryFdProperties != nil
        hasYCbCrConversion = unsafe handles.hasYCbCrConversion && functions.createConversion != nil && functions.destroyConversion != nil
        let use = unsafe cvulkan_sync_file_use(functions.semaphoreProperties, physicalDevice)
        let hasFences = handles.extensions.contains("VK_KHR_external_semaphore_fd")
        importsFences = unsafe hasFences && use & 1 != 0 && functions.importSemaphore != nil
        exportsFences = unsafe hasFences && use & 2 != 0 && functions.exportSemaphore != nil
        var memory = VkPhysicalDeviceMemoryProperties()
        unsafe functions.memoryProperties(physicalDevice, &memory)
        let count = Int(memory.memoryTypeCount)
        memoryTypes = unsafe withUnsafeBytes(of: &memory.memoryTypes) { unsafe Array($0.bindMemory(to: VkMemoryType.self).prefix(count)) }
    }

    static func pointer(_ handle: VulkanHandle) -> OpaquePointer? { unsafe OpaquePointer(bitPattern: UInt(handle)) }
    static func handle(_ pointer: OpaquePointer?) -> VulkanHandle { VulkanHandle(UInt(bitPattern: pointer)) }

    /// The first kind of memory among `bits` that has all of `wanted`.
    func memoryType(_ bits: UInt32, _ wanted: VkMemoryPropertyFlagBits...) -> UInt32? {
        let flags = wanted.reduce(UInt32(0)) { $0 | UInt32($1.rawValue) }
        return memoryTypes.indices.first { bits >> UInt32($0) & 1 != 0 && memoryTypes[$0].propertyFlags & flags == flags }.map { UInt32($0) }
    }

    /// What images in this layout can do; nil when the device does not know it.
    func features(_ format: VkFormat, _ modifier: FormatModifier) -> (flags: UInt32, planes: Int)? {
        var planes: UInt32 = 0
        let flags = unsafe cvulkan_modifier_features(functions.formatProperties, physicalDevice, format, modifier.rawValue, &planes)
        return flags == 0 ? nil : (flags, Int(planes))
    }

    /// Whether images of the driver's own layout can be sampled and copied to.
    func canUpload(_ format: VkFormat) -> Bool {
        var properties = unsafe VkFormatProperties2()
        unsafe properties.sType = VK_STRUCTURE_TYPE_FORMAT_PROPERTIES_2
        unsafe functions.formatProperties(physicalDevice, format, &properties)
        let wanted = UInt32(VK_FORMAT_FEATURE_SAMPLED_IMAGE_BIT.rawValue | VK_FORMAT_FEATURE_TRANSFER_DST_BIT.rawValue)
        return unsafe properties.formatProperties.optimalTilingFeatures & wanted == wanted
    }

    func view(_ image: VkImage, _ format: VkFormat, _ channels: [TexelChannel], conversion: VkSamplerYcbcrConversion?) -> VkImageView? {
        var mapping = VkComponentMapping()
        if channels.count == 4 {
            mapping = VkComponentMapping(r: channels[0].vulkan, g: channels[1].vulkan, b: channels[2].vulkan, a: channels[3].vulkan)
        }
        var view: VkImageView?
        return unsafe cvulkan_create_view(functions.createView, device, image, format, mapping, conversion, &view) == VK_SUCCESS ? view : nil
    }

    func semaphore(exports: Bool) -> VkSemaphore? {
        var semaphore: VkSemaphore?
        return unsafe cvulkan_create_semaphore(functions.createSemaphore, device, exports ? 1 : 0, &semaphore) == VK_SUCCESS ? semaphore : nil
    }

    func destroy(_ textures: VulkanTextures) {
        for plane in textures.planes {
            unsafe functions.destroyView(device, Self.pointer(plane.view), nil)
            unsafe functions.destroyImage(device, Self.pointer(plane.image), nil)
        }
        unsafe destroy(textures.memories)
        if let staging = textures.staging {
            unsafe functions.destroyBuffer(device, staging.buffer, nil)
            unsafe functions.free(device, staging.memory, nil)
        }
        if let semaphore = unsafe textures.semaphore { unsafe functions.destroySemaphore(device, semaphore, nil) }
    }

    func destroy(_ memories: [VkDeviceMemory]) {
        for index in unsafe memories.indices { unsafe functions.free(device, memories[index], nil) }
    }
}
