/// Which decoder a session is to use.
///
/// The counterpart of Video Toolbox's decoder specification.
public struct DecoderSpecification: Sendable, Hashable {
    /// Whether a device decodes.
    public enum Hardware: Sendable, Hashable {
        /// Use a hardware decoder where there is one for the stream, software elsewhere and while the hardware fails.
        case prefer
        /// Hardware or nothing: without it the session cannot be made, and frames it fails at are errors.
        case require
        /// Software only.
        case disable
    }

    /// Whether a device decodes; of no effect when `backend` names a decoder.
    public var hardware: Hardware
    /// The render node to decode on; nil takes the first that decodes the stream.
    public var device: String?
    /// The name of the only decoder to use (`DecoderBackends`); nil takes the first that takes the stream. `DecompressionSession` and
    /// `SandboxedSession` are decoders themselves and do not look at it.
    public var backend: String?

    /// Makes a specification; without arguments: hardware where there is some, on the first device that decodes the stream.
    public init(hardware: Hardware = .prefer, device: String? = nil, backend: String? = nil) {
        self.hardware = hardware
        self.device = device
        self.backend = backend
    }
}

/// The decoder that a session uses at present.
public struct BackendInUse: Sendable, Hashable {
    /// As `DecoderBackend.name`.
    public var name: String
    /// A device decodes.
    public var isHardware: Bool
    /// The driver's own name; nil for software.
    public var driver: String?
    /// Why it is not hardware although that was preferred; nil when it is, or when nobody asked.
    public var reason: String?

    /// `h264 (software)`, `h264 (VA-API: Intel iHD driver …)`.
    /// - Parameter decoder: The decoder's own name, such as libavcodec's.
    public func label(_ decoder: String) -> String { "\(decoder) (\(driver.map { "VA-API: \($0)" } ?? name))" }

    /// For a backend that the program has added.
    public init(name: String, isHardware: Bool = false, driver: String? = nil, reason: String? = nil) {
        self.name = name
        self.isHardware = isHardware
        self.driver = driver
        self.reason = reason
    }

    /// For the library's own.
    package init(isHardware: Bool, driver: String? = nil, reason: String? = nil) {
        self.init(name: isHardware ? DecoderBackends.vaapi : DecoderBackends.software, isHardware: isHardware, driver: driver, reason: reason)
    }
}
