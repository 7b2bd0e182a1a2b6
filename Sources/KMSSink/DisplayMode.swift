package import Media

/// A resolution and refresh rate that a monitor supports.
package struct DisplayMode: Sendable, Hashable, CustomStringConvertible {
    package var size: PixelSize
    /// Refreshes per second, exactly: the pixel clock divided by the pixels of one refresh. `vrefresh`, which rounds 59.94 to 60, is not used.
    package var refresh: Ratio
    /// The monitor prefers this mode.
    package var isPreferred: Bool
    /// Each refresh shows half of the lines.
    package var isInterlaced: Bool

    package init(size: PixelSize, refresh: Ratio, isPreferred: Bool = false, isInterlaced: Bool = false) {
        self.size = size
        self.refresh = refresh
        self.isPreferred = isPreferred
        self.isInterlaced = isInterlaced
    }

    /// From the fields of the kernel's `drm_mode_modeinfo`.
    ///
    /// - Parameters:
    ///   - clock: Pixel clock in kHz.
    ///   - scans: How often each line is sent: `vscan`, times two in a double-scan mode.
    package init(
        size: PixelSize, clock: UInt32, horizontalTotal: UInt16, verticalTotal: UInt16, scans: Int = 1, isPreferred: Bool = false,
        isInterlaced: Bool = false
    ) {
        // An interlaced refresh shows one field; `verticalTotal` lines hold two.
        var numerator = Int64(clock) * 1000 * (isInterlaced ? 2 : 1)
        var denominator = Int64(horizontalTotal) * Int64(verticalTotal) * Int64(max(1, scans))
        let common = Self.commonDivisor(numerator, denominator)
        if common > 1 {
            numerator /= common
            denominator /= common
        }
        // Only a pixel clock above 2 GHz that has no common divisor with its totals loses its last bits.
        while numerator > Int64(Int32.max) {
            numerator /= 2
            denominator = max(1, denominator / 2)
        }
        let refresh = denominator > 0 && denominator <= Int64(Int32.max) ? Ratio(Int32(numerator), Int32(denominator)) : .unknown
        self.init(size: size, refresh: refresh, isPreferred: isPreferred, isInterlaced: isInterlaced)
    }

    /// Time between refreshes; nil when unknown.
    package var period: HostSpan? {
        guard refresh.isKnown else { return nil }
        return HostSpan(nanoseconds: (Int64(refresh.denominator) * 1_000_000_000 + Int64(refresh.numerator) / 2) / Int64(refresh.numerator))
    }

    /// As people write it: `1920x1080@59.94`.
    package var description: String {
        let thousandths = refresh.isKnown ? (Int64(refresh.numerator) * 1000 + Int64(refresh.denominator) / 2) / Int64(refresh.denominator) : 0
        var fraction = String(thousandths % 1000)
        fraction = String(repeating: "0", count: 3 - fraction.count) + fraction
        while fraction.hasSuffix("0") { fraction.removeLast() }
        return "\(size)@\(thousandths / 1000)" + (fraction.isEmpty ? "" : "." + fraction) + (isInterlaced ? "i" : "")
    }

    private static func commonDivisor(_ a: Int64, _ b: Int64) -> Int64 {
        var (a, b) = (a, b)
        while b != 0 { (a, b) = (b, a % b) }
        return a
    }
}
