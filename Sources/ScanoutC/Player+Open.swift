public import CScanout
internal import Glibc
internal import Media
internal import Player

/// Opens a path or URL and begins to play it. Blocks while the head of the file is read.
///
/// The caller owns `*opened` and closes it with `scanout_close`. On failure `*opened` is NULL and `message` holds a sentence.
@_cdecl("scanout_open")
public func scanout_open(
    _ location: UnsafePointer<CChar>?, _ options: UnsafePointer<scanout_options>?, _ opened: UnsafeMutablePointer<OpaquePointer?>?,
    _ message: UnsafeMutablePointer<CChar>?, _ messageSize: Int
) -> scanout_result {
    unsafe opened?.pointee = nil
    guard let location = unsafe location, let opened = unsafe opened else {
        unsafe CallerText.write("scanout_open needs a location and a place for the player.", to: message, messageSize)
        return SCANOUT_ERROR_ARGUMENT
    }
    guard let wishes = unsafe CallerStruct.read(options, zero: scanout_options()),
        let configuration = unsafe PlayerConfiguration(wishes)
    else {
        unsafe CallerText.write("The size, the decoder, the sandbox or the exporters in scanout_options make no sense.", to: message, messageSize)
        return SCANOUT_ERROR_ARGUMENT
    }
    do throws(PlayerError) {
        let handle = try PlayerHandle(
            unsafe PathText.text(UnsafeBufferPointer(start: location, count: strlen(location)).lazy.map { UInt8(bitPattern: $0) }),
            output: unsafe wishes.output, configuration)
        unsafe opened.pointee = PlayerHandle.give(handle)
        return SCANOUT_OK
    } catch {
        unsafe CallerText.write(error.description, to: message, messageSize)
        return scanout_result(error)
    }
}

/// Ends playback, joins its threads and releases the player. Blocks for some milliseconds. NULL is allowed.
@_cdecl("scanout_close")
public func scanout_close(_ player: OpaquePointer?) { unsafe PlayerHandle.take(player)?.player.close() }
