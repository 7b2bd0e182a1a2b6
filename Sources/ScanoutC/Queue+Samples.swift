public import CScanout
internal import Media
internal import Player
internal import SampleQueue

/// Sets the format of the samples that are enqueued from now on. SCANOUT_ERROR_ARGUMENT when a member of `format` is out of range.
@_cdecl("scanout_queue_set_format")
public func scanout_queue_set_format(_ queue: OpaquePointer?, _ format: UnsafePointer<scanout_video_format>?) -> scanout_result {
    guard let handle = unsafe QueueHandle.borrow(queue), unsafe format != nil,
        let described = unsafe CallerStruct.read(format, zero: scanout_video_format()), let video = unsafe VideoFormat(described)
    else { return SCANOUT_ERROR_ARGUMENT }
    handle.format.withLock { $0 = .video(video) }
    return SCANOUT_OK
}

/// Copies a sample and adds it at the end, even when the queue wants no more. Never waits.
///
/// SCANOUT_ERROR_ARGUMENT before `scanout_queue_set_format`, and for a sample without bytes.
@_cdecl("scanout_queue_enqueue")
public func scanout_queue_enqueue(_ queue: OpaquePointer?, _ sample: UnsafePointer<scanout_sample>?) -> scanout_result {
    guard let handle = unsafe QueueHandle.borrow(queue), unsafe sample != nil, let format = handle.format.withLock({ $0 }),
        let described = unsafe CallerStruct.read(sample, zero: scanout_sample()), let buffer = unsafe SampleBuffer(described, format)
    else { return SCANOUT_ERROR_ARGUMENT }
    handle.display.samples.enqueue(buffer)
    handle.settle()
    return SCANOUT_OK
}

/// Adds an end-of-stream marker: SCANOUT_EVENT_ENDED follows when the duration of the last frame has ended.
@_cdecl("scanout_queue_end")
public func scanout_queue_end(_ queue: OpaquePointer?) -> scanout_result {
    guard let handle = unsafe QueueHandle.borrow(queue) else { return SCANOUT_ERROR_ARGUMENT }
    handle.display.samples.enqueue(SampleBuffer(marker: .endOfStream))
    handle.settle()
    return SCANOUT_OK
}

/// Discards the samples and frames that have not been shown. Unless the last argument is 0, the display also turns black.
@_cdecl("scanout_queue_flush")
public func scanout_queue_flush(_ queue: OpaquePointer?, _ removesImage: Int32) -> scanout_result {
    guard let handle = unsafe QueueHandle.borrow(queue) else { return SCANOUT_ERROR_ARGUMENT }
    removesImage != 0 ? handle.display.flushAndRemoveImage() : handle.display.flush()
    handle.settle()
    return SCANOUT_OK
}

/// 1 while the queue wants more samples; 0 otherwise, and for NULL. It never waits.
@_cdecl("scanout_queue_is_ready")
public func scanout_queue_is_ready(_ queue: OpaquePointer?) -> Int32 {
    unsafe QueueHandle.borrow(queue)?.display.samples.isReadyForMoreSamples == true ? 1 : 0
}

/// The descriptor for poll(2) that is readable while the queue wants more samples. The queue owns it until it is closed; -1 for NULL.
@_cdecl("scanout_queue_ready_fd")
public func scanout_queue_ready_fd(_ queue: OpaquePointer?) -> Int32 { unsafe QueueHandle.borrow(queue)?.descriptor ?? -1 }
