import CVulkan
import FrameExport
import Media
import TestSupport
import TextureCache

/// A Vulkan device without a window, preferably a software one, that copies images back to the CPU.
@safe
final class SoftwareVulkan {
    let handles: VulkanDevice
    let name: String
    let device: VkDevice
    private let physicalDevice: VkPhysicalDevice
    private let queue: VkQueue
    private let pool: VkCommandPool
    let commands: VkCommandBuffer
    private let fence: VkFence

    struct Failure: Error { var what: String }

    /// One for the process: with the last instance the drivers are unloaded, and forget what they have allocated for themselves. 0: there is none.
    private static let instance: VulkanHandle = {
        var application = unsafe VkApplicationInfo()
        unsafe application.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO
        unsafe application.apiVersion = 1 << 22 | 1 << 12
        var instance: VkInstance?
        unsafe withUnsafePointer(to: &application) { application in
            var info = unsafe VkInstanceCreateInfo()
            unsafe info.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO
            unsafe info.pApplicationInfo = unsafe application
            _ = unsafe vkCreateInstance(&info, nil, &instance)
        }
        return VulkanHandle(UInt(bitPattern: instance))
    }()

    static func check(_ result: VkResult, _ what: String) throws {
        guard result == VK_SUCCESS else { throw Failure(what: "\(what): VkResult \(result.rawValue)") }
    }

