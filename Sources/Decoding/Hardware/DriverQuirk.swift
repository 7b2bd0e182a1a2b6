internal import Media

/// What is known to be wrong with a driver, and why it is not used for a stream because of that.
struct DriverQuirk {
    /// What the driver's name for itself begins with.
    var vendor: String
    /// The codec that it is unfit for; nil for all.
    var codec: VideoCodec?
    /// One sentence.
    var reason: String

    static let table = [
        DriverQuirk(
            vendor: "Splitted-Desktop Systems VDPAU backend", codec: nil,
            reason: "the driver is a bridge to VDPAU, whose surfaces cannot be exported; every frame would have to be copied")
    ]

    /// Why the driver is unfit; nil when nothing is known against it.
    static func reason(vendor: String, codec: VideoCodec, in table: [DriverQuirk] = table) -> String? {
        table.first { vendor.hasPrefix($0.vendor) && ($0.codec == nil || $0.codec == codec) }?.reason
    }
}
