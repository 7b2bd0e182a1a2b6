internal import Media

/// Puts the samples of several inputs into the order of their decode times, and bounds what waits for an input that brings nothing.
///
/// A pure value: it holds samples and decides, and knows neither files nor threads.
struct InterleavingState<Item: Sendable>: Sendable {
    struct Entry: Sendable {
        var input: Int
        /// Decode time, in source time.
        var time: MediaTime
        var byteCount: Int
        var item: Item
    }

    private struct Lane: Sendable {
        var isSparse: Bool
        var isFinished = false
        var entries: [Entry] = []
        /// The entries before it have been taken.
        var head = 0
        var byteCount = 0

        var first: Entry? { head < entries.count ? entries[head] : nil }
        var isEmpty: Bool { head == entries.count }
        /// The others wait for it.
        var isAwaited: Bool { isEmpty && !isFinished && !isSparse }

        mutating func removeFirst() -> Entry {
            let entry = entries[head]
            head += 1
            byteCount -= entry.byteCount
            // Half at a time, so that each entry is moved once.
            if head * 2 > entries.count {
                entries.removeFirst(head)
                head = 0
            }
            return entry
        }
    }

    private let limits: InterleavingLimits
    private var lanes: [Lane] = []
    private(set) var byteCount = 0
    /// The most that ever waited.
    private(set) var peakByteCount = 0
    /// Inputs that brought nothing while the others reached the limits, until they bring something.
    private(set) var starving: Set<Int> = []

    /// An input that has this share of the limits waiting is not ready for more.
    private static var share: Int64 { 4 }

    init(_ limits: InterleavingLimits) { self.limits = limits }

    mutating func addInput(isSparse: Bool) { lanes.append(Lane(isSparse: isSparse)) }

    mutating func append(_ entry: Entry) {
        lanes[entry.input].entries.append(entry)
        lanes[entry.input].byteCount += entry.byteCount
        byteCount += entry.byteCount
        peakByteCount = max(peakByteCount, byteCount)
        starving.remove(entry.input)
    }

    /// Nothing more comes from this input.
    mutating func finish(_ input: Int) {
        lanes[input].isFinished = true
        starving.remove(input)
    }

    mutating func removeAll() {
        for index in lanes.indices {
            lanes[index].entries = []
            (lanes[index].head, lanes[index].byteCount) = (0, 0)
        }
        byteCount = 0
    }

    /// The next sample to be written; nil while an input that may bring an earlier one has to be waited for.
    mutating func next() -> Entry? {
        guard let index = earliest else { return nil }
        let awaited = lanes.indices.filter { lanes[$0].isAwaited }
        if !awaited.isEmpty {
            guard isFull else { return nil }
            starving.formUnion(awaited)
        }
        let entry = lanes[index].removeFirst()
        byteCount -= entry.byteCount
        return entry
    }

    /// All that waits, in no order.
    var waiting: [Entry] { lanes.flatMap { $0.entries[$0.head...] } }

    /// Whether the input should bring more: what it brought does not wait for others.
    func isReady(_ input: Int) -> Bool {
        let lane = lanes[input]
        guard !lane.isFinished else { return false }
        guard let first = lane.first, let last = lane.entries.last else { return true }
        return lane.byteCount < limits.byteCount / Int(Self.share)
            && (last.time - first.time).multiplied(by: Self.share) < limits.duration
    }

    private var earliest: Int? {
        var found: Int?, time = MediaTime.positiveInfinity
        for index in lanes.indices {
            guard let first = lanes[index].first, found == nil || first.time < time else { continue }
            (found, time) = (index, first.time)
        }
        return found
    }

    private var isFull: Bool {
        if byteCount > limits.byteCount { return true }
        let firsts = lanes.compactMap { $0.first?.time }, lasts = lanes.compactMap { $0.isEmpty ? nil : $0.entries.last?.time }
        guard let first = firsts.min(), let last = lasts.max() else { return false }
        return last - first > limits.duration
    }
}
