public import Player

/// The exit codes of `play`, with the values of `sysexits.h`.
public enum ExitCode: Int32, Sendable, CaseIterable {
    /// The film was played to its end, or the viewer ended it (q, a closed window, SIGINT, SIGTERM, SIGHUP, SIGQUIT).
    case played = 0
    /// EX_USAGE: the options make no sense.
    case usage = 64
    /// EX_DATAERR: nothing in the file can be played.
    case data = 65
    /// EX_NOINPUT: the file cannot be opened.
    case noInput = 66
    /// EX_UNAVAILABLE: there is no display or device, or it is gone.
    case unavailable = 69
    /// EX_SOFTWARE: an internal error.
    case software = 70
    /// EX_OSERR: the system refuses memory, a thread, a process or a descriptor.
    case system = 71
    /// EX_CANTCREAT: an output file (statistics, checksums) or socket cannot be created.
    case cannotCreate = 73
    /// EX_IOERR: the film ends before its end, or an output (statistics, checksums, a report) cannot be written whole.
    case inputOrOutput = 74

    /// The exit code of a program that ends with this error.
    public init(_ error: PlayerError) {
        self =
            switch error.code {
            case .invalidArgument: .usage
            case .unsupportedFormat, .damaged: .data
            case .noSuchFile, .permissionDenied, .network, .cannotOpen, .notSeekable, .cancelled: .noInput
            case .displayUnavailable, .decoderUnavailable: .unavailable
            case .system: .system
            case .notOpen: .software
            case .cannotCreate: .cannotCreate
            case .cutShort, .cannotWrite: .inputOrOutput
            }
    }
}
