internal import CVulkan

/// The functions of the renderer's device; those of extensions that it did not enable are nil.
@safe
struct VulkanFunctions {
    let formatProperties: PFN_vkGetPhysicalDeviceFormatProperties2
    let imageFormatProperties: PFN_vkGetPhysicalDeviceImageFormatProperties2
    let memoryProperties: PFN_vkGetPhysicalDeviceMemoryProperties
    let semaphoreProperties: PFN_vkGetPhysicalDeviceExternalSemaphoreProperties
    let createImage: PFN_vkCreateImage
    let destroyImage: PFN_vkDestroyImage
    let imageRequirements: PFN_vkGetImageMemoryRequirements
    let bindImage: PFN_vkBindImageMemory
    let createView: PFN_vkCreateImageView
    let destroyView: PFN_vkDestroyImageView
    let createBuffer: PFN_vkCreateBuffer
    let destroyBuffer: PFN_vkDestroyBuffer
    let bufferRequirements: PFN_vkGetBufferMemoryRequirements
    let bindBuffer: PFN_vkBindBufferMemory
    let allocate: PFN_vkAllocateMemory
    let free: PFN_vkFreeMemory
    let map: PFN_vkMapMemory
    let createSemaphore: PFN_vkCreateSemaphore
    let destroySemaphore: PFN_vkDestroySemaphore
    let waitForFences: PFN_vkWaitForFences
    let waitIdle: PFN_vkDeviceWaitIdle
    let barrier: PFN_vkCmdPipelineBarrier
    let copyToImage: PFN_vkCmdCopyBufferToImage
    let createConversion: PFN_vkCreateSamplerYcbcrConversion?
    let destroyConversion: PFN_vkDestroySamplerYcbcrConversion?
    let memoryFdProperties: PFN_vkGetMemoryFdPropertiesKHR?
    let importSemaphore: PFN_vkImportSemaphoreFdKHR?
    let exportSemaphore: PFN_vkGetSemaphoreFdKHR?

    init(_ getInstanceProcAddr: PFN_vkGetInstanceProcAddr, instance: VkInstance, device: VkDevice) throws(TextureCacheError) {
        func find<T>(_ name: String, as type: T.Type) -> T? {
            guard let function = unsafe getInstanceProcAddr(instance, name) else { return nil }
            return unsafe unsafeBitCast(function, to: type)
        }
        func need<T>(_ name: String, as type: T.Type) throws(TextureCacheError) -> T {
            guard let function = find(name, as: type) else {
                throw TextureCacheError(.device, "The Vulkan instance does not know \(name); Vulkan 1.1 is needed.")
            }
            return function
        }
        let getDeviceProcAddr = unsafe try need("vkGetDeviceProcAddr", as: PFN_vkGetDeviceProcAddr.self)
        func findForDevice<T>(_ name: String, as type: T.Type) -> T? {
            guard let function = unsafe getDeviceProcAddr(device, name) else { return nil }
            return unsafe unsafeBitCast(function, to: type)
        }
        func needForDevice<T>(_ name: String, as type: T.Type) throws(TextureCacheError) -> T {
            guard let function = findForDevice(name, as: type) else {
                throw TextureCacheError(.device, "The Vulkan device does not know \(name); Vulkan 1.1 is needed.")
            }
            return function
        }
        unsafe formatProperties = try need("vkGetPhysicalDeviceFormatProperties2", as: PFN_vkGetPhysicalDeviceFormatProperties2.self)
        unsafe imageFormatProperties = try need("vkGetPhysicalDeviceImageFormatProperties2", as: PFN_vkGetPhysicalDeviceImageFormatProperties2.self)
        unsafe memoryProperties = try need("vkGetPhysicalDeviceMemoryProperties", as: PFN_vkGetPhysicalDeviceMemoryProperties.self)
        unsafe semaphoreProperties = try need(
            "vkGetPhysicalDeviceExternalSemaphoreProperties", as: PFN_vkGetPhysicalDeviceExternalSemaphoreProperties.self)
        unsafe createImage = try needForDevice("vkCreateImage", as: PFN_vkCreateImage.self)
        unsafe destroyImage = try needForDevice("vkDestroyImage", as: PFN_vkDestroyImage.self)
        unsafe imageRequirements = try needForDevice("vkGetImageMemoryRequirements", as: PFN_vkGetImageMemoryRequirements.self)
        unsafe bindImage = try needForDevice("vkBindImageMemory", as: PFN_vkBindImageMemory.self)
        unsafe createView = try needForDevice("vkCreateImageView", as: PFN_vkCreateImageView.self)
        unsafe destroyView = try needForDevice("vkDestroyImageView", as: PFN_vkDestroyImageView.self)
        unsafe createBuffer = try needForDevice("vkCreateBuffer", as: PFN_vkCreateBuffer.self)
        unsafe destroyBuffer = try needForDevice("vkDestroyBuffer", as: PFN_vkDestroyBuffer.self)
        unsafe bufferRequirements = try needForDevice("vkGetBufferMemoryRequirements", as: PFN_vkGetBufferMemoryRequirements.self)
        unsafe bindBuffer = try needForDevice("vkBindBufferMemory", as: PFN_vkBindBufferMemory.self)
        unsafe allocate = try needForDevice("vkAllocateMemory", as: PFN_vkAllocateMemory.self)
        unsafe free = try needForDevice("vkFreeMemory", as: PFN_vkFreeMemory.self)
        unsafe map = try needForDevice("vkMapMemory", as: PFN_vkMapMemory.self)
        unsafe createSemaphore = try needForDevice("vkCreateSemaphore", as: PFN_vkCreateSemaphore.self)
        unsafe destroySemaphore = try needForDevice("vkDestroySemaphore", as: PFN_vkDestroySemaphore.self)
        unsafe waitForFences = try needForDevice("vkWaitForFences", as: PFN_vkWaitForFences.self)
        unsafe waitIdle = try needForDevice("vkDeviceWaitIdle", as: PFN_vkDeviceWaitIdle.self)
        unsafe barrier = try needForDevice("vkCmdPipelineBarrier", as: PFN_vkCmdPipelineBarrier.self)
        unsafe copyToImage = try needForDevice("vkCmdCopyBufferToImage", as: PFN_vkCmdCopyBufferToImage.self)
        unsafe createConversion = findForDevice("vkCreateSamplerYcbcrConversion", as: PFN_vkCreateSamplerYcbcrConversion.self)
        unsafe destroyConversion = findForDevice("vkDestroySamplerYcbcrConversion", as: PFN_vkDestroySamplerYcbcrConversion.self)
        unsafe memoryFdProperties = findForDevice("vkGetMemoryFdPropertiesKHR", as: PFN_vkGetMemoryFdPropertiesKHR.self)
        unsafe importSemaphore = findForDevice("vkImportSemaphoreFdKHR", as: PFN_vkImportSemaphoreFdKHR.self)
        unsafe exportSemaphore = findForDevice("vkGetSemaphoreFdKHR", as: PFN_vkGetSemaphoreFdKHR.self)
    }
}
