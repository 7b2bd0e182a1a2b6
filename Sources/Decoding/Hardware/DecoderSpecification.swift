/// Which kind of decoder a session is to use.
///
/// The counterpart of Video Toolbox's decoder specification.
public struct DecoderSpecification: Sendable, Hashable {
    public enum Hardware: Sendable, Hashable {
        /// Use a hardware decoder where there is one for the stream, software elsewhere and while the hardware fails.
        case prefer
        /// Hardware or nothing: without it the session cannot be made, and frames it fails at are errors.
        case require
        /// Software only.
        case disable
    }

    public var hardware: Hardware
    /// The render node to decode on; nil takes the first that serves the stream.
    public var device: String?

    public init(hardware: Hardware = .prefer, device: String? = nil) {
        self.hardware = hardware
        self.device = device
    }
}

/// How a session decodes at present.
public struct DecoderWay: Sendable, Hashable {
    public var isHardware: Bool
    /// The driver's own name; nil for software.
    public var driver: String?
    /// Why it is not hardware although that was preferred; nil when it is, or when nobody asked.
    public var reason: String?

    /// `h264 (software)`, `h264 (VA-API: Intel iHD driver …)`.
    public func label(_ decoder: String) -> String { "\(decoder) (\(driver.map { "VA-API: \($0)" } ?? "software"))" }

    public init(isHardware: Bool, driver: String? = nil, reason: String? = nil) {
        self.isHardware = isHardware
        self.driver = driver
        self.reason = reason
    }
}
