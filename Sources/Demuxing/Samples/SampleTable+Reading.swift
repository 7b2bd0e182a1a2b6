internal import Media
internal import SampleQueue

extension SampleTable {
    /// Reads a film to its end and returns a table for each track, in the order of their numbers. Blocks; `cancel` of the reader ends it.
    ///
    /// The reader should be fresh or stand at its beginning; afterwards it stands at the end. Of a damaged film the readable part is kept.
    ///
    /// - Parameter trackIDs: The tracks wanted; nil takes all but captions that lie inside frames.
    /// - Throws: `.cancelled`; other errors only where not a single sample can be read.
    public static func read(_ reader: any AssetReading, tracks trackIDs: Set<Int>? = nil) throws(AssetError) -> [SampleTable] {
        let wanted = reader.tracks.filter { trackIDs?.contains($0.id) ?? !$0.isInsideFrames }
        reader.select(Set(wanted.map(\.id)))
        var entries = [[Entry]](repeating: [], count: reader.tracks.count)
        var isEmpty = true
        do throws(AssetError) {
            while let sample = try reader.nextSample() {
                entries[sample.trackID].append(Entry(sample))
                isEmpty = false
            }
        } catch {
            if isEmpty || error.code == .cancelled { throw error }
        }
        return wanted.map { SampleTable(track: $0, entries: entries[$0.id]) }
    }
}

extension SampleTable.Entry {
    init(_ sample: SampleBuffer) {
        var flags: SampleTable.Flags = []
        if sample.flags.contains(.sync) { flags.insert(.sync) }
        if sample.flags.contains(.droppable) { flags.insert(.droppable) }
        if sample.flags.contains(.doNotDisplay) { flags.insert(.hidden) }
        if sample.flags.contains(.corrupt) { flags.insert(.corrupt) }
        // `AssetReader` gives a duration in the units of the container, or none.
        let base = sample.sourceTimeBase
        let ticks = sample.duration.isNumeric ? Ticks.rescale(sample.duration.value, Ratio(1, sample.duration.timescale), base) : 0
        self.init(
            presentation: sample.sourcePresentationTimestamp ?? .min, decode: sample.sourceDecodeTimestamp ?? .min, duration: ticks,
            offset: sample.fileOffset ?? -1, byteCount: Int32(clamping: sample.byteCount), flags: flags)
    }
}
