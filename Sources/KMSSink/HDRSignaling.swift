package import Media

/// The signaling that tells a monitor what the frames' code values mean: HDR metadata, color space and bit depth.
///
/// A pure decision. HDR and wide primaries are signalled only to a monitor whose EDID announces them.
package struct HDRSignaling: Sendable, Hashable {
    /// The value of the connector's `HDR_OUTPUT_METADATA`; nil: none.
    package var metadata: [UInt8]?
    /// The enumeration name for the connector's `Colorspace`; nil: the default.
    package var colorspace: String?
    /// The connector's `max bpc`; nil: unchanged.
    package var maxBPC: UInt64?

    /// Standard dynamic range.
    package static let sdr = HDRSignaling()

    package init(metadata: [UInt8]? = nil, colorspace: String? = nil, maxBPC: UInt64? = nil) {
        self.metadata = metadata
        self.colorspace = colorspace
        self.maxBPC = maxBPC
    }

    /// The signaling for a film, and what cannot be signalled; `limitation` is nil when the film needs nothing more.
    ///
    /// - Parameter connector: The connector's properties and their possible values.
    package static func choose(
        _ color: ColorDescription, _ hdr: HDRStaticMetadata?, monitor: EDID.ColorSupport, connector: KMSObject
    ) -> (signal: HDRSignaling, limitation: String?) {
        let curve: (name: String, colorSupport: EDID.ColorSupport, eotf: UInt8)? =
            switch color.transfer {
            case 16: ("PQ", .pq, 2)
            case 18: ("HLG", .hlg, 3)
            default: nil
            }
        let wide = color.primaries == 9 && monitor.contains(.bt2020) ? colorspace(connector) : nil
        guard let curve else { return (HDRSignaling(colorspace: wide), nil) }
        let film = "the film's HDR (\(curve.name)) is shown as standard dynamic range"
        guard monitor.contains(curve.colorSupport) else { return (.sdr, "\(film): the monitor does not announce support for it") }
        guard let property = connector.properties["HDR_OUTPUT_METADATA"], !property.isImmutable else {
            return (.sdr, "\(film): the device has no HDR_OUTPUT_METADATA")
        }
        return (HDRSignaling(metadata: metadata(curve.eotf, hdr), colorspace: wide, maxBPC: bits(connector)), nil)
    }

    /// The display hardware converts to RGB. Drivers that send YCbCr accept the first name, too.
    private static func colorspace(_ connector: KMSObject) -> String? {
        ["BT2020_RGB", "BT2020_YCC"].first { connector.properties["Colorspace"]?.names[$0] != nil }
    }

    /// Ten bits per channel, if the connector is limited to less.
    private static func bits(_ connector: KMSObject) -> UInt64? {
        guard let property = connector.properties["max bpc"], let range = property.range, property.value < 10, range.upperBound > property.value
        else {
            return nil
        }
        return min(10, range.upperBound)
    }

    /// The kernel's `struct hdr_output_metadata`: a type of four bytes, then the static metadata type 1 of CTA-861.3's "Dynamic Range and Mastering
    /// InfoFrame", padded to a multiple of four. Numbers have two bytes, little-endian.
    package static func metadata(_ eotf: UInt8, _ hdr: HDRStaticMetadata?) -> [UInt8] {
        var bytes: [UInt8] = [0, 0, 0, 0, eotf, 0]
        func add(_ value: UInt32) {
            let value = UInt16(min(value, 0xffff))
            bytes += [UInt8(value & 0xff), UInt8(value >> 8)]
        }
        for point in [hdr?.red, hdr?.green, hdr?.blue, hdr?.white] {
            add(UInt32(point?.x ?? 0))
            add(UInt32(point?.y ?? 0))
        }
        // The maximum is in cd/m², the minimum in 0.0001 cd/m².
        add(((hdr?.maximumLuminance ?? 0) / 5000 + 1) / 2)
        add(hdr?.minimumLuminance ?? 0)
        add(UInt32(hdr?.maximumContentLightLevel ?? 0))
        add(UInt32(hdr?.maximumFrameAverageLightLevel ?? 0))
        return bytes + [0, 0]
    }
}

/// Whether the monitor refreshes when a frame comes (VRR), instead of at a fixed rate.
public enum VariableRefresh: String, Sendable, Hashable, CaseIterable {
    /// Use VRR if the monitor supports it and its fixed rate is no whole multiple of the film's frame rate.
    case auto
    /// Use VRR if the monitor supports it.
    case on
    /// Always use a fixed rate.
    case off

    /// - Parameter isCapable: The connector's `vrr_capable`.
    package func isWanted(isCapable: Bool, refresh: Ratio, filmRate: Ratio) -> Bool {
        switch self {
        case .off: false
        case .on: isCapable
        case .auto: isCapable && filmRate.isKnown && ModeSelection.multiple(refresh, of: filmRate) == nil
        }
    }
}
