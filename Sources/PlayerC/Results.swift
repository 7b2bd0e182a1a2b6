public import CPlayer
internal import Player

/// The PLAYER_VERSION that this library was built with.
@_cdecl("player_version")
public func player_version() -> UInt32 { UInt32(PLAYER_VERSION) }

/// The meaning of a result in a few English words. The string is static and never NULL.
@_cdecl("player_error_string")
public func player_error_string(_ result: player_result) -> UnsafePointer<CChar> {
    let text: StaticString =
        switch result {
        case PLAYER_OK: "success"
        case PLAYER_NOTHING: "nothing at present"
        case PLAYER_END: "nothing more will come"
        case PLAYER_ERROR_ARGUMENT: "an argument makes no sense"
        case PLAYER_ERROR_OPEN: "it cannot be opened"
        case PLAYER_ERROR_DATA: "nothing in it can be played"
        case PLAYER_ERROR_DEVICE: "there is no such display or device"
        case PLAYER_ERROR_INTERNAL: "the system refused something"
        default: "an unknown result"
        }
    return unsafe UnsafeRawPointer(text.utf8Start).assumingMemoryBound(to: CChar.self)
}

extension player_result {
    init(_ error: PlayerError) {
        self =
            switch error.code {
            case .invalidArgument: PLAYER_ERROR_ARGUMENT
            case .noSuchFile, .permissionDenied, .network, .cannotOpen, .notSeekable, .cancelled: PLAYER_ERROR_OPEN
            case .unsupportedFormat, .damaged: PLAYER_ERROR_DATA
            case .displayUnavailable, .decoderUnavailable: PLAYER_ERROR_DEVICE
            case .cannotCreate, .cannotWrite, .system, .notOpen: PLAYER_ERROR_INTERNAL
            }
    }
}
