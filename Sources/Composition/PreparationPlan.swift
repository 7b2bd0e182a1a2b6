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
