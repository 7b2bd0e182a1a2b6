public import CScanout
internal import Glibc
internal import Media
internal import Player

/// Opens a path or URL and begins to play it. Blocks while the head of the file is read, unless `opens_async` is set.
///
/// The caller owns `*opened` and closes it with `scanout_close`. On failure `*opened` is NULL and `message` holds a sentence.
@_cdecl("scanout_open")
public func scanout_open(
    _ location: UnsafePointer<CChar>?, _ options: UnsafePointer<scanout_options>?, _ opened: UnsafeMutablePointer<OpaquePointer?>?,
    _ message: UnsafeMutablePointer<CChar>?, _ messageSize: Int
) -> scanout_result {
    unsafe OpeningCall(options, opened, message, messageSize).open(location)
}

/// Makes an opening that is under way fail soon. Returns at once; SCANOUT_ERROR_ARGUMENT for NULL.
@_cdecl("scanout_cancel_open")
public func scanout_cancel_open(_ player: OpaquePointer?) -> scanout_result {
    guard let handle = unsafe PlayerHandle.borrow(player) else { return SCANOUT_ERROR_ARGUMENT }
    handle.player.cancelOpening()
    return SCANOUT_OK
}

/// Ends playback, joins its threads and releases the player. Blocks for some milliseconds. NULL is allowed.
@_cdecl("scanout_close")
public func scanout_close(_ player: OpaquePointer?) { unsafe PlayerHandle.take(player)?.close() }

/// The arguments that every function has which opens a film.
@safe
struct OpeningCall {
    private let options: UnsafePointer<scanout_options>?
    private let opened: UnsafeMutablePointer<OpaquePointer?>?
    private let message: UnsafeMutablePointer<CChar>?
    private let messageSize: Int

    init(
        _ options: UnsafePointer<scanout_options>?, _ opened: UnsafeMutablePointer<OpaquePointer?>?, _ message: UnsafeMutablePointer<CChar>?,
        _ messageSize: Int
    ) {
        unsafe self.options = unsafe options
        unsafe self.opened = unsafe opened
        unsafe self.message = unsafe message
        self.messageSize = messageSize
        unsafe opened?.pointee = nil
    }

    /// Says why the arguments make no sense.
    func refuse(_ sentence: String) -> scanout_result { fail(SCANOUT_ERROR_ARGUMENT, sentence) }

    func fail(_ result: scanout_result, _ sentence: String) -> scanout_result {
        unsafe CallerText.write(sentence, to: message, messageSize)
        return result
    }

    /// Opens a path or URL.
    func open(_ location: UnsafePointer<CChar>?) -> scanout_result {
        guard let location = unsafe PathText.text(forC: location) else { return refuse("A film and a place for the player are needed.") }
        return open(.place(location))
    }

    /// Makes the player, opens the film, and gives the player to the program unless one of the two fails.
    ///
    /// - Parameter reconnects: Whether a camera that is unplugged is waited for.
    func open(_ film: FilmLocation, reconnects: Bool = false) -> scanout_result {
        guard let opened = unsafe opened else { return refuse("A film and a place for the player are needed.") }
        guard let wishes = unsafe CallerStruct.read(options, zero: scanout_options()), var configuration = unsafe PlayerConfiguration(wishes) else {
            return refuse("The size, the decoder, the sandbox, the tracks, the exporters, the network or the files in scanout_options make no sense.")
        }
        configuration.reconnectsCamera = reconnects
        do throws(PlayerError) {
            let handle = try PlayerHandle(output: unsafe wishes.output, configuration)
            if unsafe wishes.opens_async != 0 { handle.beginOpening(film) } else { try handle.open(film) }
            unsafe opened.pointee = PlayerHandle.give(handle)
            return SCANOUT_OK
        } catch {
            unsafe CallerText.write(error.description, to: message, messageSize)
            return scanout_result(error)
        }
    }
}
