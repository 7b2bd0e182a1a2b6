internal import Sandbox

/// Why a decoder cannot be had, or what went wrong with a sample.
public struct DecodingError: Error, Sendable, Hashable, CustomStringConvertible {
    public enum Code: Sendable, Hashable {
        /// No decoder for this codec in the libavcodec at hand.
        case noDecoder
        /// The decoder does not take the stream's set-up data.
        case cannotOpen
        /// A sample's bytes make no sense; playback can go on with the next.
        case invalidData
        /// The decoder puts out pixels in a way that `PixelFormat` has no word for and that cannot be converted.
        case unsupportedPixelFormat
        /// The frame needs more memory than `DecoderOptions.maximumSurfaceBytes` allows, or than there is.
        case outOfSurfaces
        /// Hardware decoding was required and cannot be had, or the hardware failed at a frame.
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
        /// The system has no descriptor, memory or process left for a decoder process. Never a reason to decode outside of one.
        case outOfResources
    }

    public let code: Code
    /// libavcodec's error number (`AVERROR`), 0 where it has no part in it.
    public let status: Int32
    /// One sentence.
    public let description: String

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
