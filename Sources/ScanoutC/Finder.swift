public import CScanout
internal import Decoding
internal import Demuxing
internal import Media
internal import Reading

/// Opens a film of which frames are to be found. The caller owns `*opened` and closes it with `scanout_finder_close`.
///
/// Blocks. On failure `*opened` is NULL and `message` holds a sentence.
@_cdecl("scanout_finder_open")
public func scanout_finder_open(
    _ location: UnsafePointer<CChar>?, _ options: UnsafePointer<scanout_finder_options>?, _ opened: UnsafeMutablePointer<OpaquePointer?>?,
    _ message: UnsafeMutablePointer<CChar>?, _ messageSize: Int
) -> scanout_result {
    unsafe opened?.pointee = nil
    guard let location = unsafe location, let opened = unsafe opened,
        let wishes = unsafe CallerStruct.read(options, zero: scanout_finder_options()), let wanted = unsafe FrameGeneratorOptions(wishes)
    else {
        unsafe CallerText.write("An argument makes no sense.", to: message, messageSize)
        return SCANOUT_ERROR_ARGUMENT
    }
    let track = unsafe wishes.track > 0 ? Int(unsafe wishes.track) - 1 : nil
    do throws(ReadingError) {
        unsafe opened.pointee = FinderHandle.give(try FinderHandle(unsafe String(cString: location), wanted, track: track))
        return SCANOUT_OK
    } catch {
        unsafe CallerText.write(error.description, to: message, messageSize)
        return scanout_result(error)
    }
}

/// The film's length in nanoseconds; SCANOUT_NO_TIME where it is unknown, and for NULL.
@_cdecl("scanout_finder_duration")
public func scanout_finder_duration(_ finder: OpaquePointer?) -> Int64 {
    unsafe FinderHandle.borrow(finder)?.duration.forC ?? .min
}

/// Lends the frame for a film time. Blocks while it is decoded. SCANOUT_NOTHING when there is none then.
@_cdecl("scanout_finder_frame_at")
public func scanout_finder_frame_at(
    _ finder: OpaquePointer?, _ time: Int64, _ frame: UnsafeMutablePointer<OpaquePointer?>?, _ message: UnsafeMutablePointer<CChar>?,
    _ messageSize: Int
) -> scanout_result {
    unsafe frame?.pointee = nil
    guard let handle = unsafe FinderHandle.borrow(finder), let frame = unsafe frame else { return SCANOUT_ERROR_ARGUMENT }
    return unsafe find(handle, MediaTime(forC: time), frame, message, messageSize)
}

/// Keeps the times whose frames `scanout_finder_next` finds.
@_cdecl("scanout_finder_want")
public func scanout_finder_want(_ finder: OpaquePointer?, _ times: UnsafePointer<Int64>?, _ count: Int) -> scanout_result {
    guard let handle = unsafe FinderHandle.borrow(finder), count >= 0, unsafe count == 0 || times != nil else { return SCANOUT_ERROR_ARGUMENT }
    handle.want(unsafe UnsafeBufferPointer(start: times, count: count).map { MediaTime(forC: $0) })
    return SCANOUT_OK
}

/// Lends the frame of the next time, in the order of the film. SCANOUT_END behind the last one.
@_cdecl("scanout_finder_next")
public func scanout_finder_next(
    _ finder: OpaquePointer?, _ index: UnsafeMutablePointer<Int>?, _ frame: UnsafeMutablePointer<OpaquePointer?>?,
    _ message: UnsafeMutablePointer<CChar>?, _ messageSize: Int
) -> scanout_result {
    unsafe frame?.pointee = nil
    guard let handle = unsafe FinderHandle.borrow(finder), let frame = unsafe frame else { return SCANOUT_ERROR_ARGUMENT }
    guard let next = handle.next() else { return SCANOUT_END }
    unsafe index?.pointee = next.index
    return unsafe find(handle, next.time, frame, message, messageSize)
}

/// Makes searches fail soon. Returns at once.
@_cdecl("scanout_finder_cancel")
public func scanout_finder_cancel(_ finder: OpaquePointer?) { unsafe FinderHandle.borrow(finder)?.cancel() }

/// Ends what blocks and closes the film. NULL is allowed.
@_cdecl("scanout_finder_close")
public func scanout_finder_close(_ finder: OpaquePointer?) { unsafe FinderHandle.take(finder)?.cancel() }

private func find(
    _ handle: FinderHandle, _ time: MediaTime, _ frame: UnsafeMutablePointer<OpaquePointer?>, _ message: UnsafeMutablePointer<CChar>?,
    _ messageSize: Int
) -> scanout_result {
    do throws(ReadingError) {
        unsafe frame.pointee = FrameHandle.give(try handle.frame(at: time))
        return SCANOUT_OK
    } catch {
        unsafe CallerText.write(error.description, to: message, messageSize)
        return scanout_result(error)
    }
}

extension scanout_result {
    init(_ error: ReadingError) {
        self =
            switch error.code {
            case .source(let code): scanout_result(source: code)
            case .noFrame: SCANOUT_NOTHING
            case .cancelled: SCANOUT_ERROR_CANCELLED
            case .notSeekable: SCANOUT_ERROR_OPEN
            case .noTrack, .conversion, .composition: SCANOUT_ERROR_DATA
            case .decoding(let code): code == .noDecoder ? SCANOUT_ERROR_DATA : SCANOUT_ERROR_INTERNAL
            }
    }

    init(source code: AssetError.Code) {
        self =
            switch code {
            case .cannotOpen, .noSuchFile, .permission, .network, .notSeekable: SCANOUT_ERROR_OPEN
            case .unrecognised, .noPlayableTrack, .damaged, .cutShort: SCANOUT_ERROR_DATA
            case .cancelled: SCANOUT_ERROR_CANCELLED
            case .device: SCANOUT_ERROR_DEVICE
            case .sandbox, .outOfResources, .readerDied: SCANOUT_ERROR_INTERNAL
            }
    }
}
