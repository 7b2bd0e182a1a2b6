public import CScanout
internal import Player

/// The SCANOUT_VERSION that this library was built with.
@_cdecl("scanout_version")
public func scanout_version() -> UInt32 { UInt32(SCANOUT_VERSION) }

/// The meaning of a result in a few English words. The string is static and never NULL.
@_cdecl("scanout_error_string")
public func scanout_error_string(_ result: scanout_result) -> UnsafePointer<CChar> {
    let text: StaticString =
        switch result {
        case SCANOUT_OK: "success"
        case SCANOUT_NOTHING: "nothing at present"
        case SCANOUT_END: "nothing more will come"
        case SCANOUT_ERROR_ARGUMENT: "an argument makes no sense"
        case SCANOUT_ERROR_OPEN: "it cannot be opened"
        case SCANOUT_ERROR_DATA: "nothing in it can be played"
        case SCANOUT_ERROR_DEVICE: "there is no such display or device"
        case SCANOUT_ERROR_INTERNAL: "the system refused something"
        case SCANOUT_ERROR_CANCELLED: "it was cancelled"
        default: "an unknown result"
        }
    return unsafe UnsafeRawPointer(text.utf8Start).assumingMemoryBound(to: CChar.self)
}

extension scanout_result {
    init(_ error: PlayerError) {
        self =
            switch error.code {
            case .invalidArgument: SCANOUT_ERROR_ARGUMENT
            case .noSuchFile, .permissionDenied, .network, .cannotOpen, .notSeekable: SCANOUT_ERROR_OPEN
            case .cancelled: SCANOUT_ERROR_CANCELLED
            case .unsupportedFormat, .damaged, .cutShort: SCANOUT_ERROR_DATA
            case .displayUnavailable, .decoderUnavailable: SCANOUT_ERROR_DEVICE
            case .cannotCreate, .cannotWrite, .system, .notOpen: SCANOUT_ERROR_INTERNAL
            }
    }
}
