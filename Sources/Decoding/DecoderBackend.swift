public import Media
public import Sandbox
public import SurfacePool

/// A kind of decoder, by which a program adds a codec or a device of its own: it makes sessions for the formats that it takes.
///
/// The counterpart of registering a professional or supplemental video decoder with Video Toolbox.
///
/// Thread-safety: called from any thread.
public protocol DecoderBackend: Sendable {
    /// How it is chosen: short, in lower case, and unique, such as `va-api`.
    var name: String { get }
    /// What it decodes and on what, in a few words for a list of decoders.
    var summary: String { get }
    /// Why it cannot decode on this machine, as the end of a sentence; nil when it can.
    var obstacle: String? { get }
    /// Makes a session that decodes one stream.
    ///
    /// - Parameters:
    ///   - allocator: Makes the memory that the sink shows without a copy.
    ///   - statistics: Counts the bytes that the session writes and copies.
    /// - Throws: `.noDecoder` or `.noHardware` when it does not take the format, whereupon the next backend is asked. Any other error ends the
    ///   search.
    func makeSession(
        for format: VideoFormat, _ options: DecoderOptions, allocator: any SurfaceAllocator, statistics: FrameStatistics
    ) throws(DecodingError) -> any DecodingSession
}

/// The decoders of this program: those that it has added, and those of this library.
///
/// Thread-safety: all of it.
public enum DecoderBackends {
    /// The name of libavcodec's software decoders.
    public static let software = "software"
    /// The name of hardware decoders behind a render node.
    public static let vaapi = "va-api"

    private static let list = Monitor<[any DecoderBackend]>([])

    /// Those that the program has added, in the order in which they are asked: the one added last first. All are asked before this library's own.
    public static var added: [any DecoderBackend] { list.withLock { $0 } }

    /// Adds a backend for all sessions that are made later. It takes the place of one with the same name.
    public static func add(_ backend: any DecoderBackend) {
        precondition(![software, vaapi].contains(backend.name), "\(backend.name) is the name of a backend of this library")
        list.withLock { list in
            list.removeAll { $0.name == backend.name }
            list.insert(backend, at: 0)
        }
    }

    /// Takes a backend off the list. Its sessions go on.
    public static func remove(_ name: String) { list.withLock { $0.removeAll { $0.name == name } } }

    /// Makes a session with the backend that `options.specification` names, else with the first that takes the format.
    ///
    /// Added backends run in this program. With a sandbox they are therefore passed over, and naming one is an error.
    ///
    /// - Parameter onNotice: Takes a sentence when decoding goes on without a sandbox that was asked for, and one when the frames come without the
    ///   alpha that the film has.
    /// - Throws: `.noDecoder` when no backend has this name or takes the format; otherwise as `DecompressionSession` and `SandboxedSession`.
    public static func makeSession(
        for format: VideoFormat, _ options: DecoderOptions = DecoderOptions(), sandbox: SandboxOptions = SandboxOptions(),
        allocator: any SurfaceAllocator = MemfdAllocator(), statistics: FrameStatistics = FrameStatistics(), onNotice: (String) -> Void = { _ in }
    ) throws(DecodingError) -> any DecodingSession {
        var options = options
        if let notice = format.alphaNotice(options) { onNotice(notice) }
        switch options.specification.backend {
        case nil:
            guard sandbox.policy == .off else { break }
            for backend in added where backend.obstacle == nil {
                do throws(DecodingError) {
                    return try backend.makeSession(for: format, options, allocator: allocator, statistics: statistics)
                } catch {
                    guard error.code == .noDecoder || error.code == .noHardware else { throw error }
                }
            }
        case software: options.specification.hardware = .disable
        case vaapi: options.specification.hardware = .require
        case let name?:
            guard let backend = added.first(where: { $0.name == name }) else {
                let names = (added.map(\.name) + [vaapi, software]).joined(separator: ", ")
                throw DecodingError(.noDecoder, "no decoder is called \(name); there are \(names)")
            }
            guard sandbox.policy == .off else { throw DecodingError(.noDecoder, "the decoder \(name) runs in this program and has no sandbox") }
            if let obstacle = backend.obstacle { throw DecodingError(.noDecoder, "the decoder \(name) cannot be used: \(obstacle)") }
            return try backend.makeSession(for: format, options, allocator: allocator, statistics: statistics)
        }
        if sandbox.policy != .off {
            do throws(DecodingError) {
                return try SandboxedSession(format: format, options: options, sandbox: sandbox, allocator: allocator, statistics: statistics)
            } catch {
                guard error.code == .sandbox, sandbox.policy != .require else { throw error }
                onNotice("Decoding without a sandbox: \(error).")
            }
        }
        return try DecompressionSession(format: format, options: options, allocator: allocator, statistics: statistics)
    }
}
