public import CScanout
internal import FrameExport
internal import TextureCache

/// Creates a cache that turns frames into textures of the caller's current EGL context.
///
/// SCANOUT_ERROR_DEVICE when there is no EGL, no current context, or a context that is too old; `message` then holds a sentence. The caller owns
/// `*cache` and closes it with `scanout_egl_cache_close`.
@_cdecl("scanout_egl_cache_new")
public func scanout_egl_cache_new(
    _ options: UnsafePointer<scanout_texture_options>?, _ cache: UnsafeMutablePointer<OpaquePointer?>?, _ message: UnsafeMutablePointer<CChar>?,
    _ messageSize: Int
) -> scanout_result {
    unsafe cache?.pointee = nil
    guard let cache = unsafe cache, let wishes = unsafe CallerStruct.read(options, zero: scanout_texture_options()) else {
        unsafe CallerText.write("The size in scanout_texture_options makes no sense.", to: message, messageSize)
        return SCANOUT_ERROR_ARGUMENT
    }
    do throws(TextureCacheError) {
        let handle = try EGLCacheHandle(wishes)
        unsafe cache.pointee = EGLCacheHandle.give(handle)
        return SCANOUT_OK
    } catch {
        unsafe CallerText.write(error.description, to: message, messageSize)
        return scanout_result(error)
    }
}

/// Deletes the textures and releases the cache, on the thread on which its context is current. NULL is allowed.
@_cdecl("scanout_egl_cache_close")
public func scanout_egl_cache_close(_ cache: OpaquePointer?) { _ = unsafe EGLCacheHandle.take(cache) }

/// Describes the textures of a frame, importing its memory when the cache sees it first. The textures are valid while the frame is held.
///
/// Called on the thread on which the context is current.
@_cdecl("scanout_egl_cache_get")
public func scanout_egl_cache_get(
    _ cache: OpaquePointer?, _ frame: OpaquePointer?, _ info: UnsafeMutablePointer<scanout_texture_info>?,
    _ message: UnsafeMutablePointer<CChar>?, _ messageSize: Int
) -> scanout_result {
    guard let handle = unsafe EGLCacheHandle.borrow(cache), let held = unsafe FrameHandle.borrow(frame) else { return SCANOUT_ERROR_ARGUMENT }
    do throws(TextureCacheError) {
        let found = try held.withFrame { frame throws(TextureCacheError) in scanout_texture_info(try handle.cache.textures(for: frame)) }
        guard let found, unsafe CallerStruct.write(found, to: info) else { return SCANOUT_ERROR_ARGUMENT }
        return SCANOUT_OK
    } catch {
        unsafe CallerText.write(error.description, to: message, messageSize)
        return scanout_result(error)
    }
}

/// Takes the frame back, and releases it when the device has carried out the commands that the context has been given so far.
@_cdecl("scanout_egl_cache_release")
public func scanout_egl_cache_release(_ cache: OpaquePointer?, _ frame: OpaquePointer?) {
    guard let held = unsafe FrameHandle.take(frame), let handle = unsafe EGLCacheHandle.borrow(cache) else { return }
    switch held.takeFrame() {
    case .some(let frame): handle.cache.release(frame)
    case .none: break
    }
}

/// Copies the cache's counters to `statistics`, as far as the caller's struct has room.
@_cdecl("scanout_egl_cache_get_statistics")
public func scanout_egl_cache_get_statistics(
    _ cache: OpaquePointer?, _ statistics: UnsafeMutablePointer<scanout_texture_statistics>?
) -> scanout_result {
    guard let handle = unsafe EGLCacheHandle.borrow(cache) else { return SCANOUT_ERROR_ARGUMENT }
    return unsafe CallerStruct.write(scanout_texture_statistics(handle.cache.statistics), to: statistics) ? SCANOUT_OK : SCANOUT_ERROR_ARGUMENT
}
