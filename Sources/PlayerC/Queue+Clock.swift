public import CPlayer
internal import Media
internal import Player

@_cdecl("player_queue_set_rate")
public func player_queue_set_rate(_ queue: OpaquePointer?, _ rate: Double) -> player_result {
    guard let handle = unsafe QueueHandle.borrow(queue), rate >= 0, rate.isFinite else { return PLAYER_ERROR_ARGUMENT }
    handle.display.timebase.setRate(rate)
    return PLAYER_OK
}

@_cdecl("player_queue_set_time")
public func player_queue_set_time(_ queue: OpaquePointer?, _ time: Int64) -> player_result {
    guard let handle = unsafe QueueHandle.borrow(queue), time != .min else { return PLAYER_ERROR_ARGUMENT }
    handle.display.timebase.setTime(MediaTime(nanoseconds: time))
    return PLAYER_OK
}

@_cdecl("player_queue_time")
public func player_queue_time(_ queue: OpaquePointer?) -> Int64 { unsafe QueueHandle.borrow(queue)?.display.timebase.time.forC ?? 0 }

@_cdecl("player_queue_event_fd")
public func player_queue_event_fd(_ queue: OpaquePointer?) -> Int32 { unsafe QueueHandle.borrow(queue)?.events.descriptor ?? -1 }

@_cdecl("player_queue_next_event")
public func player_queue_next_event(_ queue: OpaquePointer?, _ timeout: Int64, _ event: UnsafeMutablePointer<player_event>?) -> player_result {
    guard let handle = unsafe QueueHandle.borrow(queue) else { return PLAYER_ERROR_ARGUMENT }
    return unsafe handle.events.give(event, timeout)
}
