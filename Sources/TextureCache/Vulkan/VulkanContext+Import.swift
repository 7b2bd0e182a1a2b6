internal import CVulkan
internal import FrameExport
internal import Glibc
internal import Media
internal import SurfacePool

/// DMA-BUFs as images (`VK_EXT_image_drm_format_modifier`, `VK_EXT_external_memory_dma_buf`).
extension VulkanContext {
    typealias Import = TextureImport<VulkanTextures>

    static let usage = UInt32(VK_IMAGE_USAGE_SAMPLED_BIT.rawValue | VK_IMAGE_USAGE_TRANSFER_SRC_BIT.rawValue)

    /// One image of all planes.
    func importImage(_ plan: TexturePlan, _ fd: Int32) -> Import {
        let layout = plan.description.layout
        guard hasYCbCrConversion, let format = VulkanYCbCr.format(layout.format), let features = knows(format, layout.modifier, plan.extent),
            features.planes == layout.planeCount, let ycbcr = VulkanYCbCr(plan.description, features: features.flags)
        else { return .unknown }
        guard let conversion = conversions.conversion(ycbcr) else { return .refused }
        let places = (0..<layout.planeCount).map { layout.plane($0) }
        guard let (image, memory) = unsafe image(format, plan.extent, places, layout.modifier, fd) else { return .refused }
        guard let view = unsafe view(image, format, [], conversion: Self.pointer(conversion)) else {
            unsafe functions.destroyImage(device, image, nil)
            unsafe functions.free(device, memory, nil)
            return .refused
        }
        let plane = unsafe VulkanTextures.Plane(
            image: Self.handle(image), view: Self.handle(view), format: UInt32(format.rawValue), texel: plan.planes[0].texel, size: plan.extent)
        return unsafe .textures(
            VulkanTextures(plan, path: .image, planes: [plane], memories: [memory], ycbcr: (ycbcr, conversion: conversion)))
    }

    /// An image for each plane, all of the same memory.
    func importPlanes(_ plan: TexturePlan, _ fd: Int32) -> Import {
        let layout = plan.description.layout
        guard layout.planeCount == plan.planes.count else { return .unknown }
        for plane in plan.planes {
            guard let features = knows(plane.texel.vulkan, layout.modifier, plane.size), features.planes == 1 else { return .unknown }
        }
        var planes: [VulkanTextures.Plane] = []
        var memories: [VkDeviceMemory] = unsafe []
        for (index, plane) in plan.planes.enumerated() {
            let format = plane.texel.vulkan
            guard let (image, memory) = unsafe image(format, plane.size, [layout.plane(index)], layout.modifier, fd) else { break }
            unsafe memories.append(memory)
            let view = unsafe view(image, format, plan.channels, conversion: nil)
            unsafe planes.append(
                VulkanTextures.Plane(
                    image: Self.handle(image), view: Self.handle(view), format: UInt32(format.rawValue), texel: plane.texel, size: plane.size))
        }
        let textures = unsafe VulkanTextures(plan, path: .planes, planes: planes, memories: memories)
        guard planes.count == plan.planes.count, planes.allSatisfy({ $0.view != 0 }) else {
            destroy(textures)
            return .refused
        }
        return .textures(textures)
    }

    private func knows(_ format: VkFormat, _ modifier: FormatModifier, _ size: PixelSize) -> (flags: UInt32, planes: Int)? {
        guard importsImages, modifier != .invalid, let features = features(format, modifier),
            features.flags & UInt32(VK_FORMAT_FEATURE_SAMPLED_IMAGE_BIT.rawValue) != 0,
            unsafe cvulkan_is_importable(
                functions.imageFormatProperties, physicalDevice, format, Self.usage, 0, modifier.rawValue, UInt32(size.width), UInt32(size.height))
                != 0
        else { return nil }
        return features
    }

    private func image(
        _ format: VkFormat, _ size: PixelSize, _ planes: [SurfaceLayout.Plane], _ modifier: FormatModifier, _ fd: Int32
    ) -> (VkImage, VkDeviceMemory)? {
        let places = planes.map {
            VkSubresourceLayout(offset: UInt64($0.offset), size: 0, rowPitch: UInt64($0.pitch), arrayPitch: 0, depthPitch: 0)
        }
        var made: VkImage?
        guard
            unsafe cvulkan_create_import(
                functions.createImage, device, format, Self.usage, UInt32(size.width), UInt32(size.height), modifier.rawValue, UInt32(places.count),
                places,
                &made) == VK_SUCCESS, let image = unsafe made
        else { return nil }
        var requirements = VkMemoryRequirements(), kinds = unsafe VkMemoryFdPropertiesKHR()
        unsafe kinds.sType = VK_STRUCTURE_TYPE_MEMORY_FD_PROPERTIES_KHR
        unsafe functions.imageRequirements(device, image, &requirements)
        let isKnown = unsafe functions.memoryFdProperties!(device, VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT, fd, &kinds) == VK_SUCCESS
        if isKnown, let type = memoryType(unsafe requirements.memoryTypeBits & kinds.memoryTypeBits) {
            // A successful import owns the descriptor.
            let copy = fcntl(fd, F_DUPFD_CLOEXEC, 0)
            var memory: VkDeviceMemory?
            if copy >= 0,
                unsafe cvulkan_import_memory(functions.allocate, device, image, copy, requirements.size, type, &memory) == VK_SUCCESS,
                let memory = unsafe memory
            {
                if unsafe functions.bindImage(device, image, memory, 0) == VK_SUCCESS { return unsafe (image, memory) }
                unsafe functions.free(device, memory, nil)
            } else if copy >= 0 {
                close(copy)
            }
        }
        unsafe functions.destroyImage(device, image, nil)
        return nil
    }
}