    init() throws {
        guard let instance = unsafe OpaquePointer(bitPattern: UInt(Self.instance)) else { throw Failure(what: "no Vulkan instance") }
        var count: UInt32 = 0
        unsafe vkEnumeratePhysicalDevices(instance, &count, nil)
        var devices = unsafe [VkPhysicalDevice?](repeating: nil, count: Int(count))
        unsafe vkEnumeratePhysicalDevices(instance, &count, &devices)
        func properties(_ device: VkPhysicalDevice?) -> VkPhysicalDeviceProperties {
            var properties = VkPhysicalDeviceProperties()
            unsafe vkGetPhysicalDeviceProperties(device, &properties)
            return properties
        }
        let software = unsafe devices.first { unsafe properties($0).deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU } ?? devices.first ?? nil
        guard let physicalDevice = unsafe software else { throw Failure(what: "no Vulkan device") }
        var named = unsafe properties(physicalDevice).deviceName
        name = unsafe withUnsafeBytes(of: &named) { unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }

        var extensionCount: UInt32 = 0
        unsafe vkEnumerateDeviceExtensionProperties(physicalDevice, nil, &extensionCount, nil)
        var known = [VkExtensionProperties](repeating: VkExtensionProperties(), count: Int(extensionCount))
        unsafe vkEnumerateDeviceExtensionProperties(physicalDevice, nil, &extensionCount, &known)
        let offered = Set(
            known.map { one in
                var text = one.extensionName
                return unsafe withUnsafeBytes(of: &text) { unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
            })
        let extensions = VulkanDevice.wantedExtensions.intersection(offered)

        var conversion = unsafe VkPhysicalDeviceSamplerYcbcrConversionFeatures()
        unsafe conversion.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SAMPLER_YCBCR_CONVERSION_FEATURES
        var made: VkDevice?
        var names = unsafe extensions.map { unsafe UnsafePointer(Self.copy($0)) as UnsafePointer<CChar>? }
        defer { for index in unsafe names.indices { unsafe UnsafeMutablePointer(mutating: names[index])?.deallocate() } }
        try unsafe withUnsafeMutablePointer(to: &conversion) { conversion in
            var features = unsafe VkPhysicalDeviceFeatures2()
            unsafe features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2
            unsafe features.pNext = UnsafeMutableRawPointer(conversion)
            unsafe vkGetPhysicalDeviceFeatures2(physicalDevice, &features)
            let priority: [Float] = [1]
            try unsafe priority.withUnsafeBufferPointer { priority in
                var queue = unsafe VkDeviceQueueCreateInfo()
                unsafe queue.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO
                unsafe queue.queueCount = 1
                unsafe queue.pQueuePriorities = priority.baseAddress
                try unsafe withUnsafePointer(to: &queue) { queue in
                    try unsafe names.withUnsafeMutableBufferPointer { names in
                        var info = unsafe VkDeviceCreateInfo()
                        unsafe info.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO
                        unsafe info.pNext = UnsafeRawPointer(conversion)
                        unsafe info.queueCreateInfoCount = 1
                        unsafe info.pQueueCreateInfos = unsafe queue
                        unsafe info.enabledExtensionCount = UInt32(names.count)
                        unsafe info.ppEnabledExtensionNames = unsafe UnsafePointer(names.baseAddress)
                        try unsafe Self.check(vkCreateDevice(physicalDevice, &info, nil, &made), "make a device")
                    }
                }
            }
        }
        guard let device = unsafe made else { throw Failure(what: "no Vulkan device") }
        unsafe self.device = unsafe device
        unsafe self.physicalDevice = unsafe physicalDevice
        var queue: VkQueue?
        unsafe vkGetDeviceQueue(device, 0, 0, &queue)
        unsafe self.queue = unsafe queue!
        var poolInfo = unsafe VkCommandPoolCreateInfo()
        unsafe poolInfo.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO
        unsafe poolInfo.flags = UInt32(VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT.rawValue)
        var pool: VkCommandPool?
        try unsafe Self.check(vkCreateCommandPool(device, &poolInfo, nil, &pool), "make a command pool")
        unsafe self.pool = unsafe pool!
        var commandsInfo = unsafe VkCommandBufferAllocateInfo()
        unsafe commandsInfo.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO
        unsafe commandsInfo.commandPool = unsafe pool
        unsafe commandsInfo.commandBufferCount = 1
        var commands: VkCommandBuffer?
        try unsafe Self.check(vkAllocateCommandBuffers(device, &commandsInfo, &commands), "make a command buffer")
        unsafe self.commands = unsafe commands!
        var fenceInfo = unsafe VkFenceCreateInfo()
        unsafe fenceInfo.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO
        var fence: VkFence?
        try unsafe Self.check(vkCreateFence(device, &fenceInfo, nil, &fence), "make a fence")
        unsafe self.fence = unsafe fence!
        let loader = unsafe unsafeBitCast(vkGetInstanceProcAddr as PFN_vkGetInstanceProcAddr, to: UInt.self)
        handles = unsafe VulkanDevice(
            instance: Self.instance, physicalDevice: UInt64(UInt(bitPattern: physicalDevice)),
            device: UInt64(UInt(bitPattern: device)), queueFamily: 0, getInstanceProcAddr: UInt64(loader), extensions: extensions,
            hasYCbCrConversion: conversion.samplerYcbcrConversion != 0)
    }

    /// To be called when a test ends: until then the device exists, and with it what caches have made of it.
    func outlivesCaches() { withExtendedLifetime(self) {} }

    deinit {
        unsafe vkDeviceWaitIdle(device)
        unsafe vkDestroyFence(device, fence, nil)
        unsafe vkDestroyCommandPool(device, pool, nil)
        unsafe vkDestroyDevice(device, nil)
    }

    /// The bytes of the visible frame, as the frame's checksum counts it, copied from the images.
    func bytes(of held: HeldFrame, _ cache: VulkanTextureCache) throws -> (bytes: [UInt8], textures: VulkanTextures) {
        let visible = held.description.visible, textures = try held.textures(cache)
        let regions = Self.regions(textures, visible)
        let buffer = try Readback(self, size: regions.end)
        try perform(held, textures, cache, layout: VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL) {
            for region in regions.copies {
                var copy = region.copy
                unsafe vkCmdCopyImageToBuffer(
                    commands, OpaquePointer(bitPattern: UInt(region.image)), VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, buffer.buffer, 1, &copy)
            }
        }
        let all = buffer.bytes
        return (regions.copies.flatMap { all[Int($0.copy.bufferOffset)..<Int($0.copy.bufferOffset) + $0.length] }, textures)
    }

    /// A submission as a renderer's: the images are acquired, read in `layout` and given back, and the frame is released with what the submission
    /// signals. Waits for its end.
    func perform(
        _ held: HeldFrame, _ textures: VulkanTextures, _ cache: VulkanTextureCache, layout: VkImageLayout, _ record: () -> Void
    ) throws {
        let frame = try held.taken(), layout = UInt32(layout.rawValue)
        let wait = cache.acquireSemaphore(for: frame), signal = cache.releaseSemaphore()
        try submit(wait: wait, signal: signal) { commands in
            cache.recordAcquire(textures, commands, layout: layout)
            record()
            cache.recordRelease(textures, commands, layout: layout)
        }
        if let signal { cache.release(frame, signalledBy: signal) } else { cache.release(frame, waitingFor: unsafe handle(fence)) }
        var handle = unsafe Optional(fence)
        try unsafe Self.check(vkWaitForFences(device, 1, &handle, 1, 20_000_000_000), "wait for the device")
        unsafe vkResetFences(device, 1, &handle)
    }

    func handle(_ pointer: OpaquePointer) -> VulkanHandle { VulkanHandle(UInt(bitPattern: pointer)) }

    func memoryType(_ bits: UInt32) -> UInt32? {
        var memory = VkPhysicalDeviceMemoryProperties()
        unsafe vkGetPhysicalDeviceMemoryProperties(physicalDevice, &memory)
        let wanted = UInt32(VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT.rawValue | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT.rawValue)
        let types = unsafe withUnsafeBytes(of: &memory.memoryTypes) { unsafe Array($0.bindMemory(to: VkMemoryType.self)) }
        return (0..<Int(memory.memoryTypeCount)).first { bits >> UInt32($0) & 1 != 0 && types[$0].propertyFlags & wanted == wanted }.map {
            UInt32($0)
        }
    }

    private func submit(wait: VulkanHandle?, signal: VulkanHandle?, _ record: (VulkanHandle) -> Void) throws {
        var begin = unsafe VkCommandBufferBeginInfo()
        unsafe begin.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO
        try unsafe Self.check(vkBeginCommandBuffer(commands, &begin), "begin a command buffer")
        unsafe record(handle(commands))
        try unsafe Self.check(vkEndCommandBuffer(commands), "end a command buffer")
        let waits = unsafe [wait.flatMap { unsafe OpaquePointer(bitPattern: UInt($0)) }],
            signals = unsafe [signal.flatMap { unsafe OpaquePointer(bitPattern: UInt($0)) }]
        let stages = [UInt32(VK_PIPELINE_STAGE_ALL_COMMANDS_BIT.rawValue)]
        let buffers = unsafe [Optional(commands)]
        try unsafe waits.withUnsafeBufferPointer { waits in
            try unsafe signals.withUnsafeBufferPointer { signals in
                try unsafe stages.withUnsafeBufferPointer { stages in
                    try unsafe buffers.withUnsafeBufferPointer { buffers in
                        var info = unsafe VkSubmitInfo()
                        unsafe info.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO
                        unsafe info.waitSemaphoreCount = wait == nil ? 0 : 1
                        unsafe info.pWaitSemaphores = waits.baseAddress
                        unsafe info.pWaitDstStageMask = stages.baseAddress
                        unsafe info.commandBufferCount = 1
                        unsafe info.pCommandBuffers = buffers.baseAddress
                        unsafe info.signalSemaphoreCount = signal == nil ? 0 : 1
                        unsafe info.pSignalSemaphores = signals.baseAddress
                        try unsafe Self.check(vkQueueSubmit(queue, 1, &info, fence), "submit")
                    }
                }
            }
        }
    }

    private static func copy(_ text: String) -> UnsafeMutablePointer<CChar> {
        let bytes = text.utf8CString
        let copy = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count)
        for index in bytes.indices { unsafe copy[index] = bytes[index] }
        return unsafe copy
    }

