package import Media

/// What a monitor is told about the light that the picture's code values mean.
///
/// A pure decision. A monitor is told of high dynamic range and wide primaries only when its EDID says that it understands them.
package struct DisplaySignal: Sendable, Hashable {
    /// The bytes of the connector's `HDR_OUTPUT_METADATA`; nil: none.
    package var metadata: [UInt8]?
    /// A name of the connector's `Colorspace`; nil: as without a film.
    package var colorspace: String?
    /// The connector's `max bpc`; nil: as it is.
    package var bits: UInt64?

    /// Nothing but the usual light.
    package static let usual = DisplaySignal()

    package init(metadata: [UInt8]? = nil, colorspace: String? = nil, bits: UInt64? = nil) {
        self.metadata = metadata
        self.colorspace = colorspace
        self.bits = bits
    }

    /// The signal for a film, and a word about what the monitor is not told; nil when there is nothing to say.
    ///
    /// - Parameter connector: What can be set, and to what.
    package static func choose(
        _ color: ColorDescription, _ hdr: HDRStaticMetadata?, monitor: EDID.Light, connector: KMSObject
    ) -> (signal: DisplaySignal, lack: String?) {
        let curve: (name: String, light: EDID.Light, eotf: UInt8)? =
            switch color.transfer {
            case 16: ("PQ", .pq, 2)
            case 18: ("HLG", .hlg, 3)
            default: nil
            }
        let wide = color.primaries == 9 && monitor.contains(.bt2020) ? colorspace(connector) : nil
        guard let curve else { return (DisplaySignal(colorspace: wide), nil) }
        let film = "the film's high dynamic range (\(curve.name)) is shown as if it were a usual one"
        guard monitor.contains(curve.light) else { return (.usual, "\(film): the monitor does not say that it understands it") }
        guard let property = connector.properties["HDR_OUTPUT_METADATA"], !property.isImmutable else {
            return (.usual, "\(film): the device has no HDR_OUTPUT_METADATA")
        }
        return (DisplaySignal(metadata: metadata(curve.eotf, hdr), colorspace: wide, bits: bits(connector)), nil)
    }

    /// Display hardware turns pictures into RGB; drivers that send YCbCr all the same take this name too.
    private static func colorspace(_ connector: KMSObject) -> String? {
        ["BT2020_RGB", "BT2020_YCC"].first { connector.properties["Colorspace"]?.names[$0] != nil }
    }

    /// Ten bits a channel, where the connector is held below that.
    private static func bits(_ connector: KMSObject) -> UInt64? {
        guard let property = connector.properties["max bpc"], let range = property.range, property.value < 10, range.upperBound > property.value
        else {
            return nil
        }
        return min(10, range.upperBound)
    }

    /// The kernel's `struct hdr_output_metadata`: a kind of four bytes, then CTA-861.3's "Dynamic Range and Mastering InfoFrame" of static
    /// metadata type 1, filled up to a multiple of four. Each number of two bytes, the lower first.
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
        // Whole cd/m² here, and ten-thousandths below.
        add(((hdr?.maximumLuminance ?? 0) / 5000 + 1) / 2)
        add(hdr?.minimumLuminance ?? 0)
        add(UInt32(hdr?.maximumContentLightLevel ?? 0))
        add(UInt32(hdr?.maximumFrameAverageLightLevel ?? 0))
        return bytes + [0, 0]
    }
}

/// Whether the monitor is to wait for the film's pictures instead of refreshing at a steady rate.
public enum VariableRefresh: String, Sendable, Hashable, CaseIterable {
    /// Where the monitor can, and its steady rate is no whole multiple of the film's.
    case auto
    /// Where the monitor can.
    case on
    case off

    /// - Parameter isCapable: The connector says so (`vrr_capable`).
    package func isWanted(isCapable: Bool, refresh: Ratio, filmRate: Ratio) -> Bool {
        switch self {
        case .off: false
        case .on: isCapable
        case .auto: isCapable && filmRate.isKnown && ModeChoice.multiple(refresh, of: filmRate) == nil
        }
    }
}
