public import CPlayer
internal import Media
internal import Player
internal import SampleQueue

/// Sets the format of the samples that are enqueued from now on. PLAYER_ERROR_ARGUMENT when a member of `format` is out of range.
@_cdecl("player_queue_set_format")
public func player_queue_set_format(_ queue: OpaquePointer?, _ format: UnsafePointer<player_video_format>?) -> player_result {
    guard let handle = unsafe QueueHandle.borrow(queue), unsafe format != nil,
        let described = unsafe CallerStruct.read(format, zero: player_video_format()), let video = unsafe VideoFormat(described)
    else { return PLAYER_ERROR_ARGUMENT }
    handle.format.withLock { $0 = .video(video) }
    return PLAYER_OK
}

/// Copies a sample and adds it at the end, even when the queue wants no more. Never waits.
///
/// PLAYER_ERROR_ARGUMENT before `player_queue_set_format`, and for a sample without bytes.
@_cdecl("player_queue_enqueue")
public func player_queue_enqueue(_ queue: OpaquePointer?, _ sample: UnsafePointer<player_sample>?) -> player_result {
    guard let handle = unsafe QueueHandle.borrow(queue), unsafe sample != nil, let format = handle.format.withLock({ $0 }),
        let described = unsafe CallerStruct.read(sample, zero: player_sample()), let buffer = unsafe SampleBuffer(described, format)
    else { return PLAYER_ERROR_ARGUMENT }
    handle.display.samples.enqueue(buffer)
    handle.settle()
    return PLAYER_OK
}

/// Adds an end-of-stream marker: PLAYER_EVENT_ENDED follows when the duration of the last frame has ended.
@_cdecl("player_queue_end")
public func player_queue_end(_ queue: OpaquePointer?) -> player_result {
    guard let handle = unsafe QueueHandle.borrow(queue) else { return PLAYER_ERROR_ARGUMENT }
    handle.display.samples.enqueue(SampleBuffer(marker: .endOfStream))
    handle.settle()
    return PLAYER_OK
}

/// Discards the samples and frames that have not been shown. Unless the last argument is 0, the display also turns black.
@_cdecl("player_queue_flush")
public func player_queue_flush(_ queue: OpaquePointer?, _ removesImage: Int32) -> player_result {
    guard let handle = unsafe QueueHandle.borrow(queue) else { return PLAYER_ERROR_ARGUMENT }
    removesImage != 0 ? handle.display.flushAndRemoveImage() : handle.display.flush()
    handle.settle()
    return PLAYER_OK
}

/// 1 while the queue wants more samples; 0 otherwise, and for NULL. It never waits.
@_cdecl("player_queue_is_ready")
public func player_queue_is_ready(_ queue: OpaquePointer?) -> Int32 {
    unsafe QueueHandle.borrow(queue)?.display.samples.isReadyForMoreSamples == true ? 1 : 0
}

/// The descriptor for poll(2) that is readable while the queue wants more samples. The queue owns it until it is closed; -1 for NULL.
@_cdecl("player_queue_ready_fd")
public func player_queue_ready_fd(_ queue: OpaquePointer?) -> Int32 { unsafe QueueHandle.borrow(queue)?.descriptor ?? -1 }
