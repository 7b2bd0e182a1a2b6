public import CScanout
internal import Decoding
internal import Player
internal import Sandbox

/// Opens a display and starts the threads that decode and show the caller's samples. The clock stands at 0.
///
/// The caller owns `*opened` and closes it with `scanout_queue_close`. On failure `*opened` is NULL and `message` holds a sentence.
@_cdecl("scanout_queue_open")
public func scanout_queue_open(
    _ options: UnsafePointer<scanout_queue_options>?, _ opened: UnsafeMutablePointer<OpaquePointer?>?, _ message: UnsafeMutablePointer<CChar>?,
    _ messageSize: Int
) -> scanout_result {
    unsafe opened?.pointee = nil
    guard let opened = unsafe opened, let wishes = unsafe CallerStruct.read(options, zero: scanout_queue_options()),
        let specification = unsafe DecoderSpecification(forC: wishes.decoder, on: wishes.render_node),
        let exporters = unsafe ExporterHandle.list(wishes.exporters, wishes.exporter_count),
        let sandbox = unsafe SandboxOptions(forC: wishes.sandbox)
    else {
        unsafe CallerText.write(
            "The size, the decoder, the sandbox or the exporters in scanout_queue_options make no sense.", to: message, messageSize)
        return SCANOUT_ERROR_ARGUMENT
    }
    let decoding = unsafe DecoderOptions(threads: Int(min(wishes.threads, 64)), specification: specification)
    do throws(PlayerError) {
        let handle = try QueueHandle(output: unsafe wishes.output, decoding, sandbox, exporters: exporters)
        unsafe opened.pointee = QueueHandle.give(handle)
        return SCANOUT_OK
    } catch {
        unsafe CallerText.write(error.description, to: message, messageSize)
        return scanout_result(error)
    }
}

/// Discards what has not been shown, joins the threads and releases the queue. Blocks for some milliseconds. NULL is allowed.
@_cdecl("scanout_queue_close")
public func scanout_queue_close(_ queue: OpaquePointer?) { unsafe QueueHandle.take(queue)?.close() }
