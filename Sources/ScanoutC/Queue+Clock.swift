public import CScanout
internal import Media
internal import Player

/// Sets the rate of the film's clock in film seconds per second; 0 stops it. SCANOUT_ERROR_ARGUMENT unless it is finite and at least 0.
@_cdecl("scanout_queue_set_rate")
public func scanout_queue_set_rate(_ queue: OpaquePointer?, _ rate: Double) -> scanout_result {
    guard let handle = unsafe QueueHandle.borrow(queue), rate >= 0, rate.isFinite else { return SCANOUT_ERROR_ARGUMENT }
    handle.display.timebase.setRate(rate)
    return SCANOUT_OK
}

/// Sets the film's clock to `time` in nanoseconds. SCANOUT_ERROR_ARGUMENT for SCANOUT_NO_TIME.
@_cdecl("scanout_queue_set_time")
public func scanout_queue_set_time(_ queue: OpaquePointer?, _ time: Int64) -> scanout_result {
    guard let handle = unsafe QueueHandle.borrow(queue), time != .min else { return SCANOUT_ERROR_ARGUMENT }
    handle.display.timebase.setTime(MediaTime(nanoseconds: time))
    return SCANOUT_OK
}

/// The time of the film's clock in nanoseconds; 0 for NULL.
@_cdecl("scanout_queue_time")
public func scanout_queue_time(_ queue: OpaquePointer?) -> Int64 { unsafe QueueHandle.borrow(queue)?.display.timebase.time.forC ?? 0 }

/// The descriptor for poll(2) that is readable while events wait. The queue owns it until it is closed; -1 for NULL.
@_cdecl("scanout_queue_event_fd")
public func scanout_queue_event_fd(_ queue: OpaquePointer?) -> Int32 { unsafe QueueHandle.borrow(queue)?.events.descriptor ?? -1 }

/// Writes the oldest event to `event`, waiting up to `timeout` nanoseconds for one (negative: without limit). SCANOUT_NOTHING when none came.
@_cdecl("scanout_queue_next_event")
public func scanout_queue_next_event(_ queue: OpaquePointer?, _ timeout: Int64, _ event: UnsafeMutablePointer<scanout_event>?) -> scanout_result {
    guard let handle = unsafe QueueHandle.borrow(queue) else { return SCANOUT_ERROR_ARGUMENT }
    return unsafe handle.events.give(event, timeout)
}
