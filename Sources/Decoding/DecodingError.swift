internal import Sandbox

/// Why there is no decoder, or what went wrong with a sample.
public struct DecodingError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of an error, for a program's decisions.
    public enum Code: Sendable, Hashable {
        /// The installed libavcodec has no decoder for this codec, or no backend takes it.
        case noDecoder
        /// The decoder does not accept the stream's set-up data.
        case cannotOpen
        /// A sample's bytes are invalid; playback can go on with the next.
        case invalidData
        /// The decoder makes a pixel layout that `PixelFormat` does not name and that cannot be converted.
        case unsupportedPixelFormat
        /// The decoder's frames are not what `DecoderOptions.requirements` asks for, and no conversion makes them so.
        case requirements
        /// The frame needs more memory than `DecoderOptions.maximumSurfaceBytes` allows or the system has.
        case outOfSurfaces
        /// Hardware decoding is required but not available, or the hardware failed at a frame.
        case noHardware
        /// The session has been invalidated.
        case invalidated
        /// libavcodec failed in another way.
        case decoder
        /// The decoder process died, or hung and was ended. Another takes its place at the next sync sample.
        case decoderDied
        /// Decoder processes died too often; nothing more is decoded before the next flush.
        case decoderLost
        /// This machine has no decoder process, or it cannot be confined as required.
        case sandbox
        /// The system has no thread or memory left for the decoder, or no descriptor, memory or process for its process, or the program of that
        /// ends before it has said anything. Never a reason to decode outside of one.
        case outOfResources
    }

    /// The kind, for a program's decisions.
    public let code: Code
    /// libavcodec's error number (`AVERROR`) or the system's (`errno`); 0 where there is none.
    public let status: Int32
    /// One sentence.
    public let description: String

    /// Makes an error, also for a backend that a program brings. `description` is one sentence.
    public init(_ code: Code, _ description: String, status: Int32 = 0) {
        self.code = code
        self.status = status
        self.description = description
    }

    /// Whether the machine lacks what was asked for, so that another film would fail in the same way.
    package var isAboutMachine: Bool { [.sandbox, .outOfResources, .noHardware].contains(code) }

    /// For a process that cannot be had.
    init(_ error: SandboxError) {
        self.init(error.code == .outOfResources ? .outOfResources : .sandbox, error.description, status: error.status)
    }
}
