public import CPlayer
internal import Decoding
internal import Player
internal import Sandbox

@_cdecl("player_queue_open")
public func player_queue_open(
    _ options: UnsafePointer<player_queue_options>?, _ opened: UnsafeMutablePointer<OpaquePointer?>?, _ message: UnsafeMutablePointer<CChar>?,
    _ messageSize: Int
) -> player_result {
    unsafe opened?.pointee = nil
    guard let opened = unsafe opened, let wishes = unsafe CallerStruct.read(options, zero: player_queue_options()),
        let specification = unsafe DecoderSpecification(forC: wishes.decoder),
        let exporters = unsafe ExporterHandle.list(wishes.exporters, wishes.exporter_count),
        let sandbox = unsafe SandboxOptions(forC: wishes.sandbox)
    else {
        unsafe CallerText.write(
            "The size, the decoder, the sandbox or the exporters in player_queue_options make no sense.", to: message, messageSize)
        return PLAYER_ERROR_ARGUMENT
    }
    let decoding = unsafe DecoderOptions(threads: Int(min(wishes.threads, 64)), specification: specification)
    do throws(PlayerError) {
        let handle = try QueueHandle(output: unsafe wishes.output, decoding, sandbox, exporters: exporters)
        unsafe opened.pointee = QueueHandle.give(handle)
        return PLAYER_OK
    } catch {
        unsafe CallerText.write(error.description, to: message, messageSize)
        return player_result(error)
    }
}

@_cdecl("player_queue_close")
public func player_queue_close(_ queue: OpaquePointer?) { unsafe QueueHandle.take(queue)?.close() }
