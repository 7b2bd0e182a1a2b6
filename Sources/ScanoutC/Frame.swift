public import CScanout
internal import FrameExport
internal import Media

/// Copies the frame's format, memory layout, colors and times to `info`, as far as the caller's struct has room.
@_cdecl("scanout_frame_describe")
public func scanout_frame_describe(_ frame: OpaquePointer?, _ info: UnsafeMutablePointer<scanout_frame_info>?) -> scanout_result {
    guard let handle = unsafe FrameHandle.borrow(frame) else { return SCANOUT_ERROR_ARGUMENT }
    return unsafe CallerStruct.write(scanout_frame_info(handle.facts), to: info) ? SCANOUT_OK : SCANOUT_ERROR_ARGUMENT
}

/// Lends HDR metadata that is this frame's only, of a `scanout_dynamic_hdr` kind, until the release. SCANOUT_NOTHING when it has none.
@_cdecl("scanout_frame_dynamic_hdr")
public func scanout_frame_dynamic_hdr(
    _ frame: OpaquePointer?, _ kind: UInt32, _ bytes: UnsafeMutablePointer<UnsafeRawPointer?>?, _ count: UnsafeMutablePointer<Int>?
) -> scanout_result {
    unsafe bytes?.pointee = nil
    unsafe count?.pointee = 0
    guard let handle = unsafe FrameHandle.borrow(frame), let bytes = unsafe bytes, let count = unsafe count,
        [SCANOUT_HDR10_PLUS.rawValue, SCANOUT_DOLBY_VISION.rawValue].contains(kind)
    else { return SCANOUT_ERROR_ARGUMENT }
    guard let lent = unsafe handle.dynamicHDR(kind) else { return SCANOUT_NOTHING }
    unsafe bytes.pointee = lent.baseAddress
    unsafe count.pointee = lent.count
    return SCANOUT_OK
}

/// A sync_file that a device waits for before it reads the frame. The caller closes it; -1 when the frame is finished, and for NULL.
@_cdecl("scanout_frame_acquire_fence")
public func scanout_frame_acquire_fence(_ frame: OpaquePointer?) -> Int32 { unsafe FrameHandle.borrow(frame)?.acquireFence() ?? -1 }

/// Lends the frame's bytes for reading by the CPU, until `scanout_frame_unmap` or the release. Blocks until devices have written them.
@_cdecl("scanout_frame_map")
public func scanout_frame_map(_ frame: OpaquePointer?, _ bytes: UnsafeMutablePointer<UnsafeRawPointer?>?) -> scanout_result {
    unsafe bytes?.pointee = nil
    guard let handle = unsafe FrameHandle.borrow(frame), let bytes = unsafe bytes else { return SCANOUT_ERROR_ARGUMENT }
    unsafe bytes.pointee = handle.map()
    return unsafe bytes.pointee == nil ? SCANOUT_ERROR_INTERNAL : SCANOUT_OK
}

/// Ends the CPU's access that `scanout_frame_map` began. Has no effect on a frame that is not mapped.
@_cdecl("scanout_frame_unmap")
public func scanout_frame_unmap(_ frame: OpaquePointer?) { unsafe FrameHandle.borrow(frame)?.unmap() }

/// Gives the frame back: its memory may be written again. NULL is allowed.
@_cdecl("scanout_frame_release")
public func scanout_frame_release(_ frame: OpaquePointer?) { _ = unsafe FrameHandle.take(frame) }

/// Gives the frame back when the sync_file `fence` signals, and closes the fence; -1: at once.
@_cdecl("scanout_frame_release_after")
public func scanout_frame_release_after(_ frame: OpaquePointer?, _ fence: Int32) {
    guard fence >= 0 else { return unsafe scanout_frame_release(frame) }
    let signal = SyncFile(adopting: OwnedFD(adopting: fence))
    guard let handle = unsafe FrameHandle.take(frame) else { return }
    handle.release(after: signal)
}
