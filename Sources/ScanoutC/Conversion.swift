public import CScanout
internal import Demuxing
internal import Encoding
internal import Media
internal import Reading
internal import Writing

/// Opens a film that is to be encoded anew or copied, and creates the file under a temporary name. The caller owns `*made`.
///
/// Blocks. On failure `*made` is NULL, and `message` holds a sentence.
@_cdecl("scanout_conversion_new")
public func scanout_conversion_new(
    _ location: UnsafePointer<CChar>?, _ path: UnsafePointer<CChar>?, _ options: UnsafePointer<scanout_conversion_options>?,
    _ made: UnsafeMutablePointer<OpaquePointer?>?, _ message: UnsafeMutablePointer<CChar>?, _ messageSize: Int
) -> scanout_result {
    unsafe made?.pointee = nil
    guard let location = unsafe location, let path = unsafe path, let made = unsafe made,
        let wishes = unsafe CallerStruct.read(options, zero: scanout_conversion_options())
    else {
        unsafe CallerText.write("An argument makes no sense.", to: message, messageSize)
        return SCANOUT_ERROR_ARGUMENT
    }
    do throws(ExportError) {
        let wanted = try unsafe ConversionWishes(wishes)
        let handle = try ConversionHandle(from: unsafe String(cString: location), to: unsafe String(cString: path), wanted)
        unsafe made.pointee = ConversionHandle.give(handle)
        return SCANOUT_OK
    } catch {
        unsafe CallerText.write(error.description, to: message, messageSize)
        return scanout_result(error)
    }
}

/// Converts to the end and gives the file its name. Blocks until then; once.
@_cdecl("scanout_conversion_run")
public func scanout_conversion_run(
    _ conversion: OpaquePointer?, _ message: UnsafeMutablePointer<CChar>?, _ messageSize: Int
) -> scanout_result {
    guard let handle = unsafe ConversionHandle.borrow(conversion) else { return SCANOUT_ERROR_ARGUMENT }
    do throws(ExportError) {
        try handle.run()
        return SCANOUT_OK
    } catch {
        unsafe CallerText.write(error.description, to: message, messageSize)
        return scanout_result(error)
    }
}

/// Copies how far the conversion is to `progress`. Never blocks.
@_cdecl("scanout_conversion_get_progress")
public func scanout_conversion_get_progress(
    _ conversion: OpaquePointer?, _ progress: UnsafeMutablePointer<scanout_conversion_progress>?
) -> scanout_result {
    guard let handle = unsafe ConversionHandle.borrow(conversion) else { return SCANOUT_ERROR_ARGUMENT }
    let (told, isWhole, copied) = handle.progress
    var answer = scanout_conversion_progress()
    answer.pass = UInt32(told.pass ?? 0)
    answer.pass_count = told.pass == nil ? 0 : UInt32(told.passCount)
    answer.is_whole = isWhole ? 1 : 0
    answer.time = told.time.forC
    answer.duration = told.duration.forC
    answer.samples = told.pass == nil ? UInt64(told.sampleCount) : 0
    answer.bytes = UInt64(told.byteCount)
    answer.bytes_copied = UInt64(copied)
    return unsafe CallerStruct.write(answer, to: progress) ? SCANOUT_OK : SCANOUT_ERROR_ARGUMENT
}

/// Ends the film where it is; the file becomes whole. Returns at once.
@_cdecl("scanout_conversion_end")
public func scanout_conversion_end(_ conversion: OpaquePointer?) { unsafe ConversionHandle.borrow(conversion)?.end() }

/// Makes `scanout_conversion_run` fail soon and leave no file. Returns at once.
@_cdecl("scanout_conversion_cancel")
public func scanout_conversion_cancel(_ conversion: OpaquePointer?) { unsafe ConversionHandle.borrow(conversion)?.cancel() }

/// Releases the conversion; a file that is not whole goes. NULL is allowed.
@_cdecl("scanout_conversion_close")
public func scanout_conversion_close(_ conversion: OpaquePointer?) { _ = unsafe ConversionHandle.take(conversion) }

extension scanout_result {
    init(_ error: ExportError) {
        switch error {
        case .source(let error): self.init(source: error.code)
        case .reading(let error): self.init(error)
        case .cancelled: self = SCANOUT_ERROR_CANCELLED
        case .settings: self = SCANOUT_ERROR_ARGUMENT
        case .encoding(let error, _):
            self =
                switch error.code {
                case .noEncoder, .unsupportedProperty, .cannotOpen, .unsupportedPixelFormat, .unsupportedFormat, .pass: SCANOUT_ERROR_ARGUMENT
                case .output, .time, .invalidated, .encoder, .storage: SCANOUT_ERROR_INTERNAL
                }
        case .output(let error):
            self =
                switch error.code {
                case .cannotCreate, .exists: SCANOUT_ERROR_OPEN
                case .unsupported: SCANOUT_ERROR_ARGUMENT
                case .time, .damaged: SCANOUT_ERROR_DATA
                case .cannotWrite, .notWriting: SCANOUT_ERROR_INTERNAL
                case .cancelled: SCANOUT_ERROR_CANCELLED
                }
        }
    }
}
