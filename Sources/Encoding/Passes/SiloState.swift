internal import Media

/// Which samples a `FrameSilo` has, in which order, and what a pass replaces. A pure value: it knows no file.
struct SiloState<Item: Sendable>: Sendable {
    struct Entry: Sendable {
        var presentation: MediaTime
        var decode: MediaTime
        var byteCount: Int
        var item: Item
    }

    /// Samples that follow each other in decode order.
    private struct Run: Sendable {
        var start: MediaTime
        var entries: [Entry]
    }

    private var runs: [Run] = []
    /// Of the pass that is under way; nil between passes.
    private var ranges: [MediaTimeRange]?
    /// The samples of the pass, one run for each range.
    private var pending: [Run] = []
    private(set) var latest = MediaTime.invalid

    var isInPass: Bool { ranges != nil }
    var entryCount: Int { runs.reduce(0) { $0 + $1.entries.count } + pending.reduce(0) { $0 + $1.entries.count } }
    var byteCount: Int { runs.reduce(0) { $0 + $1.entries.reduce(0) { $0 + $1.byteCount } } }

    /// What is added from now on takes the place of what lies in `ranges`, when the pass ends.
    mutating func begin(_ wanted: [MediaTimeRange]) {
        let sorted = wanted.filter { !$0.isEmpty }.sorted { $0.start < $1.start }
        ranges = sorted
        pending = sorted.map { Run(start: $0.start, entries: []) }
        latest = .invalid
    }

    /// False for a sample outside the ranges of the pass, which is not kept.
    mutating func add(_ entry: Entry) -> Bool {
        guard let ranges, let index = ranges.index(of: entry.presentation) else { return false }
        pending[index].entries.append(entry)
        latest = latest.isNumeric ? max(latest, entry.presentation) : entry.presentation
        return true
    }

    /// Whether each range has got as many samples as it has had.
    var matches: Bool {
        guard let ranges else { return false }
        var counts = [Int](repeating: 0, count: ranges.count)
        for run in runs { for entry in run.entries { if let index = ranges.index(of: entry.presentation) { counts[index] += 1 } } }
        return counts == pending.map(\.entries.count)
    }

    /// Puts the samples of the pass where they belong. A range that got none keeps its old ones.
    mutating func end() {
        guard let ranges else { return }
        let replaced = zip(ranges, pending).filter { !$1.entries.isEmpty }, replacedRanges = replaced.map(\.0)
        var kept: [Run] = []
        for run in runs {
            // What lies before, between and behind the ranges become runs of their own.
            var key = -1
            for entry in run.entries where replacedRanges.index(of: entry.presentation) == nil {
                let place = replacedRanges.countEnded(by: entry.presentation)
                if place != key {
                    key = place
                    kept.append(Run(start: entry.presentation, entries: []))
                }
                kept[kept.count - 1].start = min(kept[kept.count - 1].start, entry.presentation)
                kept[kept.count - 1].entries.append(entry)
            }
        }
        for var (_, run) in replaced {
            run.start = run.entries.reduce(run.entries[0].presentation) { min($0, $1.presentation) }
            kept.append(run)
        }
        runs = kept.sorted { $0.start < $1.start }
        abandon()
    }

    /// Forgets the samples of the pass; the old ones stay.
    mutating func abandon() {
        ranges = nil
        pending = []
    }

    /// The share of the pass's ranges that lies before the latest sample; nil between passes and for ranges without an end.
    var progress: Double? {
        guard let ranges, ranges.allSatisfy(\.duration.isNumeric), latest.isNumeric else { return nil }
        let whole = ranges.reduce(0) { $0 + $1.duration.seconds }
        let done = ranges.reduce(0) { $0 + max(0, (min($1.end, latest) - $1.start).seconds) }
        return whole > 0 ? min(done / whole, 1) : nil
    }

    /// Everything in decode order. Decode times never go back, also where a range was replaced, and are never after the presentation.
    var ordered: [Entry] {
        var last = MediaTime.negativeInfinity
        return runs.flatMap(\.entries).map { entry in
            var entry = entry
            entry.decode = min(max(entry.decode, last), max(entry.presentation, last))
            last = entry.decode
            return entry
        }
    }
}
