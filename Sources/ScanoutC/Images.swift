public import CScanout
internal import FrameExport
internal import TextureCache

/// Creates a cache that turns frames into images of the caller's VkDevice, which must outlive it.
///
/// The caller owns `*cache` and closes it with `scanout_vulkan_cache_close`. On failure `message` holds a sentence.
@_cdecl("scanout_vulkan_cache_new")
public func scanout_vulkan_cache_new(
    _ device: UnsafePointer<scanout_vulkan_device>?, _ options: UnsafePointer<scanout_texture_options>?,
    _ cache: UnsafeMutablePointer<OpaquePointer?>?, _ message: UnsafeMutablePointer<CChar>?, _ messageSize: Int
) -> scanout_result {
    unsafe cache?.pointee = nil
    guard let cache = unsafe cache, let described = unsafe CallerStruct.read(device, zero: scanout_vulkan_device()),
        let wishes = unsafe CallerStruct.read(options, zero: scanout_texture_options()), let vulkan = unsafe VulkanDevice(described)
    else {
        unsafe CallerText.write("scanout_vulkan_device or scanout_texture_options make no sense.", to: message, messageSize)
        return SCANOUT_ERROR_ARGUMENT
    }
    do throws(TextureCacheError) {
        let handle = try VulkanCacheHandle(vulkan, wishes)
        unsafe cache.pointee = VulkanCacheHandle.give(handle)
        return SCANOUT_OK
    } catch {
        unsafe CallerText.write(error.description, to: message, messageSize)
        return scanout_result(error)
    }
}

/// Destroys the images and releases the cache. The device must have finished everything that reads them. NULL is allowed.
@_cdecl("scanout_vulkan_cache_close")
public func scanout_vulkan_cache_close(_ cache: OpaquePointer?) { _ = unsafe VulkanCacheHandle.take(cache) }

/// Describes the images of a frame, importing its memory when the cache sees it first. One thread at a time.
@_cdecl("scanout_vulkan_cache_get")
public func scanout_vulkan_cache_get(
    _ cache: OpaquePointer?, _ frame: OpaquePointer?, _ info: UnsafeMutablePointer<scanout_image_info>?,
    _ message: UnsafeMutablePointer<CChar>?, _ messageSize: Int
) -> scanout_result {
    guard let handle = unsafe VulkanCacheHandle.borrow(cache), let held = unsafe FrameHandle.borrow(frame) else { return SCANOUT_ERROR_ARGUMENT }
    do throws(TextureCacheError) {
        let found = try held.withFrame { frame throws(TextureCacheError) in scanout_image_info(try handle.cache.textures(for: frame)) }
        guard let found, unsafe CallerStruct.write(found, to: info) else { return SCANOUT_ERROR_ARGUMENT }
        return SCANOUT_OK
    } catch {
        unsafe CallerText.write(error.description, to: message, messageSize)
        return scanout_result(error)
    }
}
