public import Media

extension SampleCursor {
    /// When the frame is shown, in media time. `.invalid` where the container does not say (H.264 in AVI, raw streams).
    public var presentationTime: MediaTime { time(entry.presentation) }

    /// When the sample is decoded, in media time. `.invalid` when unknown.
    public var decodeTime: MediaTime { time(entry.decode) }

    /// How long the sample lasts, in media time. `.invalid` when unknown.
    public var duration: MediaTime { entry.duration > 0 ? time(entry.duration) : .invalid }

    /// The sample's length in bytes.
    public var byteCount: Int { Int(entry.byteCount) }

    /// Where the sample begins in the file, in bytes, as libavformat counts it (`AVPacket.pos`): in Matroska the block around the sample, in
    /// MPEG-TS the packet in which it begins. nil where that is unknown, as for samples that libavformat has put together.
    public var offset: Int64? { entry.offset >= 0 ? entry.offset : nil }

    /// The times in units of the track's time base; nil when unknown.
    package var presentationTicks: Int64? { entry.presentation == .min ? nil : entry.presentation }
    package var decodeTicks: Int64? { entry.decode == .min ? nil : entry.decode }
    package var durationTicks: Int64? { entry.duration > 0 ? entry.duration : nil }

    private func time(_ ticks: Int64) -> MediaTime {
        ticks == .min ? .invalid : MediaTime(value: ticks, timescale: 1).multiplied(by: table.track.timeBase)
    }

    // MARK: Dependencies

    /// Where decoding can begin.
    public enum Sync: String, Sendable, Hashable, CaseIterable {
        /// The sample depends on others.
        case none
        /// Decoding can begin here, but samples follow that are shown before this one and may need samples before it: an open group.
        case partial
        /// Decoding can begin here, and everything that follows can be decoded.
        case full
    }

    /// Whether decoding can begin with the sample. The container, or libavformat's parser, marks sync samples; the times of the samples
    /// that follow tell partial from full.
    public var sync: Sync { !entry.flags.contains(.sync) ? .none : entry.flags.contains(.open) ? .partial : .full }

    /// Whether the sample can be left out without harm to others.
    public var isDroppable: Bool { entry.flags.contains(.droppable) }

    /// Whether decoding the sample needs earlier ones.
    public var dependsOnOthers: Bool { !entry.flags.contains(.sync) }

    /// Whether other samples need this one; nil where the container does not say.
    public var hasDependents: Bool? { isDroppable ? false : nil }

    /// Whether an edit list hides the sample: it is decoded for others and not shown.
    public var isHidden: Bool { entry.flags.contains(.hidden) }

    /// Whether the container knows that bytes are missing or wrong.
    public var isCorrupt: Bool { entry.flags.contains(.corrupt) }

    /// How many samples before this one, in decode order, must be decoded for it to be right: none for a sync sample, otherwise all from the
    /// sync sample on. Samples of an open group that are shown before its sync sample count from the group before.
    public var samplesNeededBefore: Int {
        let after = SampleTable.partition(table.syncs.count) { table.syncs[$0] > UInt32(number) }
        let groups = entry.flags.contains(.leading) ? 2 : 1
        return number - (after >= groups ? Int(table.syncs[after - groups]) : 0)
    }

    /// The sample with which decoding must begin for this one to be right.
    public var decodingStart: SampleCursor { SampleCursor(table, number - samplesNeededBefore) }

    // MARK: Order

    /// Whether a sample that is decoded before this one can be shown after `other`.
    public func earlierSamplesMayBeShown(after other: SampleCursor) -> Bool {
        precondition(other.table === table, "the cursors belong to two tracks")
        return number > 0 && table.latest[number - 1] > other.entry.shown
    }

    /// Whether a sample that is decoded after this one can be shown before `other`.
    public func laterSamplesMayBeShown(before other: SampleCursor) -> Bool {
        precondition(other.table === table, "the cursors belong to two tracks")
        return number + 1 < table.count && table.earliest[number + 1] < other.entry.shown
    }

    // MARK: Chunks

    /// A run of samples of one track that lie in the file one behind the other, without a gap.
    public struct Chunk: Sendable, Hashable {
        /// Where it begins in the file, in bytes; nil where that is unknown.
        public var offset: Int64?
        /// Bytes.
        public var byteCount: Int64
        /// Its samples, by their numbers in decode order.
        public var samples: Range<Int>
    }

    /// The run that the sample lies in. Reading it at once reads nothing else.
    public var chunk: Chunk {
        let after = SampleTable.partition(table.chunks.count) { table.chunks[$0] > UInt32(number) }
        let start = Int(table.chunks[after - 1]), end = after < table.chunks.count ? Int(table.chunks[after]) : table.count
        let first = table.entries[start], last = table.entries[end - 1]
        guard first.offset >= 0 else { return Chunk(offset: nil, byteCount: Int64(byteCount), samples: number..<number + 1) }
        return Chunk(offset: first.offset, byteCount: last.offset &+ Int64(last.byteCount) &- first.offset, samples: start..<end)
    }
}
