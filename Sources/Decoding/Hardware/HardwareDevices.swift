internal import Media
public import SurfacePool

/// The hardware decoders and encoders of this machine, each opened once and kept while somebody uses it.
public enum HardwareDevices {
    private struct Entry {
        weak var device: VADevice?
    }

    private static let open = Monitor([String: Entry]())

    /// A device by its render node.
    /// - Parameter isFresh: Not the one that is open already.
    package static func device(_ path: String, isFresh: Bool = false) throws(SurfaceError) -> VADevice {
        if !isFresh, let device = open.withLock({ $0[path]?.device }) { return device }
        let device = try VADevice(path: path)
        open.withLock { $0[path] = Entry(device: device) }
        return device
    }

    /// Registers an open device under its path, as long as somebody keeps it.
    static func add(_ device: VADevice) { open.withLock { $0[device.path] = Entry(device: device) } }

    /// The device that decodes `format`, as `specification` wants it.
    /// - Throws: `.noHardware` with the reason.
    static func device(
        for format: VideoFormat, _ specification: DecoderSpecification, isFresh: Bool = false
    ) throws(DecodingError) -> VADevice {
        let wanted = HardwareProfiles.names(for: format)
        let paths = specification.device.map { [$0] } ?? VADevice.paths()
        guard !paths.isEmpty else { throw DecodingError(.noHardware, "there is no hardware decoder: this machine has no DRM render node") }
        guard !wanted.isEmpty else {
            throw DecodingError(.noHardware, HardwareProfiles.obstacle(format))
        }
        var reasons: [String] = []
        for path in paths {
            do throws(SurfaceError) {
                let device = try device(path, isFresh: isFresh)
                if let reason = reason(against: device, format, wanted) { reasons.append("\(path): \(reason)") } else { return device }
            } catch {
                reasons.append(error.description)
            }
        }
        throw DecodingError(.noHardware, "no hardware decoder takes the film: \(reasons.joined(separator: "; "))")
    }

    /// Why `device` cannot decode `format`; nil when it can.
    static func reason(against device: VADevice, _ format: VideoFormat) -> String? {
        let wanted = HardwareProfiles.names(for: format)
        return wanted.isEmpty ? "no hardware decoder is made for this profile" : reason(against: device, format, wanted)
    }

    private static func reason(against device: VADevice, _ format: VideoFormat, _ wanted: [String]) -> String? {
        if let quirk = DriverQuirk.reason(vendor: device.vendor, codec: format.codec) { return quirk }
        let fitting = device.profiles().filter { $0.decodes && wanted.contains($0.name) }
        guard !fitting.isEmpty else { return "the driver does not decode \(wanted.joined(separator: " or "))" }
        let size = format.codedSize
        let isLargeEnough = fitting.contains {
            $0.maximumSize.width == 0 || ($0.maximumSize.width >= size.width && $0.maximumSize.height >= size.height)
        }
        return isLargeEnough ? nil : "\(size.width)x\(size.height) is larger than the driver takes"
    }

    /// What was found at one render node.
    public struct Finding: Sendable {
        /// The render node.
        public var path: String
        /// nil where there is none.
        public var driver: String?
        /// What the driver decodes; empty when the device cannot be used.
        public var profiles: [VADevice.Profile]
        /// What it encodes; empty where that is nothing.
        public var encodingProfiles: [VADevice.EncodingProfile]
        /// Why there is no driver; nil where there is one.
        public var reason: String?
    }

    /// Every render node with its driver's profiles, or the reason why it has no driver.
    /// - Parameter path: Only this one.
    public static func findings(path: String? = nil) -> [Finding] {
        (path.map { [$0] } ?? VADevice.paths()).map { path in
            do throws(SurfaceError) {
                let device = try device(path)
                return Finding(
                    path: path, driver: device.vendor, profiles: device.profiles(), encodingProfiles: device.encodingProfiles(), reason: nil)
            } catch {
                return Finding(path: path, driver: nil, profiles: [], encodingProfiles: [], reason: error.description)
            }
        }
    }
}