    /// The visible part of every plane, each with a place in the buffer.
    private static func regions(_ textures: VulkanTextures, _ visible: PixelRect) -> (
        copies: [(image: VulkanHandle, length: Int, copy: VkBufferImageCopy)], end: Int
    ) {
        var copies: [(VulkanHandle, Int, VkBufferImageCopy)] = [], end = 0
        let facts = textures.pixelFormat.description.planes
        for (index, fact) in facts.enumerated() {
            func count(_ pixels: Int, _ shift: Int) -> Int { (pixels + (1 << shift) - 1) >> shift }
            let isWhole = textures.path == .image
            var copy = VkBufferImageCopy()
            copy.bufferOffset = UInt64(end)
            let aspect =
                isWhole ? [VK_IMAGE_ASPECT_PLANE_0_BIT, VK_IMAGE_ASPECT_PLANE_1_BIT, VK_IMAGE_ASPECT_PLANE_2_BIT][index] : VK_IMAGE_ASPECT_COLOR_BIT
            copy.imageSubresource = VkImageSubresourceLayers(aspectMask: UInt32(aspect.rawValue), mipLevel: 0, baseArrayLayer: 0, layerCount: 1)
            copy.imageOffset = VkOffset3D(x: Int32(count(visible.x, fact.horizontalShift)), y: Int32(visible.y >> fact.verticalShift), z: 0)
            copy.imageExtent = VkExtent3D(
                width: UInt32(count(visible.width, fact.horizontalShift)), height: UInt32(count(visible.height, fact.verticalShift)), depth: 1)
            let length = fact.rowBytes(width: visible.width) * fact.rows(height: visible.height)
            copies.append((textures.planes[isWhole ? 0 : index].image, length, copy))
            // A copy starts at a whole texel: 48 is a multiple of them all.
            end += (length + 47) / 48 * 48
        }
        return (copies, end)
    }
}

