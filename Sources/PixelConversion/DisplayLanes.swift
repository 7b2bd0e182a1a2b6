internal import Media

/// PQ's code values to mapped light: exact, because each curve depends on one code value alone.
///
/// Thread-safety: immutable.
@safe
final class DisplayLanes: LaneSource, @unchecked Sendable {
    /// Code values.
    private static let count = 1 << ToneMapLanes.inputDepth
    /// What red, green and blue of each code value add to the result: first their light, then their mapped light.
    private let entries: UnsafeMutablePointer<Lanes>
    /// By the greatest code value: the factor of the components' light, then, `count` further on, that of their mapped light.
    private let factors: UnsafeMutablePointer<Float>

    init(_ mapping: LightMapping) {
        let count = Self.count, columns = Lanes.columns(from: ColorPrimaries(mapping.primaries))
        unsafe entries = .allocate(capacity: 6 * count)
        unsafe factors = .allocate(capacity: 2 * count)
        for code in 0..<count {
            let light = mapping.transfer.light(Double(code) / Double(count - 1)) / mapping.mapping.targetPeak
            let mapped = mapping.mapped(light), share = LightMapping.separateShare(mapped)
            for (index, column) in columns.enumerated() {
                unsafe entries[2 * (index * count + code)] = Lanes(column * light)
                unsafe entries[2 * (index * count + code) + 1] = Lanes(column * mapped)
            }
            unsafe factors[code] = light > 0 ? Float(mapped / light * (1 - share)) : 0
            unsafe factors[count + code] = Float(share)
        }
    }

    deinit {
        unsafe entries.deallocate()
        unsafe factors.deallocate()
    }

    func read(
        _ red: UnsafePointer<UInt16>, _ green: UnsafePointer<UInt16>, _ blue: UnsafePointer<UInt16>, _ count: Int,
        to lanes: UnsafeMutablePointer<Lanes>
    ) {
        let reds = unsafe entries, greens = unsafe reds + 2 * Self.count, blues = unsafe greens + 2 * Self.count
        let together = unsafe factors, separate = unsafe together + Self.count
        for x in 0..<count {
            let r = unsafe Int(red[x]), g = unsafe Int(green[x]), b = unsafe Int(blue[x])
            let greater = r > g ? r : g, greatest = greater > b ? greater : b
            let light = unsafe reds[2 &* r] + greens[2 &* g] + blues[2 &* b]
            let mapped = unsafe reds[2 &* r &+ 1] + greens[2 &* g &+ 1] + blues[2 &* b &+ 1]
            unsafe lanes[x] = light * Lanes(repeating: together[greatest]) + mapped * Lanes(repeating: separate[greatest])
        }
    }
}
