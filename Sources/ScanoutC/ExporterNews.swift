public import CScanout
internal import FrameExport
internal import Media

/// The host time (CLOCK_MONOTONIC, nanoseconds) at which the next frame is due; SCANOUT_NO_TIME when none waits or the film stands still.
///
/// Never waits. A time before 0 is reported as 0.
@_cdecl("scanout_exporter_next_time")
public func scanout_exporter_next_time(_ exporter: OpaquePointer?) -> Int64 {
    guard let time = unsafe ExporterHandle.borrow(exporter)?.exporter.nextTime else { return .min }
    // At least 0, so that no time is mistaken for SCANOUT_NO_TIME.
    return max(time.nanoseconds, 0)
}

/// Sets the function that is called when there may be something to fetch; NULL removes it. When this returns, the former handler has ended.
///
/// The handler is called on any thread, possibly on several at once, with no lock held. It must not wait.
@_cdecl("scanout_exporter_set_news_handler")
public func scanout_exporter_set_news_handler(
    _ exporter: OpaquePointer?, _ handler: scanout_news_handler?, _ context: UnsafeMutableRawPointer?
) -> scanout_result {
    guard let exporter = unsafe ExporterHandle.borrow(exporter)?.exporter else { return SCANOUT_ERROR_ARGUMENT }
    guard let handler = unsafe handler else {
        exporter.onFrameAvailable(nil)
        return SCANOUT_OK
    }
    let call = unsafe NewsCall(handler: handler, context: context)
    exporter.onFrameAvailable { call.make() }
    return SCANOUT_OK
}

/// A C program's function and its argument. The header requires that both may be used on any thread.
@safe
private struct NewsCall: @unchecked Sendable {
    private let handler: scanout_news_handler
    private let context: UnsafeMutableRawPointer?

    init(handler: @escaping scanout_news_handler, context: UnsafeMutableRawPointer?) {
        unsafe self.handler = unsafe handler
        unsafe self.context = unsafe context
    }

    func make() { unsafe handler(context) }
}
