public import Media

/// A value that can change evenly from one to another.
public protocol Interpolatable: Sendable, Hashable {
    /// The value between this one (0) and `other` (1).
    func interpolated(to other: Self, _ fraction: Double) -> Self
    /// Whether it can be used: no number is infinite or NaN, and what else the type asks for.
    var isUsable: Bool { get }
}

extension Double: Interpolatable {
    /// The number between this one and `other`.
    public func interpolated(to other: Double, _ fraction: Double) -> Double { self * (1 - fraction) + other * fraction }
    /// Neither infinite nor NaN.
    public var isUsable: Bool { isFinite }
}

/// A value over time: constant, set at times, or changing evenly during ranges. Opacities, volumes, transforms and crops are such values.
///
/// Thread-safety: a value.
public struct Ramped<Value: Interpolatable>: Sendable, Hashable {
    /// A stretch of time in which the value changes evenly.
    public struct Ramp: Sendable, Hashable {
        /// When; empty where the value is set at once.
        public var range: MediaTimeRange
        /// At the start.
        public var from: Value
        /// At the end, and from there on.
        public var to: Value
    }

    /// Before the first ramp.
    public var initial: Value
    /// By their starts.
    public private(set) var ramps: [Ramp] = []

    /// A value that does not change.
    public init(_ value: Value) { initial = value }

    /// Sets the value from `time` on.
    public mutating func set(_ value: Value, at time: MediaTime) {
        add(Ramp(range: MediaTimeRange(start: time, end: time), from: value, to: value))
    }

    /// Changes the value evenly from the start of `range` to its end, where it stays.
    public mutating func ramp(from: Value, to: Value, during range: MediaTimeRange) { add(Ramp(range: range, from: from, to: to)) }

    private mutating func add(_ ramp: Ramp) {
        let place = ramps.firstIndex { $0.range.start > ramp.range.start } ?? ramps.count
        ramps.insert(ramp, at: place)
    }

    /// The value at a time.
    public func value(at time: MediaTime) -> Value {
        guard let ramp = ramps.last(where: { $0.range.start <= time }) else { return initial }
        if ramp.range.isEmpty || time >= ramp.range.end { return ramp.to }
        return ramp.from.interpolated(to: ramp.to, (time - ramp.range.start).seconds / ramp.range.duration.seconds)
    }

    /// Whether the value differs between some times of `range`.
    public func changes(in range: MediaTimeRange) -> Bool {
        let first = value(at: range.start)
        return ramps.contains { ramp in
            guard ramp.range.start < range.end, max(ramp.range.start, ramp.range.end) > range.start else { return false }
            return ramp.from != first || ramp.to != first
        }
    }

    /// What is wrong with it, in half a sentence; nil when nothing is.
    func fault(among allowed: (Value) -> Bool = { _ in true }) -> (MediaTime, String)? {
        if !initial.isUsable || !allowed(initial) { return (.zero, "its value \(initial) is not allowed") }
        for (index, ramp) in ramps.enumerated() {
            guard ramp.range.start.isNumeric, ramp.range.end.isNumeric else { return (.zero, "a ramp has no numbers for its ends") }
            for value in [ramp.from, ramp.to] where !value.isUsable || !allowed(value) {
                return (ramp.range.start, "its value \(value) is not allowed")
            }
            if index + 1 < ramps.count, ramps[index + 1].range.start < ramp.range.end {
                return (ramps[index + 1].range.start, "two of its ramps overlap")
            }
        }
        return nil
    }
}
