public import CPlayer
internal import FrameExport
internal import Media

@_cdecl("player_frame_describe")
public func player_frame_describe(_ frame: OpaquePointer?, _ info: UnsafeMutablePointer<player_frame_info>?) -> player_result {
    guard let handle = unsafe FrameHandle.borrow(frame) else { return PLAYER_ERROR_ARGUMENT }
    return unsafe CallerStruct.write(player_frame_info(handle.facts), to: info) ? PLAYER_OK : PLAYER_ERROR_ARGUMENT
}

@_cdecl("player_frame_acquire_fence")
public func player_frame_acquire_fence(_ frame: OpaquePointer?) -> Int32 { unsafe FrameHandle.borrow(frame)?.acquireFence() ?? -1 }

@_cdecl("player_frame_map")
public func player_frame_map(_ frame: OpaquePointer?, _ bytes: UnsafeMutablePointer<UnsafeRawPointer?>?) -> player_result {
    unsafe bytes?.pointee = nil
    guard let handle = unsafe FrameHandle.borrow(frame), let bytes = unsafe bytes else { return PLAYER_ERROR_ARGUMENT }
    unsafe bytes.pointee = handle.map()
    return unsafe bytes.pointee == nil ? PLAYER_ERROR_INTERNAL : PLAYER_OK
}

@_cdecl("player_frame_unmap")
public func player_frame_unmap(_ frame: OpaquePointer?) { unsafe FrameHandle.borrow(frame)?.unmap() }

@_cdecl("player_frame_release")
public func player_frame_release(_ frame: OpaquePointer?) { _ = unsafe FrameHandle.take(frame) }

@_cdecl("player_frame_release_after")
public func player_frame_release_after(_ frame: OpaquePointer?, _ fence: Int32) {
    guard fence >= 0 else { return unsafe player_frame_release(frame) }
    let signal = SyncFile(adopting: OwnedFD(adopting: fence))
    guard let handle = unsafe FrameHandle.take(frame) else { return }
    handle.release(after: signal)
}
