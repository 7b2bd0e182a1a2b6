internal import CVulkan
internal import FrameExport
internal import Media
internal import SurfacePool

/// Images of our own, filled through a buffer from memory that the device does not take.
extension VulkanContext {
    func makeUploadTextures(_ plan: TexturePlan) throws(TextureCacheError) -> VulkanTextures {
        let name = plan.description.pixelFormat.rawValue
        guard plan.planes.allSatisfy({ canUpload($0.texel.vulkan) }) else {
            throw TextureCacheError(.unsupported, "The Vulkan device samples no images as \(name) needs them.")
        }
        var planes: [VulkanTextures.Plane] = []
        var memories: [VkDeviceMemory] = unsafe []
        for plane in plan.planes {
            guard let (image, memory) = unsafe image(plane) else { break }
            unsafe memories.append(memory)
            let view = unsafe view(image, plane.texel.vulkan, plan.channels, conversion: nil)
            unsafe planes.append(
                VulkanTextures.Plane(
                    image: Self.handle(image), view: Self.handle(view), format: UInt32(plane.texel.vulkan.rawValue), texel: plane.texel,
                    size: plane.size))
        }
        let textures = unsafe VulkanTextures(plan, path: .upload, planes: planes, memories: memories, staging: staging(plan))
        guard textures.staging != nil, planes.count == plan.planes.count, planes.allSatisfy({ $0.view != 0 }) else {
            destroy(textures)
            throw TextureCacheError(.failed, "Vulkan makes no images for \(name), \(plan.extent).")
        }
        return textures
    }

    /// Copies every plane's rows into the buffer. The caller has made sure that the device has read what was in it.
    func upload(_ plan: TexturePlan, _ memory: UnsafeRawBufferPointer, to textures: VulkanTextures) {
        guard let staging = textures.staging else { return }
        for (plane, start) in zip(plan.planes, staging.offsets) {
            let length = plane.size.width * plane.texel.byteCount
            for row in 0..<plane.size.height {
                unsafe (staging.base + start + row * length).copyMemory(
                    from: memory.baseAddress! + plane.offset + row * plane.pitch, byteCount: length)
            }
        }
        textures.isPending = true
    }

    /// Has the device move the buffer into the images and leaves them in `layout`.
    func recordUpload(_ textures: VulkanTextures, _ commands: VkCommandBuffer, _ layout: VkImageLayout) {
        guard let staging = textures.staging else { return }
        let write = UInt32(VK_ACCESS_TRANSFER_WRITE_BIT.rawValue), read = UInt32(VK_ACCESS_MEMORY_READ_BIT.rawValue)
        let all = UInt32(VK_PIPELINE_STAGE_ALL_COMMANDS_BIT.rawValue), transfer = UInt32(VK_PIPELINE_STAGE_TRANSFER_BIT.rawValue)
        for (plane, start) in zip(textures.planes, staging.offsets) {
            let image = unsafe Self.pointer(plane.image)
            unsafe cvulkan_pass(
                functions.barrier, commands, image, all, transfer, 0, write, VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
                cvulkan_ignored, cvulkan_ignored)
            var region = VkBufferImageCopy()
            region.bufferOffset = UInt64(start)
            region.imageSubresource = VkImageSubresourceLayers(
                aspectMask: UInt32(VK_IMAGE_ASPECT_COLOR_BIT.rawValue), mipLevel: 0, baseArrayLayer: 0, layerCount: 1)
            region.imageExtent = VkExtent3D(width: UInt32(plane.size.width), height: UInt32(plane.size.height), depth: 1)
            unsafe functions.copyToImage(commands, staging.buffer, image, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 1, &region)
            unsafe cvulkan_pass(
                functions.barrier, commands, image, transfer, all, write, read, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, layout, cvulkan_ignored,
                cvulkan_ignored)
        }
        textures.isPending = false
    }

    private func image(_ plane: TexturePlane) -> (VkImage, VkDeviceMemory)? {
        var info = unsafe VkImageCreateInfo()
        unsafe info.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO
        unsafe info.imageType = VK_IMAGE_TYPE_2D
        unsafe info.format = plane.texel.vulkan
        unsafe info.extent = VkExtent3D(width: UInt32(plane.size.width), height: UInt32(plane.size.height), depth: 1)
        unsafe info.mipLevels = 1
        unsafe info.arrayLayers = 1
        unsafe info.samples = VK_SAMPLE_COUNT_1_BIT
        unsafe info.tiling = VK_IMAGE_TILING_OPTIMAL
        unsafe info.usage = Self.usage | UInt32(VK_IMAGE_USAGE_TRANSFER_DST_BIT.rawValue)
        unsafe info.sharingMode = VK_SHARING_MODE_EXCLUSIVE
        unsafe info.initialLayout = VK_IMAGE_LAYOUT_UNDEFINED
        var made: VkImage?
        guard unsafe functions.createImage(device, &info, nil, &made) == VK_SUCCESS, let image = unsafe made else { return nil }
        var requirements = VkMemoryRequirements()
        unsafe functions.imageRequirements(device, image, &requirements)
        let type = memoryType(requirements.memoryTypeBits, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT) ?? memoryType(requirements.memoryTypeBits)
        if let type, let memory = unsafe allocate(requirements.size, type) {
            if unsafe functions.bindImage(device, image, memory, 0) == VK_SUCCESS { return unsafe (image, memory) }
            unsafe functions.free(device, memory, nil)
        }
        unsafe functions.destroyImage(device, image, nil)
        return nil
    }

    private func staging(_ plan: TexturePlan) -> VulkanStaging? {
        var offsets: [Int] = [], end = 0
        for plane in plan.planes {
            offsets.append(end)
            // A copy starts at a whole texel, and at 4 bytes on some queues.
            end = (end + plane.size.width * plane.size.height * plane.texel.byteCount + 47) / 48 * 48
        }
        var info = unsafe VkBufferCreateInfo()
        unsafe info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO
        unsafe info.size = UInt64(end)
        unsafe info.usage = UInt32(VK_BUFFER_USAGE_TRANSFER_SRC_BIT.rawValue)
        var made: VkBuffer?
        guard unsafe functions.createBuffer(device, &info, nil, &made) == VK_SUCCESS, let buffer = unsafe made else { return nil }
        var requirements = VkMemoryRequirements()
        unsafe functions.bufferRequirements(device, buffer, &requirements)
        if let type = memoryType(requirements.memoryTypeBits, VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT, VK_MEMORY_PROPERTY_HOST_COHERENT_BIT),
            let memory = unsafe allocate(requirements.size, type)
        {
            var base: UnsafeMutableRawPointer?
            if unsafe functions.bindBuffer(device, buffer, memory, 0) == VK_SUCCESS,
                unsafe functions.map(device, memory, 0, cvulkan_whole_size, 0, &base) == VK_SUCCESS, let base = unsafe base
            {
                return unsafe VulkanStaging(buffer: buffer, memory: memory, base: base, offsets: offsets)
            }
            unsafe functions.free(device, memory, nil)
        }
        unsafe functions.destroyBuffer(device, buffer, nil)
        return nil
    }

    private func allocate(_ size: UInt64, _ type: UInt32) -> VkDeviceMemory? {
        var info = unsafe VkMemoryAllocateInfo()
        unsafe info.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO
        unsafe info.allocationSize = size
        unsafe info.memoryTypeIndex = type
        var memory: VkDeviceMemory?
        return unsafe functions.allocate(device, &info, nil, &memory) == VK_SUCCESS ? memory : nil
    }
}
