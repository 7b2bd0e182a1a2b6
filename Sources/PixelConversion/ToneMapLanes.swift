internal import Media

/// A `LightMapping` to 8 bits for many pixels.
///
/// The three components of a pixel are computed at once, with their luminance as the fourth lane. The steps of a pixel depend on each other, those of
/// its neighbours do not; so each step is done for `chunk` pixels before the next.
///
/// Thread-safety: immutable.
@safe
final class ToneMapLanes: @unchecked Sendable {
    /// Bits of the R′G′B′ that is read: the steps of 8 bits are much coarser.
    static let inputDepth = 12
    /// Pixels between one step and the next.
    private static let chunk = 64

    private let light: any LaneSource
    /// The results by the leading bits of linear light from 0 to 1.
    private let codes: UnsafeMutablePointer<UInt8>
    /// 512 steps for each octave: off by 0.12 of 255 at most, before the result is rounded.
    private static let codeShift = UInt32(Float.significandBitCount - 9)

    init(_ mapping: LightMapping) {
        light = mapping.transfer == .hlg ? SceneLanes(mapping) : DisplayLanes(mapping)
        let last = Int(Float(1).bitPattern >> Self.codeShift)
        unsafe codes = .allocate(capacity: last + 1)
        for index in 0...last {
            let low = Float(bitPattern: UInt32(index) << Self.codeShift)
            let middle = index == last ? 1 : (low + Float(bitPattern: UInt32(index + 1) << Self.codeShift)) / 2
            unsafe codes[index] = UInt8((TransferCurve.power(Double(middle), 1 / LightMapping.displayGamma) * 255).rounded())
        }
    }

    deinit { unsafe codes.deallocate() }

    /// Maps `count` pixels; the results are handed to `write` with their places.
    @inline(__always)
    func map(
        _ red: UnsafePointer<UInt16>, _ green: UnsafePointer<UInt16>, _ blue: UnsafePointer<UInt16>, _ range: Range<Int>,
        _ write: (Int, UInt32, UInt32, UInt32) -> Void
    ) {
        let codes = unsafe codes
        unsafe withUnsafeTemporaryAllocation(of: Lanes.self, capacity: Self.chunk) { buffer in
            let lanes = buffer.baseAddress!
            for first in stride(from: range.lowerBound, to: range.upperBound, by: Self.chunk) {
                let count = min(Self.chunk, range.upperBound - first)
                unsafe light.read(red + first, green + first, blue + first, count, to: lanes)
                for x in 0..<count {
                    var light = unsafe lanes[x]
                    if Self.isOutside(light) { light = Self.gamutMapped(light) }
                    let (r, g, b, _) = light.places(shift: Self.codeShift)
                    unsafe write(first &+ x, UInt32(codes[r]), UInt32(codes[g]), UInt32(codes[b]))
                }
            }
        }
    }

    /// Whether a component is negative or exceeds 1: then so do its bits as a whole number, or what is missing to those of 1.
    @inline(__always)
    private static func isOutside(_ light: Lanes) -> Bool {
        let bits = unsafe unsafeBitCast(light, to: SIMD4<Int32>.self), one = SIMD4(repeating: Int32(bitPattern: Float(1).bitPattern))
        let signs = unsafe unsafeBitCast(bits | (one &- bits), to: SIMD2<UInt64>.self)
        return (signs.x | signs.y) & 0x8000_0000_8000_0000 != 0
    }

    /// As `LightMapping.gamutMapped`.
    @inline(__always)
    private static func gamutMapped(_ light: Lanes) -> Lanes {
        var light = light
        let lower = light.x < light.y ? light.x : light.y, least = lower < light.z ? lower : light.z
        if least < 0 {
            let luminance = light.w
            let part = luminance > 0 ? luminance / (luminance - least) : 0
            light = (light - luminance) * part + luminance
        }
        let higher = light.x > light.y ? light.x : light.y, most = higher > light.z ? higher : light.z
        if most > 1 { light *= 1 / most }
        // What rounding has left outside; −0 too.
        light.replace(with: 0, where: light .<= 0)
        light.replace(with: 1, where: light .> 1)
        return light
    }
}

/// Red, green and blue, and their luminance or what belongs to them.
typealias Lanes = SIMD4<Float>

extension Lanes {
    /// The leading bits of each number, which must not be negative.
    @inline(__always)
    func places(shift: UInt32) -> (Int, Int, Int, Int) {
        let bits = unsafe unsafeBitCast(unsafe unsafeBitCast(self, to: SIMD4<UInt32>.self) &>> shift, to: SIMD2<UInt64>.self)
        return (
            Int(truncatingIfNeeded: bits.x & 0xffff_ffff), Int(truncatingIfNeeded: bits.x >> 32),
            Int(truncatingIfNeeded: bits.y & 0xffff_ffff), Int(truncatingIfNeeded: bits.y >> 32)
        )
    }

    /// What a component of `primaries` adds to BT.709's linear red, green, blue and luminance, for each of its three.
    static func columns(from primaries: ColorPrimaries) -> [SIMD4<Double>] {
        let rows = primaries.rows(to: .bt709), weights = ColorPrimaries.bt709.luminance
        return (0..<3).map { index in
            let column = SIMD3(rows[0][index], rows[1][index], rows[2][index])
            return SIMD4<Double>(column, (column * weights).sum())
        }
    }
}

/// The step from code values to mapped light.
protocol LaneSource: AnyObject, Sendable {
    /// Writes the mapped linear light of `count` pixels, with BT.709's primaries, and its luminance; neither is brought into the gamut.
    func read(
        _ red: UnsafePointer<UInt16>, _ green: UnsafePointer<UInt16>, _ blue: UnsafePointer<UInt16>, _ count: Int,
        to lanes: UnsafeMutablePointer<Lanes>)
}
