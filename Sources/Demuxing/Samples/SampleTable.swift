internal import Media

/// What is known of every sample of a track without its bytes: times, size, place in the file, and what it depends on.
///
/// It is read once, by walking through the whole film, and kept: 68 bytes for each sample. `SampleCursor` walks in it.
///
///     let table = try SampleTable.read(AssetReader(url: "film.mp4"))[0]
///     var cursor = table.cursor(at: MediaTime(value: 10, timescale: 1))
///
/// Thread-safety: all of it; immutable.
public final class SampleTable: Sendable {
    /// The track whose samples these are.
    public let track: AssetTrack
    /// In decode order.
    let entries: [Entry]
    /// The numbers of all samples in presentation order.
    let presented: [UInt32]
    /// The place of each sample in presentation order.
    let ranks: [UInt32]
    /// The samples that decoding can begin with, in decode order.
    let syncs: [UInt32]
    /// The first samples of runs that lie in the file without a gap.
    let chunks: [UInt32]
    /// For each sample, the latest presentation time up to and with it in decode order.
    let latest: [Int64]
    /// For each sample, the earliest presentation time from it on in decode order.
    let earliest: [Int64]

    /// One sample; times in units of the track's time base.
    struct Entry: Sendable {
        /// `.min`: unknown.
        var presentation: Int64
        /// `.min`: unknown.
        var decode: Int64
        /// 0: unknown.
        var duration: Int64
        /// Below 0: unknown.
        var offset: Int64
        var byteCount: Int32
        var flags: Flags

        /// The time by which it is shown, as far as it is known.
        var shown: Int64 { presentation != .min ? presentation : decode }
    }

    struct Flags: OptionSet, Sendable {
        let rawValue: UInt8
        static let sync = Flags(rawValue: 1)
        /// A sync sample, and one that follows is shown before it.
        static let open = Flags(rawValue: 2)
        /// Shown before the sync sample that it follows.
        static let leading = Flags(rawValue: 4)
        static let droppable = Flags(rawValue: 8)
        static let hidden = Flags(rawValue: 16)
        static let corrupt = Flags(rawValue: 32)
    }

    init(track: AssetTrack, entries: [Entry]) {
        self.track = track
        var entries = entries
        syncs = entries.indices.filter { entries[$0].flags.contains(.sync) }.map { UInt32($0) }
        Self.markOpenGroups(&entries, syncs)
        let order = entries.indices.sorted {
            let (a, b) = (entries[$0].shown, entries[$1].shown)
            return a != b ? a < b : $0 < $1
        }
        var ranks = [UInt32](repeating: 0, count: entries.count)
        for (rank, number) in order.enumerated() { ranks[number] = UInt32(rank) }
        presented = order.map { UInt32($0) }
        self.ranks = ranks
        chunks = entries.indices.filter { $0 == 0 || !Self.follows(entries[$0], entries[$0 - 1]) }.map { UInt32($0) }
        var time = Int64.min
        latest = entries.map { entry in
            time = max(time, entry.shown)
            return time
        }
        time = .max
        earliest = entries.reversed().map { entry in
            time = min(time, entry.shown)
            return time
        }.reversed()
        self.entries = entries
    }

    private static func follows(_ entry: Entry, _ last: Entry) -> Bool {
        last.offset >= 0 && entry.offset == last.offset &+ Int64(last.byteCount)
    }

    /// A sync sample of an open group has followers that are shown before it; they may need the group before.
    private static func markOpenGroups(_ entries: inout [Entry], _ syncs: [UInt32]) {
        for (index, sync) in syncs.enumerated() {
            let end = index + 1 < syncs.count ? Int(syncs[index + 1]) : entries.count
            let time = entries[Int(sync)].presentation
            guard time != .min else { continue }
            for number in Int(sync) + 1..<max(end, Int(sync) + 1) where entries[number].presentation != .min && entries[number].presentation < time {
                entries[number].flags.insert(.leading)
                entries[Int(sync)].flags.insert(.open)
            }
        }
    }

    /// How many samples the track has.
    public var count: Int { entries.count }

    /// The memory that the table takes.
    package var byteCount: Int {
        entries.count * MemoryLayout<Entry>.stride + (presented.count + ranks.count + syncs.count + chunks.count) * MemoryLayout<UInt32>.stride
            + (latest.count + earliest.count) * MemoryLayout<Int64>.stride
    }

    /// The first sample in decode order; nil for a track without samples.
    public var first: SampleCursor? { count > 0 ? SampleCursor(self, 0) : nil }

    /// The last sample in decode order; nil for a track without samples.
    public var last: SampleCursor? { count > 0 ? SampleCursor(self, count - 1) : nil }

    /// The first sample in presentation order; nil for a track without samples.
    public var firstPresented: SampleCursor? { presented.first.map { SampleCursor(self, Int($0)) } }

    /// The last sample in presentation order; nil for a track without samples.
    public var lastPresented: SampleCursor? { presented.last.map { SampleCursor(self, Int($0)) } }

    /// The sample with this number in decode order, counted from 0.
    public subscript(number: Int) -> SampleCursor {
        precondition(number >= 0 && number < count, "there is no sample \(number) among \(count)")
        return SampleCursor(self, number)
    }
}
