public import CPlayer
internal import FrameExport
internal import TextureCache

@_cdecl("player_vulkan_cache_record_acquire")
public func player_vulkan_cache_record_acquire(
    _ cache: OpaquePointer?, _ frame: OpaquePointer?, _ commands: UnsafeMutableRawPointer?, _ layout: UInt32
) -> player_result {
    guard let commands = unsafe commands else { return PLAYER_ERROR_ARGUMENT }
    let buffer = VulkanHandle(UInt(bitPattern: commands))
    return unsafe VulkanCacheHandle.use(cache, frame) { $0.recordAcquire($1, buffer, layout: layout) }
}

@_cdecl("player_vulkan_cache_record_release")
public func player_vulkan_cache_record_release(
    _ cache: OpaquePointer?, _ frame: OpaquePointer?, _ commands: UnsafeMutableRawPointer?, _ layout: UInt32
) -> player_result {
    guard let commands = unsafe commands else { return PLAYER_ERROR_ARGUMENT }
    let buffer = VulkanHandle(UInt(bitPattern: commands))
    return unsafe VulkanCacheHandle.use(cache, frame) { $0.recordRelease($1, buffer, layout: layout) }
}

@_cdecl("player_vulkan_cache_acquire_semaphore")
public func player_vulkan_cache_acquire_semaphore(_ cache: OpaquePointer?, _ frame: OpaquePointer?) -> UInt64 {
    guard let handle = unsafe VulkanCacheHandle.borrow(cache), let held = unsafe FrameHandle.borrow(frame) else { return 0 }
    let semaphore: VulkanHandle?? = held.withFrame { handle.cache.acquireSemaphore(for: $0) }
    return (semaphore ?? nil) ?? 0
}

@_cdecl("player_vulkan_cache_release_semaphore")
public func player_vulkan_cache_release_semaphore(_ cache: OpaquePointer?) -> UInt64 {
    unsafe VulkanCacheHandle.borrow(cache)?.cache.releaseSemaphore() ?? 0
}

@_cdecl("player_vulkan_cache_release")
public func player_vulkan_cache_release(_ cache: OpaquePointer?, _ frame: OpaquePointer?, _ semaphore: UInt64, _ fence: UInt64) {
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

@_cdecl("player_vulkan_cache_get_statistics")
public func player_vulkan_cache_get_statistics(
    _ cache: OpaquePointer?, _ statistics: UnsafeMutablePointer<player_texture_statistics>?
) -> player_result {
    guard let handle = unsafe VulkanCacheHandle.borrow(cache) else { return PLAYER_ERROR_ARGUMENT }
    return unsafe CallerStruct.write(player_texture_statistics(handle.cache.statistics), to: statistics) ? PLAYER_OK : PLAYER_ERROR_ARGUMENT
}
