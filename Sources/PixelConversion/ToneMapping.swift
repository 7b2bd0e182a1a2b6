public import Media

/// How frames in high dynamic range (PQ or HLG, ITU-R BT.2100) become frames for a display in standard dynamic range.
///
/// Dark colours are mapped by their brightest component, which keeps the hue; bright ones more and more by each component for itself, which makes
/// them whiter, as they look in the real world. Colours that BT.709 cannot show lose saturation, in linear light, until it can. The result has
/// BT.709's primaries and a gamma of 2.2, which such displays have.
public struct ToneMapping: Sendable, Hashable {
    /// How brightness is mapped; names as in mpv.
    public enum Curve: String, Sendable, Hashable, CaseIterable {
        /// The EETF of ITU-R BT.2390: keeps what is dark, and rolls off smoothly towards the peak.
        case bt2390 = "bt.2390"
        /// Keeps everything up to the display's peak and clips what is brighter.
        case clip
        /// Divides light so that the film's peak becomes the display's; dark on most films.
        case linear
        /// Reinhard's curve: simple, and bright in the middle.
        case reinhard
        /// Keeps what is dark and bends the rest with a Möbius transform.
        case mobius
        /// Hable's curve: keeps detail in dark and bright parts; dark on the whole.
        case hable
    }

    /// How brightness is mapped.
    public var curve: Curve
    /// The brightest white of the display, in cd/m².
    public var targetPeak: Double

    /// 203 cd/m²: the level of HDR reference white (ITU-R BT.2408), so that what is white in SDR stays white.
    public static let referenceWhite = 203.0
    /// 1000 cd/m²: the peak of a PQ film that does not tell it, and of HLG's reference display.
    public static let usualPeak = 1000.0

    /// Makes a mapping; a peak is taken to lie between 10 and 10,000 cd/m².
    public init(curve: Curve = .bt2390, targetPeak: Double = ToneMapping.referenceWhite) {
        self.curve = curve
        self.targetPeak = min(max(targetPeak, 10), TransferCurve.pqPeak)
    }

    /// Whether colours are in high dynamic range, which this maps.
    public static func applies(to color: ColorDescription) -> Bool { TransferCurve(hdr: color.transfer) != nil }
}

/// A `ToneMapping` for frames of certain colours and a certain peak: from code values to code values.
struct LightMapping: Hashable, Sendable {
    var transfer: TransferCurve
    /// Of H.273.
    var primaries: UInt8
    /// The film's brightest light, in cd/m².
    var sourcePeak: Double
    var mapping: ToneMapping

    /// nil for standard dynamic range. Without metadata a film in PQ is taken to have a peak of `ToneMapping.usualPeak`.
    init?(_ color: ColorDescription, _ hdr: HDRStaticMetadata?, _ mapping: ToneMapping) {
        guard let transfer = TransferCurve(hdr: color.transfer) else { return nil }
        self.transfer = transfer
        primaries = color.primaries
        self.mapping = mapping
        let told = [Double(hdr?.maximumContentLightLevel ?? 0), Double(hdr?.maximumLuminance ?? 0) / 10_000]
        let peak = transfer == .hlg ? ToneMapping.usualPeak : told.first { $0 > 0 } ?? ToneMapping.usualPeak
        sourcePeak = min(max(peak, mapping.targetPeak), TransferCurve.pqPeak)
    }

    /// The colours of the result.
    func color(from source: ColorDescription) -> ColorDescription {
        var color = source
        color.primaries = 1
        // H.273: an assumed display gamma of 2.2.
        color.transfer = 4
        return color
    }

    /// The gamma of the result.
    static let displayGamma = 2.2

    /// The brightness that replaces `light`; both are relative to the target's peak.
    func mapped(_ light: Double) -> Double {
        let peak = sourcePeak / mapping.targetPeak
        guard peak > 1 else { return min(light, 1) }
        let x = min(light, peak)
        switch mapping.curve {
        case .clip: return min(x, 1)
        case .linear: return x / peak
        case .reinhard: return x / (x + 1) * (peak + 1) / peak
        case .mobius:
            let knee = 0.3
            guard x > knee else { return x }
            let a = -knee * knee * (peak - 1) / (knee * knee - 2 * knee + peak)
            let b = (knee * knee - 2 * knee * peak + peak) / (peak - 1)
            return (b * b + 2 * b * knee + knee * knee) / (b - a) * (x + a) / (x + b)
        case .hable:
            func hable(_ x: Double) -> Double { (x * (0.15 * x + 0.05) + 0.004) / (x * (0.15 * x + 0.5) + 0.06) - 0.02 / 0.3 }
            return hable(x) / hable(peak)
        case .bt2390:
            // BT.2390, 5.4.1, for a black of 0: a Hermite spline from the knee on, in PQ's code values relative to the film's peak.
            let whole = TransferCurve.pqCode(sourcePeak), most = TransferCurve.pqCode(mapping.targetPeak) / whole
            let code = TransferCurve.pqCode(x * mapping.targetPeak) / whole, knee = max(1.5 * most - 0.5, 0)
            guard code > knee else { return x }
            let t = (code - knee) / (1 - knee), t2 = t * t, t3 = t2 * t
            let start = (2 * t3 - 3 * t2 + 1) * knee, slope = (t3 - 2 * t2 + t) * (1 - knee), end = (3 * t2 - 2 * t3) * most
            return TransferCurve.pqLight((start + slope + end) * whole) / mapping.targetPeak
        }
    }

    /// How much a colour is mapped by each component for itself, from 0 to 1; the rest by the brightest one alone.
    ///
    /// The numbers were fitted to what mpv 0.35 shows; with them 144 colours in PQ and HLG differ from its by 2 of 255 at most.
    ///
    /// - Parameter brightest: The brightest component, mapped.
    static func separateShare(_ brightest: Double) -> Double { 0.87 * TransferCurve.power(brightest, 0.26) }

    /// Light that is brought into the gamut: first less saturated, until no component is negative, then darker, until none exceeds 1.
    static func gamutMapped(_ light: SIMD3<Double>) -> SIMD3<Double> {
        var light = light
        let luminance = (light * ColorPrimaries.bt709.luminance).sum(), least = light.min()
        if least < 0 { light = luminance > 0 ? SIMD3(repeating: luminance) + (light - luminance) * (luminance / (luminance - least)) : .zero }
        let most = light.max()
        return most > 1 ? light / most : light
    }

    /// R′G′B′ as parts of the range (0…1), mapped as exactly as the formulas say. `ToneMapTables` does the same with tables.
    func mapped(code: SIMD3<Double>) -> SIMD3<Double> {
        var light = SIMD3(transfer.light(code.x), transfer.light(code.y), transfer.light(code.z))
        if transfer == .hlg { light *= TransferCurve.hlgGain((light * ColorPrimaries(primaries).luminance).sum()) }
        light /= mapping.targetPeak
        let brightest = light.max()
        if brightest > 0 {
            let target = mapped(brightest), share = Self.separateShare(target)
            light = light * (target / brightest * (1 - share)) + SIMD3(mapped(light.x), mapped(light.y), mapped(light.z)) * share
        }
        let rows = ColorPrimaries(primaries).rows(to: .bt709)
        light = Self.gamutMapped(SIMD3((rows[0] * light).sum(), (rows[1] * light).sum(), (rows[2] * light).sum()))
        func encoded(_ light: Double) -> Double { TransferCurve.power(min(max(light, 0), 1), 1 / Self.displayGamma) }
        return SIMD3(encoded(light.x), encoded(light.y), encoded(light.z))
    }
}
