public import CScanout
internal import FrameExport
internal import TextureCache

/// Records, in a VkCommandBuffer, the barriers and copies after which the frame's images can be read in `layout` (VkImageLayout).
@_cdecl("scanout_vulkan_cache_record_acquire")
public func scanout_vulkan_cache_record_acquire(
    _ cache: OpaquePointer?, _ frame: OpaquePointer?, _ commands: UnsafeMutableRawPointer?, _ layout: UInt32
) -> scanout_result {
    guard let commands = unsafe commands else { return SCANOUT_ERROR_ARGUMENT }
    let buffer = VulkanHandle(UInt(bitPattern: commands))
    return unsafe VulkanCacheHandle.use(cache, frame) { $0.recordAcquire($1, buffer, layout: layout) }
}

/// Records, in a VkCommandBuffer, the barriers that give the frame's images back from `layout` (VkImageLayout).
@_cdecl("scanout_vulkan_cache_record_release")
public func scanout_vulkan_cache_record_release(
    _ cache: OpaquePointer?, _ frame: OpaquePointer?, _ commands: UnsafeMutableRawPointer?, _ layout: UInt32
) -> scanout_result {
    guard let commands = unsafe commands else { return SCANOUT_ERROR_ARGUMENT }
    let buffer = VulkanHandle(UInt(bitPattern: commands))
    return unsafe VulkanCacheHandle.use(cache, frame) { $0.recordRelease($1, buffer, layout: layout) }
}

/// The VkSemaphore that the first submission that reads the frame waits for; 0: none is needed. Called once for each new frame.
///
/// Blocks until the frame is written when the device cannot make a semaphore of its fence.
@_cdecl("scanout_vulkan_cache_acquire_semaphore")
public func scanout_vulkan_cache_acquire_semaphore(_ cache: OpaquePointer?, _ frame: OpaquePointer?) -> UInt64 {
    guard let handle = unsafe VulkanCacheHandle.borrow(cache), let held = unsafe FrameHandle.borrow(frame) else { return 0 }
    let semaphore: VulkanHandle?? = held.withFrame { handle.cache.acquireSemaphore(for: $0) }
    return (semaphore ?? nil) ?? 0
}

/// A VkSemaphore for the last submission that reads the frame to signal; 0 when the device has none of the kind.
@_cdecl("scanout_vulkan_cache_release_semaphore")
public func scanout_vulkan_cache_release_semaphore(_ cache: OpaquePointer?) -> UInt64 {
    unsafe VulkanCacheHandle.borrow(cache)?.cache.releaseSemaphore() ?? 0
}

/// Takes the frame back and releases it when `semaphore` signals. Without one (0) it blocks until the VkFence `fence` has signalled.
///
/// Called after the submission. With neither, the frame is released at once.
@_cdecl("scanout_vulkan_cache_release")
public func scanout_vulkan_cache_release(_ cache: OpaquePointer?, _ frame: OpaquePointer?, _ semaphore: UInt64, _ fence: UInt64) {
    guard let held = unsafe FrameHandle.take(frame), let handle = unsafe VulkanCacheHandle.borrow(cache) else { return }
    switch held.takeFrame() {
    case .some(let frame):
        if semaphore != 0 {
            handle.cache.release(frame, signalledBy: semaphore)
        } else if fence != 0 {
            handle.cache.release(frame, waitingFor: fence)
        }
    case .none: break
    }
}

/// Copies the cache's counters to `statistics`, as far as the caller's struct has room.
@_cdecl("scanout_vulkan_cache_get_statistics")
public func scanout_vulkan_cache_get_statistics(
    _ cache: OpaquePointer?, _ statistics: UnsafeMutablePointer<scanout_texture_statistics>?
) -> scanout_result {
    guard let handle = unsafe VulkanCacheHandle.borrow(cache) else { return SCANOUT_ERROR_ARGUMENT }
    return unsafe CallerStruct.write(scanout_texture_statistics(handle.cache.statistics), to: statistics) ? SCANOUT_OK : SCANOUT_ERROR_ARGUMENT
}
