internal import CScanout
internal import FrameExport
internal import TextureCache

/// What `scanout_vulkan_cache *` points to. The header requires that one thread uses it at a time.
final class VulkanCacheHandle: Handle, @unchecked Sendable {
    let cache: VulkanTextureCache

    init(_ device: VulkanDevice, _ options: scanout_texture_options) throws(TextureCacheError) {
        cache = try VulkanTextureCache(device, paths: options.paths, limit: options.limit == 0 ? 64 : Int(min(options.limit, 1024)))
    }

    /// Calls `body` with the images of the program's frame; SCANOUT_ERROR_ARGUMENT when a handle is NULL or the frame was taken out.
    static func use(
        _ cache: OpaquePointer?, _ frame: OpaquePointer?, _ body: (VulkanTextureCache, VulkanTextures) -> Void
    ) -> scanout_result {
        guard let handle = unsafe borrow(cache), let held = unsafe FrameHandle.borrow(frame) else { return SCANOUT_ERROR_ARGUMENT }
        do throws(TextureCacheError) {
            // The cache returns the images that it made for `scanout_vulkan_cache_get`; nothing is made twice.
            let isDone: Bool? = try held.withFrame { frame throws(TextureCacheError) in
                body(handle.cache, try handle.cache.textures(for: frame))
                return true
            }
            return isDone == true ? SCANOUT_OK : SCANOUT_ERROR_ARGUMENT
        } catch { return scanout_result(error) }
    }
}

extension VulkanDevice {
    /// Nil when something is missing. 1024: more extensions than there are.
    init?(_ device: scanout_vulkan_device) {
        guard let instance = unsafe device.instance, let physical = unsafe device.physical_device, let logical = unsafe device.device,
            let entry = unsafe device.get_instance_proc_addr, unsafe device.extension_count <= 1024
        else { return nil }
        var extensions: Set<String> = []
        let count = unsafe Int(device.extension_count)
        if count > 0 {
            guard let names = unsafe device.extensions else { return nil }
            for index in 0..<count {
                guard let name = unsafe names[index] else { return nil }
                extensions.insert(unsafe String(cString: name))
            }
        }
        func number(_ pointer: UnsafeMutableRawPointer) -> VulkanHandle { VulkanHandle(UInt(bitPattern: pointer)) }
        self.init(
            instance: unsafe number(instance), physicalDevice: unsafe number(physical), device: unsafe number(logical),
            queueFamily: unsafe device.queue_family,
            getInstanceProcAddr: unsafe VulkanHandle(UInt(bitPattern: unsafeBitCast(entry, to: UnsafeRawPointer.self))), extensions: extensions,
            hasYCbCrConversion: unsafe device.has_ycbcr_conversion != 0)
    }
}
