internal import Media

/// A `LightMapping` to more than 8 bits for many pixels: every curve is a table. `ToneMapLanes` maps to 8 bits, several times as fast.
///
/// Thread-safety: immutable.
@safe
final class ToneMapTables: @unchecked Sendable {
    /// Bits of the R′G′B′ that is read.
    static let inputDepth = 16
    /// Bits of the result.
    let outputDepth: Int
    private let isHLG: Bool
    private let light: CurveTable
    private let systemGain: CurveTable
    private let gain: CurveTable
    /// By the brightest component before it is mapped.
    private let share: CurveTable
    private let code: CurveTable
    /// The luminance of the source's red, green and blue.
    private let weights: SIMD3<Float>
    private let matrix: [SIMD3<Float>]
    private let targetWeights: SIMD3<Float>

    init(_ mapping: LightMapping, outputDepth: Int) {
        self.outputDepth = outputDepth
        isHLG = mapping.transfer == .hlg
        let peak = mapping.mapping.targetPeak, primaries = ColorPrimaries(mapping.primaries)
        // Light of the display is relative to the target's peak, HLG's light of the scene to its own.
        let unit = mapping.transfer == .hlg ? 1 : peak
        light = CurveTable(count: 1 << Self.inputDepth) { mapping.transfer.light($0) / unit }
        systemGain = CurveTable(octaves: -24...0) { TransferCurve.hlgGain($0) / peak }
        gain = CurveTable(octaves: -24...10) { mapping.mapped($0) / $0 }
        share = CurveTable(octaves: -24...10) { LightMapping.separateShare(mapping.mapped($0)) }
        let most = Double((1 << outputDepth) - 1)
        code = CurveTable(octaves: -40...0) { TransferCurve.power($0, 1 / LightMapping.displayGamma) * most }
        weights = SIMD3(primaries.luminance)
        matrix = primaries.rows(to: .bt709).map { SIMD3($0) }
        targetWeights = SIMD3(ColorPrimaries.bt709.luminance)
    }

    /// Maps `count` pixels; the results are handed to `write` with their places.
    @inline(__always)
    func map(
        _ red: UnsafePointer<UInt16>, _ green: UnsafePointer<UInt16>, _ blue: UnsafePointer<UInt16>, _ range: Range<Int>,
        _ write: (Int, UInt32, UInt32, UInt32) -> Void
    ) {
        let (toRed, toGreen, toBlue) = (matrix[0], matrix[1], matrix[2])
        let light = unsafe light.values, (system, gain, share, code) = (systemGain.places, gain.places, share.places, code.places)
        for x in range {
            var r = unsafe light[Int(red[x])], g = unsafe light[Int(green[x])], b = unsafe light[Int(blue[x])]
            if isHLG {
                let factor = system.value(weights.x * r + weights.y * g + weights.z * b)
                (r, g, b) = (r * factor, g * factor, b * factor)
            }
            let brighter = r > g ? r : g, brightest = brighter > b ? brighter : b, separate = share.value(brightest)
            let together = gain.value(brightest) * (1 - separate)
            r *= together + gain.value(r) * separate
            g *= together + gain.value(g) * separate
            b *= together + gain.value(b) * separate
            (r, g, b) = (
                toRed.x * r + toRed.y * g + toRed.z * b, toGreen.x * r + toGreen.y * g + toGreen.z * b, toBlue.x * r + toBlue.y * g + toBlue.z * b
            )
            let low = r < g ? r : g, least = low < b ? low : b
            if least < 0 {
                let luminance = targetWeights.x * r + targetWeights.y * g + targetWeights.z * b
                let part = luminance > 0 ? luminance / (luminance - least) : 0
                (r, g, b) = (luminance + (r - luminance) * part, luminance + (g - luminance) * part, luminance + (b - luminance) * part)
            }
            let high = r > g ? r : g, most = high > b ? high : b
            if most > 1 {
                let part = 1 / most
                (r, g, b) = (r * part, g * part, b * part)
            }
            write(x, Self.rounded(code.value(r)), Self.rounded(code.value(g)), Self.rounded(code.value(b)))
        }
    }

    /// The nearest whole number, for numbers from 0 to 65,535: the sum's last bit counts ones.
    @inline(__always)
    private static func rounded(_ number: Float) -> UInt32 { (number + 0x1p23).bitPattern & 0x7f_ffff }
}

/// A function as a table of numbers.
///
/// Thread-safety: immutable.
@safe
private final class CurveTable: @unchecked Sendable {
    let values: UnsafeMutablePointer<Float>
    /// The last number but one; there is one more, so that there is always a next.
    private let last: Int
    /// The first number's place in the order of all floating-point numbers.
    private let base: Int

    /// 128 numbers for each octave, with straight lines between them: off by less than 1 part in 100,000 for powers between 0 and 1.
    private static let stepBits = 7
    fileprivate static let shift = Int32(Float.significandBitCount - stepBits)

    /// Of whole numbers below `count`, taken as 0 to 1.
    init(count: Int, _ function: (Double) -> Double) {
        last = count - 1
        base = 0
        unsafe values = .allocate(capacity: count)
        for index in 0..<count { unsafe values[index] = Float(function(Double(index) / Double(count - 1))) }
    }

    /// Of numbers from 2 to the power of the first octave up to 2 to the power of the last; what is smaller or greater counts as the nearest.
    init(octaves: ClosedRange<Int>, _ function: (Double) -> Double) {
        base = Int(Float(sign: .plus, exponent: octaves.lowerBound, significand: 1).bitPattern >> UInt32(Self.shift))
        last = octaves.count << Self.stepBits
        unsafe values = .allocate(capacity: last + 2)
        for index in 0...last {
            let number = Float(bitPattern: UInt32(base + index) << UInt32(Self.shift))
            unsafe values[index] = Float(function(Double(number)))
        }
        unsafe values[last + 1] = values[last]
    }

    deinit { unsafe values.deallocate() }

    /// For many look-ups; valid while the table lives.
    var places: Places { unsafe Places(values: values, base: base, last: last) }

    @safe
    struct Places {
        fileprivate let values: UnsafeMutablePointer<Float>
        fileprivate let base: Int
        fileprivate let last: Int

        fileprivate init(values: UnsafeMutablePointer<Float>, base: Int, last: Int) {
            unsafe self.values = values
            self.base = base
            self.last = last
        }

        @inline(__always)
        func value(_ number: Float) -> Float {
            // The order of positive numbers is that of their bits; negative ones come first.
            let bits = Int32(bitPattern: number.bitPattern)
            let index = min(max(Int(bits &>> CurveTable.shift) &- base, 0), last)
            let part = Float(bits & ((1 &<< CurveTable.shift) &- 1)) * (1 / Float(1 << CurveTable.shift))
            let low = unsafe values[index]
            return unsafe low + part * (values[index &+ 1] - low)
        }
    }
}
