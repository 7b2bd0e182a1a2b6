public import CScanout
internal import Media

/// Sets the function that gets what all players do and find, up to a level; NULL removes it. When this returns, the former handler has ended.
///
/// SCANOUT_ERROR_ARGUMENT for a level that does not exist. The handler is called on threads of the library, with no lock held.
@_cdecl("scanout_set_log_handler")
public func scanout_set_log_handler(
    _ level: UInt32, _ handler: scanout_log_handler?, _ context: UnsafeMutableRawPointer?
) -> scanout_result {
    guard let handler = unsafe handler else {
        Log.setHandler(nil)
        return SCANOUT_OK
    }
    guard let limit = UInt8(exactly: level).flatMap(Log.Level.init) else { return SCANOUT_ERROR_ARGUMENT }
    let call = unsafe LogCall(handler: handler, context: context)
    Log.setHandler(upTo: limit) { level, text in call.make(level, text) }
    return SCANOUT_OK
}

/// A C program's function and its argument. The header requires that both may be used on any thread.
@safe
private struct LogCall: @unchecked Sendable {
    private let handler: scanout_log_handler
    private let context: UnsafeMutableRawPointer?

    init(handler: @escaping scanout_log_handler, context: UnsafeMutableRawPointer?) {
        unsafe self.handler = unsafe handler
        unsafe self.context = unsafe context
    }

    func make(_ level: Log.Level, _ text: String) { unsafe text.withCString { unsafe handler(context, UInt32(level.rawValue), $0) } }
}

extension News {
    /// Tells the log of a queue's event; a player tells of its own.
    func log() {
        switch kind {
        case SCANOUT_EVENT_FAILED: Log.write(.error, text)
        case SCANOUT_EVENT_NOTICE: Log.write(.warning, text)
        case SCANOUT_EVENT_DETAIL: Log.write(.info, text)
        default: break
        }
    }
}
