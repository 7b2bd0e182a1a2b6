internal import Media

/// HLG's code values to mapped light. How bright a component is shown depends on the luminance of its pixel too, so that the curves are straight
/// lines between 128 numbers for each octave.
///
/// Thread-safety: immutable.
@safe
final class SceneLanes: LaneSource, @unchecked Sendable {
    /// Code values.
    private static let count = 1 << ToneMapLanes.inputDepth
    /// Light of the scene that is added to each component, so that none is 0.
    private static let least = 0x1p-30
    /// Of red, green and blue of each code value: its light in its own lane, its luminance in the fourth.
    private let entries: UnsafeMutablePointer<Lanes>
    /// The light of each code value.
    private let light: UnsafeMutablePointer<Float>
    /// From the luminance of the scene to the factor of the display's light.
    private let system: LineTable<SIMD2<Float>>
    /// From light to mapped light.
    private let mapped: LineTable<SIMD2<Float>>
    /// Two lines for the brightest component's light: the factor that maps it, and the share of what is mapped by each component for itself.
    private let brightest: LineTable<SIMD4<Float>>
    private let columns: (red: Lanes, green: Lanes, blue: Lanes)

    init(_ mapping: LightMapping) {
        let count = Self.count, primaries = ColorPrimaries(mapping.primaries), weights = primaries.luminance
        unsafe entries = .allocate(capacity: 3 * count)
        unsafe light = .allocate(capacity: count)
        for code in 0..<count {
            let number = mapping.transfer.light(Double(code) / Double(count - 1)) + Self.least
            unsafe light[code] = Float(number)
            for index in 0..<3 {
                var lanes = SIMD4(0, 0, 0, weights[index]) * number
                lanes[index] = number
                unsafe entries[index * count + code] = Lanes(lanes)
            }
        }
        system = LineTable { LineSteps.line($0) { TransferCurve.hlgGain($0) / mapping.mapping.targetPeak } }
        mapped = LineTable { LineSteps.line($0, mapping.mapped) }
        brightest = LineTable {
            SIMD4(
                lowHalf: LineSteps.line($0) { mapping.mapped($0) / $0 },
                highHalf: LineSteps.line($0) { LightMapping.separateShare(mapping.mapped($0)) })
        }
        let all = Lanes.columns(from: primaries).map { Lanes($0) }
        columns = (all[0], all[1], all[2])
    }

    deinit {
        unsafe entries.deallocate()
        unsafe light.deallocate()
    }

    func read(
        _ red: UnsafePointer<UInt16>, _ green: UnsafePointer<UInt16>, _ blue: UnsafePointer<UInt16>, _ count: Int,
        to lanes: UnsafeMutablePointer<Lanes>
    ) {
        let reds = unsafe entries, greens = unsafe reds + Self.count, blues = unsafe greens + Self.count
        let system = unsafe system.values, light = unsafe light, first = LineSteps.first
        for x in 0..<count {
            let r = unsafe Int(red[x]), g = unsafe Int(green[x]), b = unsafe Int(blue[x])
            let greater = r > g ? r : g, greatest = greater > b ? greater : b
            var scene = unsafe reds[r] + greens[g] + blues[b]
            let line = unsafe system[Int(truncatingIfNeeded: scene.w.bitPattern >> LineSteps.shift) &- first]
            let factor = line.x + line.y * scene.w
            scene.w = unsafe light[greatest]
            unsafe lanes[x] = scene * Lanes(repeating: factor)
        }
        let mapped = unsafe mapped.values, brightest = unsafe brightest.values, columns = columns
        for x in 0..<count {
            let light = unsafe lanes[x], (r, g, b, most) = light.places(shift: LineSteps.shift)
            let lines = unsafe brightest[most &- first], separate = lines.z + lines.w * light.w
            let together = (lines.x + lines.y * light.w) * (1 - separate)
            let redLine = unsafe mapped[r &- first], greenLine = unsafe mapped[g &- first], blueLine = unsafe mapped[b &- first]
            let red = light.x * together + (redLine.x + redLine.y * light.x) * separate
            let green = light.y * together + (greenLine.x + greenLine.y * light.y) * separate
            let blue = light.z * together + (blueLine.x + blueLine.y * light.z) * separate
            unsafe lanes[x] = columns.red * red + columns.green * green + columns.blue * blue
        }
    }
}

/// The numbers of a `LineTable`, and the lines between them.
enum LineSteps {
    /// Every light of HLG, least to brightest, on displays from 10 to 10,000 cd/m², and every luminance of its scene.
    static let octaves = -44...7
    /// 128 steps for each octave: lines are off by less than 1 part in 100,000 for powers between 0 and 1.
    static let stepBits = 7
    static let shift = UInt32(Float.significandBitCount - stepBits)
    static let first = Int(Float(sign: .plus, exponent: octaves.lowerBound, significand: 1).bitPattern >> shift)
    static let count = octaves.count << stepBits

    /// The line through a function's values at both ends.
    static func line(_ ends: ClosedRange<Double>, _ function: (Double) -> Double) -> SIMD2<Float> {
        let low = function(ends.lowerBound), slope = (function(ends.upperBound) - low) / (ends.upperBound - ends.lowerBound)
        return SIMD2(Float(low - slope * ends.lowerBound), Float(slope))
    }
}

/// Functions as straight lines, each from one of the numbers of `LineSteps` to the next: its value at 0 and its slope.
///
/// Thread-safety: immutable.
@safe
final class LineTable<Line>: @unchecked Sendable {
    let values: UnsafeMutablePointer<Line>

    init(_ line: (ClosedRange<Double>) -> Line) {
        unsafe values = .allocate(capacity: LineSteps.count)
        for index in 0..<LineSteps.count {
            let low = Float(bitPattern: UInt32(LineSteps.first + index) << LineSteps.shift)
            let high = Float(bitPattern: UInt32(LineSteps.first + index + 1) << LineSteps.shift)
            unsafe (values + index).initialize(to: line(Double(low)...Double(high)))
        }
    }

    deinit { unsafe values.deallocate() }
}
