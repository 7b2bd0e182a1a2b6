internal import CAV
internal import Glibc
internal import Media
internal import Sandbox

/// Why a film cannot be opened or read, in one sentence that names it and the cause.
public struct AssetError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of failure, for a program's decisions.
    public enum Code: Sendable, Hashable {
        /// Opening failed: for a reason that has no code, for want of the file or of permission, or because its address cannot be reached.
        case cannotOpen, noSuchFile, permission, network
        /// Not a format that libavformat knows.
        case unrecognised
        /// Opened, but nothing in it can be played.
        case noPlayableTrack
        /// The rest of the film cannot be read or understood.
        case damaged
        /// The film ends before its end: its file is cut short, or the connection was lost and could not be made again in time.
        case cutShort
        /// `cancel` was called.
        case cancelled
        /// The source cannot seek.
        case notSeekable
        /// This machine, or the film, does not allow reading in a process without rights, as was asked for.
        case sandbox
        /// The system has no descriptor or memory left to read the film, or no process for such a process. Never a reason to read the film outside of
        /// one.
        case outOfResources
        /// The process that read it has died, has hung, or has sent a malformed message.
        case readerDied
        /// There is no camera, or it is busy, unplugged or out of order.
        case device
    }

    /// The kind of failure, for a program's decisions.
    public var code: Code
    /// One sentence, which begins with the name of the film.
    public var description: String

    /// Takes the kind of failure and one sentence, which begins with the name of the film. Passwords of addresses in it are left out.
    public init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description.withoutPasswords
    }

    /// For a process that cannot be started.
    init(_ error: SandboxError, _ name: String) {
        self.init(error.code == .outOfResources ? .outOfResources : .sandbox, "\(name): \(error.description).")
    }

    /// A file that the system does not open.
    package static func opening(_ name: String, _ code: Int32) -> AssetError {
        switch code {
        case ENOENT, ENOTDIR: AssetError(.noSuchFile, "\(name): no such file.")
        case EACCES, EPERM: AssetError(.permission, "\(name): no permission to read it.")
        case EISDIR: AssetError(.cannotOpen, "\(name): it is a folder, not a film.")
        case let code where isShortage(code): AssetError(.outOfResources, "\(name): cannot be opened: \(unsafe String(cString: strerror(code))).")
        default: AssetError(.cannotOpen, "\(name): cannot be opened: \(unsafe String(cString: strerror(code))).")
        }
    }

    package static func reading(_ name: String, _ code: Int32) -> AssetError {
        AssetError(
            isShortage(code) ? .outOfResources : .damaged, "\(name): cannot be read further: \(unsafe String(cString: strerror(code))).")
    }

    /// The film is not what fails.
    private static func isShortage(_ code: Int32) -> Bool { [ENOMEM, EMFILE, ENFILE].contains(code) }

    package static func notSeekable(_ name: String) -> AssetError { AssetError(.notSeekable, "\(name): cannot seek in it.") }

    package static func noPlayableTrack(_ name: String) -> AssetError {
        AssetError(.noPlayableTrack, "\(name): no track in it can be played.")
    }

    /// libavformat's refusal to open `name`.
    static func opening(_ name: String, av code: Int32) -> AssetError {
        if code == cav_error_exit { return AssetError(.cancelled, "\(name): opening was cancelled.") }
        if code == cav_error_invalid_data { return AssetError(.unrecognised, "\(name): not a film that can be recognised.") }
        if code == cav_error_eof { return AssetError(.unrecognised, "\(name): it is empty or ends too early.") }
        if code == cav_error_protocol_not_found { return AssetError(.cannotOpen, "\(name): unknown kind of address.") }
        if code < 0, code > -4096 {
            let posix = cav_error_posix(code)
            if [ECONNREFUSED, ETIMEDOUT, EHOSTUNREACH, ENETUNREACH, ECONNRESET, EIO].contains(posix), name.contains("://") {
                return AssetError(.network, "\(name): cannot be reached: \(unsafe String(cString: strerror(posix))).")
            }
            return opening(name, posix)
        }
        return AssetError(name.contains("://") ? .network : .cannotOpen, "\(name): cannot be opened: \(message(code)).")
    }

    static func reading(_ name: String, av code: Int32) -> AssetError {
        if code == cav_error_exit { return AssetError(.cancelled, "\(name): reading was cancelled.") }
        if isShortage(cav_error_posix(code)) { return reading(name, cav_error_posix(code)) }
        return AssetError(.damaged, "\(name): cannot be read further: \(message(code)).")
    }

    static func message(_ code: Int32) -> String {
        var text = [CChar](repeating: 0, count: 128)
        _ = unsafe av_strerror(code, &text, text.count)
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
