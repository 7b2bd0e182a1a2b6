package import Media

/// When each segment of a composition is needed first: a pure value.
package struct PreparationPlan: Sendable {
    package struct Entry: Sendable, Equatable {
        /// In the time of the composition.
        package let time: MediaTime
        /// The number of the track.
        package let track: Int
        /// The index of the segment.
        package let segment: Int
    }

    /// By time.
    package let entries: [Entry]

    /// Nothing is prepared.
    package init() { entries = [] }

    /// Finds when the instructions of `video` first require each segment of `composition`.
    package init(_ composition: Composition, _ video: VideoComposition) {
        var found: [Entry] = [], known = Set<[Int]>()
        for instruction in video.instructions {
            let range = instruction.timeRange
            // What lies below a track that is passed through is decoded only where that cannot be.
            for id in instruction.passthroughTrack.map({ [$0] }) ?? instruction.requiredTracks {
                guard let track = composition.track(id), let first = track.index(at: range.start) else { continue }
                for segment in first..<track.segments.count {
                    let part = track.segments[segment]
                    guard part.range.start < range.end else { break }
                    guard !part.isEmpty, known.insert([id, segment]).inserted else { continue }
                    found.append(Entry(time: max(part.range.start, range.start), track: id, segment: segment))
                }
            }
        }
        entries = found.sorted { $0.time < $1.time }
    }

    /// What becomes of a film that is being prepared, or is ready, when the reader is elsewhere.
    package enum Fate: Sendable, Equatable {
        /// It goes on: its segment is the next one, or is shown already.
        case keep
        /// Others need what it has; the film stays open for a later segment where it is ready.
        case release
    }

    /// Decides after each step of the reader, which may be a seek. A reader that goes back and forth before a cut, or just behind it, keeps what is
    /// prepared for the cut.
    ///
    /// - Parameters:
    ///   - prepared: The segment, and the time of the composition up to which its film is decoded.
    ///   - shown: The segment at `now`.
    ///   - needed: The segments that are needed within `ahead`, the next one first.
    package static func fate(
        of prepared: (segment: Int, start: MediaTime), at now: MediaTime, shown: Int?, needed: [Int], ahead: MediaTime
    ) -> Fate {
        // Where it is shown from a much later time on, another seek takes less than waiting and decoding on from its start.
        if prepared.segment == shown { return now <= prepared.start + ahead ? .keep : .release }
        return needed.first == prepared.segment ? .keep : .release
    }

    /// Those that are needed after `time`, up to `end`.
    package func needed(after time: MediaTime, until end: MediaTime) -> ArraySlice<Entry> {
        let first = entries.firstIndexBySearch { $0.time > time }, last = entries.firstIndexBySearch { $0.time > end }
        return first < last ? entries[first..<last] : []
    }
}

extension Array {
    /// The first index at which `belongs` holds, by a binary search: it must hold for all elements behind that one, too.
    fileprivate func firstIndexBySearch(_ belongs: (Element) -> Bool) -> Int {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = (low + high) / 2
            if belongs(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
