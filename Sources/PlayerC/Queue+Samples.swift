public import CPlayer
internal import Media
internal import Player
internal import SampleQueue

@_cdecl("player_queue_set_format")
public func player_queue_set_format(_ queue: OpaquePointer?, _ format: UnsafePointer<player_video_format>?) -> player_result {
    guard let handle = unsafe QueueHandle.borrow(queue), unsafe format != nil,
        let described = unsafe CallerStruct.read(format, zero: player_video_format()), let video = unsafe VideoFormat(described)
    else { return PLAYER_ERROR_ARGUMENT }
    handle.format.withLock { $0 = .video(video) }
    return PLAYER_OK
}

@_cdecl("player_queue_enqueue")
public func player_queue_enqueue(_ queue: OpaquePointer?, _ sample: UnsafePointer<player_sample>?) -> player_result {
    guard let handle = unsafe QueueHandle.borrow(queue), unsafe sample != nil, let format = handle.format.withLock({ $0 }),
        let described = unsafe CallerStruct.read(sample, zero: player_sample()), let buffer = unsafe SampleBuffer(described, format)
    else { return PLAYER_ERROR_ARGUMENT }
    handle.display.samples.enqueue(buffer)
    handle.settle()
    return PLAYER_OK
}

@_cdecl("player_queue_end")
public func player_queue_end(_ queue: OpaquePointer?) -> player_result {
    guard let handle = unsafe QueueHandle.borrow(queue) else { return PLAYER_ERROR_ARGUMENT }
    handle.display.samples.enqueue(SampleBuffer(marker: .endOfStream))
    handle.settle()
    return PLAYER_OK
}

@_cdecl("player_queue_flush")
public func player_queue_flush(_ queue: OpaquePointer?, _ removesPicture: Int32) -> player_result {
    guard let handle = unsafe QueueHandle.borrow(queue) else { return PLAYER_ERROR_ARGUMENT }
    removesPicture != 0 ? handle.display.flushAndRemoveImage() : handle.display.flush()
    handle.settle()
    return PLAYER_OK
}

@_cdecl("player_queue_is_ready")
public func player_queue_is_ready(_ queue: OpaquePointer?) -> Int32 {
    unsafe QueueHandle.borrow(queue)?.display.samples.isReadyForMoreSamples == true ? 1 : 0
}

@_cdecl("player_queue_ready_fd")
public func player_queue_ready_fd(_ queue: OpaquePointer?) -> Int32 { unsafe QueueHandle.borrow(queue)?.descriptor ?? -1 }
