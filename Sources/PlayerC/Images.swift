public import CPlayer
internal import FrameExport
internal import TextureCache

/// Creates a cache that turns frames into images of the caller's VkDevice, which must outlive it.
///
/// The caller owns `*cache` and closes it with `player_vulkan_cache_close`. On failure `message` holds a sentence.
@_cdecl("player_vulkan_cache_new")
public func player_vulkan_cache_new(
    _ device: UnsafePointer<player_vulkan_device>?, _ options: UnsafePointer<player_texture_options>?,
    _ cache: UnsafeMutablePointer<OpaquePointer?>?, _ message: UnsafeMutablePointer<CChar>?, _ messageSize: Int
) -> player_result {
    unsafe cache?.pointee = nil
    guard let cache = unsafe cache, let described = unsafe CallerStruct.read(device, zero: player_vulkan_device()),
        let wishes = unsafe CallerStruct.read(options, zero: player_texture_options()), let vulkan = unsafe VulkanDevice(described)
    else {
        unsafe CallerText.write("player_vulkan_device or player_texture_options make no sense.", to: message, messageSize)
        return PLAYER_ERROR_ARGUMENT
    }
    do throws(TextureCacheError) {
        let handle = try VulkanCacheHandle(vulkan, wishes)
        unsafe cache.pointee = VulkanCacheHandle.give(handle)
        return PLAYER_OK
    } catch {
        unsafe CallerText.write(error.description, to: message, messageSize)
        return player_result(error)
    }
}

/// Destroys the images and releases the cache. The device must have finished everything that reads them. NULL is allowed.
@_cdecl("player_vulkan_cache_close")
public func player_vulkan_cache_close(_ cache: OpaquePointer?) { _ = unsafe VulkanCacheHandle.take(cache) }

/// Describes the images of a frame, importing its memory when the cache sees it first. One thread at a time.
@_cdecl("player_vulkan_cache_get")
public func player_vulkan_cache_get(
    _ cache: OpaquePointer?, _ frame: OpaquePointer?, _ info: UnsafeMutablePointer<player_image_info>?,
    _ message: UnsafeMutablePointer<CChar>?, _ messageSize: Int
) -> player_result {
    guard let handle = unsafe VulkanCacheHandle.borrow(cache), let held = unsafe FrameHandle.borrow(frame) else { return PLAYER_ERROR_ARGUMENT }
    do throws(TextureCacheError) {
        let found = try held.withFrame { frame throws(TextureCacheError) in player_image_info(try handle.cache.textures(for: frame)) }
        guard let found, unsafe CallerStruct.write(found, to: info) else { return PLAYER_ERROR_ARGUMENT }
        return PLAYER_OK
    } catch {
        unsafe CallerText.write(error.description, to: message, messageSize)
        return player_result(error)
    }
}
