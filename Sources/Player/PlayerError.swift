package import AudioSink
package import Decoding
package import Demuxing
public import DisplaySink
internal import Glibc
internal import Media

/// Says why a film cannot be played: a code for programs, and one sentence that names the file or device and the cause.
public struct PlayerError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kinds of failure that a program may want to tell apart.
    public enum Code: Sendable, Hashable, CaseIterable {
        /// A value that the caller passed is not allowed.
        case invalidArgument
        /// The path names no file.
        case noSuchFile
        /// The user may not read the file.
        case permissionDenied
        /// The server cannot be reached, or it refuses the address.
        case network
        /// The file exists but cannot be opened: a folder, an unknown kind of address, a fault of the disk.
        case cannotOpen
        /// The container is unknown, or no track in it can be decoded.
        case unsupportedFormat
        /// The bytes make no sense from some point on, or none of them could be decoded.
        case damaged
        /// The film ends before its end: its file is cut short, or the connection was lost and could not be made again in time.
        case cutShort
        /// The source cannot go to another time, as a pipe cannot.
        case notSeekable
        /// The task was cancelled, or a later command took the place of this one.
        case cancelled
        /// There is no film: `open` has not returned yet, or the player has been closed.
        case notOpen
        /// There is no display, it is gone, or it cannot show the film. For a film that is only sound: there is no sound device. For a
        /// camera: there is none, another program uses it, or it has been unplugged.
        case displayUnavailable
        /// The hardware decoder or the sandbox that was required is not available.
        case decoderUnavailable
        /// A file to be written (checksums, statistics) cannot be created.
        case cannotCreate
        /// An output (checksums, statistics, a report) cannot be written whole: the disk is full, the pipe is closed.
        case cannotWrite
        /// The operating system refused a resource that it normally grants.
        case system
    }

    /// The kind of failure.
    public var code: Code
    /// One sentence for the viewer, with the file or the device and the cause.
    public var description: String
    /// What was opened is not a film that is recognised; it may be something else, such as a page.
    package var isUnrecognised = false

    /// Makes an error of a program's own.
    public init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description.withoutPasswords
    }

    /// Makes the error for what the demuxer reports.
    package init(_ error: AssetError) {
        let code: Code =
            switch error.code {
            case .noSuchFile: .noSuchFile
            case .permission: .permissionDenied
            case .network: .network
            case .cannotOpen: .cannotOpen
            case .unrecognised, .noPlayableTrack: .unsupportedFormat
            case .damaged, .readerDied: .damaged
            case .cutShort: .cutShort
            case .notSeekable: .notSeekable
            case .cancelled: .cancelled
            case .sandbox: .decoderUnavailable
            case .outOfResources: .system
            case .device: .displayUnavailable
            }
        self.init(code, error.description)
        isUnrecognised = error.code == .unrecognised
    }

    /// Makes the error for what a sink reports.
    public init(_ error: SinkError) {
        let code: Code =
            switch error.code {
            case .noDisplay, .lost, .unsupported: .displayUnavailable
            case .cannotCreate: .cannotCreate
            case .cannotWrite: .cannotWrite
            case .inUse: .invalidArgument
            case .system: .system
            }
        self.init(code, error.description)
    }

    /// Makes the error for a film that is only sound, which cannot be played.
    package init(_ error: AudioError, file: String) {
        let code: Code =
            switch error.code {
            case .cannotOpen, .lost: .displayUnavailable
            case .unsupportedFormat, .noDecoder: .unsupportedFormat
            case .sandbox: .decoderUnavailable
            case .system: .system
            }
        self.init(code, "\(file): \(error.description).")
    }

    /// Makes the error for a film that the decoder cannot continue to decode.
    package init(_ error: DecodingError, file: String) {
        // libavcodec's numbers are negative.
        let isShortage = error.code == .outOfResources || [EAGAIN, ENOMEM].contains(abs(error.status))
        self.init(isShortage ? .system : error.isAboutMachine ? .decoderUnavailable : .damaged, "\(file): \(error.description)")
    }
}
