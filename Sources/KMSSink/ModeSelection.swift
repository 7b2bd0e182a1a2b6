internal import DisplaySink
public import Media

/// A request for a monitor's mode.
///
/// Thread-safety: a value.
public struct ModeRequest: Sendable, Hashable {
    /// Which resolution a monitor gets.
    public enum Size: Sendable, Hashable {
        /// The size that the monitor prefers.
        case monitor
        /// The film's size, if the monitor supports it.
        case film
        /// This size in pixels; an error when the monitor does not support it.
        case exactly(PixelSize)
    }
    /// Which refresh rate a monitor gets, among the modes of the chosen size.
    public enum Refresh: Sendable, Hashable {
        /// A whole multiple of the film's frame rate, if there is one.
        case auto
        /// The current rate.
        case keep
        /// This many refreshes per second, within 0.1.
        case about(Double)
    }
    /// The resolution.
    public var size: Size
    /// The refresh rate.
    public var refresh: Refresh

    /// Creates a request. The default is the size that the monitor prefers, at a rate that suits the film.
    public init(size: Size = .monitor, refresh: Refresh = .auto) {
        self.size = size
        self.refresh = refresh
    }

    /// `auto`, `film`, `1920x1080` or `1920x1080@59.94`; nil for anything else.
    public init?(text: String) {
        switch text {
        case "auto": self.init()
        case "film": self.init(size: .film)
        default:
            let parts = text.split(separator: "@", omittingEmptySubsequences: false)
            let sides = parts[0].split(separator: "x", omittingEmptySubsequences: false)
            guard parts.count <= 2, sides.count == 2, let width = Int(sides[0]), let height = Int(sides[1]),
                (1...65535).contains(width), (1...65535).contains(height)
            else { return nil }
            self.init(size: .exactly(PixelSize(width: width, height: height)))
            guard parts.count == 2 else { return }
            guard let rate = Double(parts[1]), (1...1000).contains(rate) else { return nil }
            refresh = .about(rate)
        }
    }
}

/// Chooses the best mode of a monitor for a film.
///
/// A pure decision. First the size, then among the modes of that size the refresh rate:
///
/// 1. the rate that is already set, if it is a whole multiple of the film's, because a mode set turns the monitor dark for a moment;
/// 2. the lowest whole multiple on offer (23.976 → 23.976, else 47.95, 71.93, 119.88);
/// 3. a multiple of half the film's rate, whose cadence repeats (23.976 on 59.94: 3:2);
/// 4. the rate that is set, else the rate that the monitor prefers, else the first.
package enum ModeSelection {
    /// Rates that differ by less than 1/4000 are the same: pixel clocks are multiples of 1 kHz (1/25,000 at 25.175 MHz), and 60 and 59.94 differ by
    /// 1/1000.
    private static let tolerance: Int128 = 4000

    /// The index of the chosen mode; nil when no mode has the requested size or rate.
    ///
    /// - Parameters:
    ///   - modes: In the monitor's order.
    ///   - current: The mode that is set now.
    ///   - filmSize: The film's size in square pixels.
    ///   - filmRate: Its frame rate; unknown: any refresh rate fits.
    package static func choose(
        _ modes: [DisplayMode], current: DisplayMode?, request: ModeRequest, filmSize: PixelSize, filmRate: Ratio
    ) -> Int? {
        let usable = modes.indices.filter { !modes[$0].isInterlaced && modes[$0].refresh.isKnown }
        let preferred = usable.first { modes[$0].isPreferred } ?? usable.first
        guard let preferred else { return nil }
        let wanted: PixelSize
        switch request.size {
        case .monitor: wanted = request.refresh == .keep ? (current?.size ?? modes[preferred].size) : modes[preferred].size
        case .film: wanted = usable.contains { modes[$0].size == filmSize } ? filmSize : modes[preferred].size
        case .exactly(let size): wanted = size
        }
        let fitting = usable.filter { modes[$0].size == wanted }
        guard !fitting.isEmpty else { return nil }
        let set = current.flatMap { current in
            fitting.first { modes[$0].size == current.size && areSame(modes[$0].refresh, current.refresh) }
        }
        let usual = set ?? fitting.first { modes[$0].isPreferred } ?? fitting[0]
        switch request.refresh {
        case .keep:
            guard let current, set == nil else { return usual }
            return fitting.min { distance(modes[$0].refresh, current.refresh) < distance(modes[$1].refresh, current.refresh) }
        case .about(let rate):
            let near = fitting.filter { abs(modes[$0].refresh.doubleValue - rate) < 0.1 }
            return near.min { abs(modes[$0].refresh.doubleValue - rate) < abs(modes[$1].refresh.doubleValue - rate) }
        case .auto:
            guard filmRate.isKnown else { return usual }
            if multiple(modes[usual].refresh, of: filmRate) != nil { return usual }
            let multiples = fitting.filter { multiple(modes[$0].refresh, of: filmRate) != nil }
            if let lowest = multiples.min(by: { modes[$0].refresh.doubleValue < modes[$1].refresh.doubleValue }) { return lowest }
            let halves = fitting.filter {
                multiple(modes[$0].refresh, of: filmRate, halves: true) != nil && modes[$0].refresh.doubleValue > filmRate.doubleValue
            }
            return halves.contains(usual) ? usual : halves.first ?? usual
        }
    }

    /// The number of refreshes that show one frame (`halves`: two frames) of the film; nil when it is not a whole number.
    package static func multiple(_ refresh: Ratio, of film: Ratio, halves: Bool = false) -> Int? {
        guard refresh.isKnown, film.isKnown else { return nil }
        let top = Int128(refresh.numerator) * Int128(film.denominator) * (halves ? 2 : 1)
        let bottom = Int128(refresh.denominator) * Int128(film.numerator)
        let count = (top + bottom / 2) / bottom
        guard count >= 1 else { return nil }
        let difference = top > count * bottom ? top - count * bottom : count * bottom - top
        return difference * tolerance <= count * bottom ? Int(count) : nil
    }

    private static func areSame(_ a: Ratio, _ b: Ratio) -> Bool { multiple(a, of: b) == 1 }
    private static func distance(_ a: Ratio, _ b: Ratio) -> Double { abs(a.doubleValue - b.doubleValue) }
}
