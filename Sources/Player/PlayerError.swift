internal import AudioSink
internal import Decoding
internal import Demuxing
public import DisplaySink
internal import SampleQueue

/// Why a film cannot be played, in one sentence that names the file or device and the cause.
public struct PlayerError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of failure, by its exit code.
    public var exitCode: ExitCode
    public var description: String

    public init(_ exitCode: ExitCode, _ description: String) {
        self.exitCode = exitCode
        self.description = description
    }

    init(_ error: AssetError) {
        let code: ExitCode =
            switch error.code {
            case .unrecognised, .noPlayableTrack, .damaged, .readerDied: .data
            case .sandbox, .outOfResources: .unavailable
            case .cannotOpen, .noSuchFile, .permission, .network, .cancelled, .notSeekable: .noInput
            }
        self.init(code, error.description)
    }

    /// The sink's refusal.
    public init(_ error: SinkError) {
        let code: ExitCode =
            switch error.code {
            case .noDisplay, .lost, .unsupported: .unavailable
            case .cannotCreate: .cannotCreate
            case .system: .software
            }
        self.init(code, error.description)
    }

    init(_ error: DecodingError, file: String) {
        self.init(error.isAboutMachine ? .unavailable : .data, "\(file): \(error.description)")
    }
}
