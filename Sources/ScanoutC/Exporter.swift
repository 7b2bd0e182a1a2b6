public import CScanout
internal import FrameExport
internal import Media

/// Creates an exporter, which lends decoded frames to the caller's renderer. The caller closes it with `scanout_exporter_close`.
///
/// SCANOUT_ERROR_ARGUMENT when a member of `options` is out of range; NULL options are all 0.
@_cdecl("scanout_exporter_new")
public func scanout_exporter_new(
    _ options: UnsafePointer<scanout_exporter_options>?, _ exporter: UnsafeMutablePointer<OpaquePointer?>?
) -> scanout_result {
    unsafe exporter?.pointee = nil
    guard let exporter = unsafe exporter, let wishes = unsafe CallerStruct.read(options, zero: scanout_exporter_options()),
        let configuration = unsafe FrameExporterConfiguration(wishes)
    else { return SCANOUT_ERROR_ARGUMENT }
    unsafe exporter.pointee = ExporterHandle.give(ExporterHandle(configuration))
    return SCANOUT_OK
}

/// Ends every wait, removes the news handler and releases the exporter. Frames that the caller holds stay unchanged. NULL is allowed.
@_cdecl("scanout_exporter_close")
public func scanout_exporter_close(_ exporter: OpaquePointer?) { unsafe ExporterHandle.take(exporter)?.close() }

/// Lends the frame to show at the host time `time` (CLOCK_MONOTONIC, nanoseconds). Never waits.
///
/// SCANOUT_NOTHING before the first frame, and when the caller holds too many.
@_cdecl("scanout_exporter_frame_for")
public func scanout_exporter_frame_for(
    _ exporter: OpaquePointer?, _ time: Int64, _ frame: UnsafeMutablePointer<OpaquePointer?>?
) -> scanout_result {
    unsafe frame?.pointee = nil
    guard let handle = unsafe ExporterHandle.borrow(exporter), let frame = unsafe frame else { return SCANOUT_ERROR_ARGUMENT }
    unsafe frame.pointee = FrameHandle.give(handle.exporter.frame(for: HostTime(nanoseconds: time)))
    return unsafe frame.pointee == nil ? SCANOUT_NOTHING : SCANOUT_OK
}

/// Lends the next frame that the caller has not had, waiting up to `timeout` nanoseconds (negative: without limit).
///
/// SCANOUT_NOTHING when none came in time, SCANOUT_END when the film is over.
@_cdecl("scanout_exporter_wait")
public func scanout_exporter_wait(
    _ exporter: OpaquePointer?, _ timeout: Int64, _ frame: UnsafeMutablePointer<OpaquePointer?>?
) -> scanout_result {
    unsafe frame?.pointee = nil
    guard let handle = unsafe ExporterHandle.borrow(exporter), let frame = unsafe frame else { return SCANOUT_ERROR_ARGUMENT }
    unsafe frame.pointee = FrameHandle.give(handle.exporter.waitForFrame(until: .deadline(after: timeout)))
    if unsafe frame.pointee != nil { return SCANOUT_OK }
    return handle.exporter.isOver ? SCANOUT_END : SCANOUT_NOTHING
}

/// Copies the exporter's counters to `statistics`, as far as the caller's struct has room.
@_cdecl("scanout_exporter_get_statistics")
public func scanout_exporter_get_statistics(
    _ exporter: OpaquePointer?, _ statistics: UnsafeMutablePointer<scanout_exporter_statistics>?
) -> scanout_result {
    guard let handle = unsafe ExporterHandle.borrow(exporter) else { return SCANOUT_ERROR_ARGUMENT }
    let counted = handle.exporter.statistics
    var answer = scanout_exporter_statistics()
    answer.offered = UInt64(counted.offered)
    answer.delivered = UInt64(counted.delivered)
    answer.late = UInt64(counted.late)
    answer.over_budget = UInt64(counted.overBudget)
    answer.flushed = UInt64(counted.flushed)
    answer.bytes_copied = UInt64(counted.bytesCopied)
    return unsafe CallerStruct.write(answer, to: statistics) ? SCANOUT_OK : SCANOUT_ERROR_ARGUMENT
}
