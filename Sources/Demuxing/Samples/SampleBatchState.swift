internal import Media
internal import SampleQueue

/// Which samples of a batch are still to be read, and where reading begins and ends. A value; it knows no file.
struct SampleBatchState {
    /// What tells a sample from all others of its film.
    private struct Key: Hashable {
        var track: Int
        var presentation: Int64
        var decode: Int64
        var offset: Int64
        var byteCount: Int32

        init(_ entry: SampleTable.Entry, track: Int) {
            (self.track, presentation, decode) = (track, entry.presentation, entry.decode)
            (offset, byteCount) = (entry.offset, entry.byteCount)
        }
    }

    /// Samples that can be read without a seek between them.
    private struct Run {
        /// Where decoding of the earliest begins; minus infinity: from the beginning of the film.
        var start: MediaTime
        var end: MediaTime
        var keys: Set<Key>
    }

    private var promises: [Key: [PromisedSample]] = [:]
    private var runs: [Run] = []
    /// What was not found where it should be.
    private var hasFallenBack = false
    private(set) var tracks: Set<Int> = []
    private var current: Set<Key> = []
    /// When the film is read from its beginning: samples of each track so far.
    private var counts: [Int: Int] = [:]
    /// The same promises by the places of their samples.
    private var places: [Int: [Int: Key]] = [:]

    /// Beyond this much film a seek costs less than reading on.
    private static let farthest = MediaTime(value: 4, timescale: 1)
    /// Samples of sound may lie before the video that is shown with them.
    private static let margin = MediaTime(value: 1, timescale: 2)

    init(_ all: [PromisedSample]) {
        var places: [(start: MediaTime, end: MediaTime, key: Key)] = []
        for promise in all {
            let cursor = promise.cursor, track = cursor.table.track.id
            let key = Key(cursor.entry, track: track)
            promises[key, default: []].append(promise)
            self.places[track, default: [:]][cursor.number] = key
            tracks.insert(track)
            places.append((Self.time(cursor.decodingStart), Self.time(cursor), key))
        }
        places.sort { $0.start != $1.start ? $0.start < $1.start : $0.end < $1.end }
        for place in places {
            if let last = runs.last, place.start - last.end < Self.farthest || !place.start.isNumeric {
                runs[runs.count - 1].end = max(last.end, place.end)
                runs[runs.count - 1].keys.insert(place.key)
            } else {
                runs.append(Run(start: place.start, end: place.end, keys: [place.key]))
            }
        }
    }

    /// The earliest time by which the sample is known.
    private static func time(_ cursor: SampleCursor) -> MediaTime {
        let (a, b) = (cursor.presentationTime, cursor.decodeTime)
        if a.isNumeric, b.isNumeric { return min(a, b) }
        return a.isNumeric ? a : b.isNumeric ? b : .zero
    }

    var isEmpty: Bool { promises.isEmpty }
    var count: Int { promises.count }

    /// Where to seek next; nil when there is nowhere left to look.
    mutating func beginRun() -> MediaTime? {
        while let run = runs.first {
            current = run.keys.filter { promises[$0] != nil }
            if !current.isEmpty { return run.start - Self.margin }
            runs.removeFirst()
        }
        guard !promises.isEmpty, !hasFallenBack else { return nil }
        // Where it was not found after a seek, reading from the beginning finds it as the table did.
        hasFallenBack = true
        return .negativeInfinity
    }

    /// Everything of the run has been found.
    var shouldSeek: Bool { current.isEmpty }

    mutating func endRun(isFallback: Bool) { if !isFallback { runs.removeFirst() } }

    /// The promises that a sample keeps.
    mutating func take(_ sample: SampleBuffer) -> [PromisedSample] {
        let entry = SampleTable.Entry(sample)
        var key = Key(entry, track: sample.trackID)
        if hasFallenBack {
            // From the beginning on a sample is known by its number, whatever libavformat says of its place this time.
            let number = counts[sample.trackID, default: 0]
            counts[sample.trackID] = number + 1
            guard let known = places[sample.trackID]?[number], known.byteCount == entry.byteCount else { return [] }
            key = known
        }
        current.remove(key)
        return promises.removeValue(forKey: key) ?? []
    }
}
