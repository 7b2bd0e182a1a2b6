public import Media
internal import SampleQueue

/// Stands on one sample of a track and steps from there, in the order of decoding or of presentation.
///
/// The counterpart of `AVSampleCursor`. A copy is a cursor of its own. Placing takes O(log n), a step O(1).
///
///     var cursor = table.cursor(at: time)          // the sample shown at `time`
///     cursor?.stepInPresentationOrder(by: -1)      // the one shown before it
///
/// Thread-safety: a value.
public struct SampleCursor: Sendable {
    /// The track's samples.
    public let table: SampleTable
    /// The sample's number in decode order, from 0.
    public private(set) var number: Int

    init(_ table: SampleTable, _ number: Int) {
        self.table = table
        self.number = number
    }

    var entry: SampleTable.Entry { table.entries[number] }

    /// The sample's number in presentation order, from 0.
    public var presentationNumber: Int { Int(table.ranks[number]) }

    /// Steps over `count` samples in decode order, backwards when it is negative, and stops at the first or last.
    /// - Returns: How far it came: `count`, or less near an end.
    @discardableResult
    public mutating func stepInDecodeOrder(by count: Int = 1) -> Int {
        let target = Self.place(number, count, table.count)
        defer { number = target }
        return target - number
    }

    /// Steps over `count` samples in presentation order, backwards when it is negative, and stops at the first or last.
    /// - Returns: How far it came: `count`, or less near an end.
    @discardableResult
    public mutating func stepInPresentationOrder(by count: Int = 1) -> Int {
        let place = presentationNumber, target = Self.place(place, count, table.count)
        number = Int(table.presented[target])
        return target - place
    }

    /// Steps by a span of presentation time, to the sample that is shown then; stops at the first or last.
    /// - Returns: The presentation time that it has moved by; `.invalid` where the samples have no times.
    @discardableResult
    public mutating func step(byPresentationTime span: MediaTime) -> MediaTime {
        let before = presentationTime
        number = table.number(shownAt: before + span)
        return presentationTime - before
    }

    /// Steps by a span of decode time, to the last sample that is decoded by then; stops at the first or last.
    /// - Returns: The decode time that it has moved by; `.invalid` where the samples have no times.
    @discardableResult
    public mutating func step(byDecodeTime span: MediaTime) -> MediaTime {
        let before = decodeTime
        number = table.number(decodedAt: before + span)
        return decodeTime - before
    }

    private static func place(_ start: Int, _ step: Int, _ count: Int) -> Int {
        let (sum, overflow) = start.addingReportingOverflow(step)
        return overflow ? (step > 0 ? count - 1 : 0) : min(max(sum, 0), count - 1)
    }
}

extension SampleCursor: Hashable, Comparable {
    /// Whether both stand on the same sample of the same table.
    public static func == (a: Self, b: Self) -> Bool { a.table === b.table && a.number == b.number }
    /// Whether `a` is decoded before `b`. Both belong to one table.
    public static func < (a: Self, b: Self) -> Bool { a.number < b.number }
    /// Hashes the table and the sample's number.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(table))
        hasher.combine(number)
    }
}

extension SampleTable {
    /// The sample shown at `time`: the last in presentation order that begins at or before it. Before the first sample it is the first. nil for
    /// a track without samples.
    public func cursor(at time: MediaTime) -> SampleCursor? { count > 0 ? SampleCursor(self, number(shownAt: time)) : nil }

    func number(shownAt time: MediaTime) -> Int {
        let ticks = ticks(atOrBefore: time)
        let after = Self.partition(presented.count) { entries[Int(presented[$0])].shown > ticks }
        return Int(presented[max(after - 1, 0)])
    }

    func number(decodedAt time: MediaTime) -> Int {
        let ticks = ticks(atOrBefore: time)
        return max(Self.partition(entries.count) { entries[$0].decode > ticks } - 1, 0)
    }

    /// The last whole unit of the track's time base at or before `time`.
    private func ticks(atOrBefore time: MediaTime) -> Int64 {
        guard time.isNumeric, track.timeBase.isKnown else { return time == .positiveInfinity ? .max : .min }
        let numerator = Int128(time.value) * Int128(track.timeBase.denominator)
        let denominator = Int128(time.timescale) * Int128(track.timeBase.numerator)
        let (quotient, remainder) = numerator.quotientAndRemainder(dividingBy: denominator)
        return Int64(clamping: remainder < 0 ? quotient - 1 : quotient)
    }

    /// The first number below `count` for which `isAfter` holds, `count` when there is none. It holds for all numbers behind one that it holds for.
    static func partition(_ count: Int, _ isAfter: (Int) -> Bool) -> Int {
        var low = 0, high = count
        while low < high {
            let middle = low + (high - low) / 2
            if isAfter(middle) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