/// Memory that the device writes and the CPU reads.
@safe
final class Readback {
    let buffer: VkBuffer
    private let memory: VkDeviceMemory
    private let base: UnsafeMutableRawPointer
    private let size: Int
    private let vulkan: SoftwareVulkan

    init(_ vulkan: SoftwareVulkan, size: Int) throws {
        self.vulkan = vulkan
        self.size = size
        var info = unsafe VkBufferCreateInfo()
        unsafe info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO
        unsafe info.size = UInt64(size)
        unsafe info.usage = UInt32(VK_BUFFER_USAGE_TRANSFER_DST_BIT.rawValue | VK_BUFFER_USAGE_STORAGE_BUFFER_BIT.rawValue)
        var buffer: VkBuffer?, memory: VkDeviceMemory?, base: UnsafeMutableRawPointer?
        try unsafe SoftwareVulkan.check(vkCreateBuffer(vulkan.device, &info, nil, &buffer), "make a buffer")
        var requirements = VkMemoryRequirements()
        unsafe vkGetBufferMemoryRequirements(vulkan.device, buffer, &requirements)
        var allocation = unsafe VkMemoryAllocateInfo()
        unsafe allocation.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO
        unsafe allocation.allocationSize = requirements.size
        unsafe allocation.memoryTypeIndex = vulkan.memoryType(requirements.memoryTypeBits) ?? 0
        try unsafe SoftwareVulkan.check(vkAllocateMemory(vulkan.device, &allocation, nil, &memory), "allocate memory")
        try unsafe SoftwareVulkan.check(vkBindBufferMemory(vulkan.device, buffer, memory, 0), "bind memory")
        try unsafe SoftwareVulkan.check(vkMapMemory(vulkan.device, memory, 0, cvulkan_whole_size, 0, &base), "map memory")
        unsafe self.buffer = unsafe buffer!
        unsafe self.memory = unsafe memory!
        unsafe self.base = unsafe base!
    }

    deinit {
        unsafe vkDestroyBuffer(vulkan.device, buffer, nil)
        unsafe vkFreeMemory(vulkan.device, memory, nil)
    }

    var bytes: [UInt8] { unsafe Array(UnsafeRawBufferPointer(start: base, count: size)) }
}
