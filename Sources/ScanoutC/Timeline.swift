public import CScanout
internal import FrameExport
internal import Glibc
internal import Media

/// What `scanout_timeline *` points to.
final class TimelineHandle: Handle {
    let timeline: SyncTimeline

    init(_ timeline: SyncTimeline) { self.timeline = timeline }
}

/// Makes a timeline on the caller's DRM device, or opens the one of `syncobj`. The caller closes it with `scanout_timeline_close`.
@_cdecl("scanout_timeline_new")
public func scanout_timeline_new(
    _ drm: Int32, _ syncobj: Int32, _ timeline: UnsafeMutablePointer<OpaquePointer?>?, _ message: UnsafeMutablePointer<CChar>?, _ messageSize: Int
) -> scanout_result {
    unsafe timeline?.pointee = nil
    guard let timeline = unsafe timeline else {
        unsafe CallerText.write("An argument makes no sense.", to: message, messageSize)
        return SCANOUT_ERROR_ARGUMENT
    }
    do throws(SystemError) {
        let made = try SyncTimeline(device: drm, syncobj: syncobj < 0 ? nil : syncobj)
        unsafe timeline.pointee = TimelineHandle.give(TimelineHandle(made))
        return SCANOUT_OK
    } catch {
        unsafe CallerText.write("Scanout \(error).", to: message, messageSize)
        return error.code == EOPNOTSUPP ? SCANOUT_ERROR_DEVICE : SCANOUT_ERROR_INTERNAL
    }
}

/// A descriptor of the timeline, which the caller closes; -1 when there is none, and for NULL.
@_cdecl("scanout_timeline_fd")
public func scanout_timeline_fd(_ timeline: OpaquePointer?) -> Int32 {
    guard let handle = unsafe TimelineHandle.borrow(timeline) else { return -1 }
    do throws(SystemError) { return try handle.timeline.descriptor().take() } catch { return -1 }
}

/// Reaches a point of the timeline now.
@_cdecl("scanout_timeline_signal")
public func scanout_timeline_signal(_ timeline: OpaquePointer?, _ point: UInt64) -> scanout_result {
    guard let handle = unsafe TimelineHandle.borrow(timeline), point > 0 else { return SCANOUT_ERROR_ARGUMENT }
    do throws(SystemError) { try handle.timeline.signal(point) } catch { return SCANOUT_ERROR_INTERNAL }
    return SCANOUT_OK
}

/// Releases the timeline. Frames that wait for its points still do. NULL is allowed.
@_cdecl("scanout_timeline_close")
public func scanout_timeline_close(_ timeline: OpaquePointer?) { _ = unsafe TimelineHandle.take(timeline) }

/// Reaches the point as soon as a device may read the frame. Never blocks.
@_cdecl("scanout_frame_acquire_at")
public func scanout_frame_acquire_at(_ frame: OpaquePointer?, _ timeline: OpaquePointer?, _ point: UInt64) -> scanout_result {
    guard let frame = unsafe FrameHandle.borrow(frame), let handle = unsafe TimelineHandle.borrow(timeline), point > 0
    else { return SCANOUT_ERROR_ARGUMENT }
    return frame.setAcquirePoint(point, of: handle.timeline) ? SCANOUT_OK : SCANOUT_ERROR_INTERNAL
}

/// Gives the frame back when the point is reached. On failure the caller still holds it.
@_cdecl("scanout_frame_release_at")
public func scanout_frame_release_at(_ frame: OpaquePointer?, _ timeline: OpaquePointer?, _ point: UInt64) -> scanout_result {
    guard unsafe frame != nil, let handle = unsafe TimelineHandle.borrow(timeline), point > 0 else { return SCANOUT_ERROR_ARGUMENT }
    do throws(SystemError) {
        let fence = try handle.timeline.fence(at: point)
        unsafe FrameHandle.take(frame)?.release(after: fence)
        return SCANOUT_OK
    } catch { return SCANOUT_ERROR_INTERNAL }
}
