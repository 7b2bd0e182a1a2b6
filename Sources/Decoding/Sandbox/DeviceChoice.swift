internal import Media
internal import SurfacePool

/// Which render nodes a session in processes has yet to try, and why the others were refused. It opens none.
struct DeviceChoice {
    /// In the machine's order.
    private var untried: [String]
    /// The one in use, or last in use.
    private(set) var node: String?
    private var reasons: [String] = []
    /// Why the one that served is not used any more.
    private var failure: String?
    /// Why nothing is to be tried.
    private let obstacle: String?

    /// - Parameter paths: The machine's render nodes.
    init(for format: VideoFormat, _ specification: DecoderSpecification, paths: () -> [String] = VADevice.paths) {
        guard specification.hardware != .disable else {
            untried = []
            obstacle = nil
            return
        }
        let nodes = specification.device.map { [$0] } ?? paths()
        if nodes.isEmpty {
            obstacle = "there is no hardware decoder: this machine has no DRM render node"
        } else if HardwareProfiles.names(for: format).isEmpty {
            obstacle = HardwareProfiles.obstacle(format)
        } else {
            obstacle = nil
        }
        untried = obstacle == nil ? nodes : []
    }

    /// The next to try; nil when there is none.
    mutating func next() -> String? {
        guard !untried.isEmpty else { return nil }
        node = untried.removeFirst()
        return node
    }

    /// The one tried last does not serve.
    mutating func refused(_ reason: String) { reasons.append(node.map { reason.contains($0) ? reason : "\($0): \(reason)" } ?? reason) }

    /// Hardware that served has failed.
    mutating func failed(_ reason: String) { failure = reason }

    /// Why there is no hardware; nil when nobody asked for it.
    var sentence: String? {
        if let known = obstacle ?? failure { return known }
        return reasons.isEmpty ? nil : "no hardware decoder takes the film: \(reasons.joined(separator: "; "))"
    }
}
