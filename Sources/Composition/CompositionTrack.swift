public import Media

/// A track of a composition: segments one after the other from zero on, without gap or overlap.
///
/// The counterpart of `AVMutableCompositionTrack`.
///
/// Thread-safety: a value.
public struct CompositionTrack: Sendable, Hashable, Identifiable {
    /// What a track carries.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// Frames.
        case video
        /// Sound.
        case sound
    }

    /// The track's number in its composition.
    public let id: Int
    /// What it carries.
    public let kind: Kind
    /// In order. The first begins at zero, each other one where the one before ends. No two empty ones follow each other.
    public private(set) var segments: [CompositionSegment] = []

    init(id: Int, kind: Kind) {
        self.id = id
        self.kind = kind
    }

    /// Where the last segment ends.
    public var duration: MediaTime { segments.last?.range.end ?? .zero }

    /// The segment at a time; nil outside the track.
    public func segment(at time: MediaTime) -> CompositionSegment? { index(at: time).map { segments[$0] } }

    /// Whether a film is shown or heard during some of `range`.
    public func hasMedia(in range: MediaTimeRange) -> Bool {
        segments.contains { !$0.isEmpty && !$0.range.intersection(range).isEmpty }
    }

    /// The index of the segment at a time; nil outside the track.
    func index(at time: MediaTime) -> Int? {
        guard time >= .zero, time < duration else { return nil }
        var (low, high) = (0, segments.count)
        while high - low > 1 {
            let middle = (low + high) / 2
            if segments[middle].range.start <= time { low = middle } else { high = middle }
        }
        return low
    }

    // MARK: Editing

    /// Puts a part of a film at `time`. What lies there moves back. A gap before it becomes an empty segment.
    ///
    /// - Parameters:
    ///   - range: The part of the film, in the film's time.
    ///   - duration: How long it lasts in the composition; nil keeps the film's speed.
    /// - Throws: `.time`, `.range`.
    public mutating func insert(
        _ range: MediaTimeRange, of source: CompositionSource, at time: MediaTime, duration: MediaTime? = nil
    ) throws(CompositionError) {
        try CompositionError.check(range, "The range of the film")
        let length = duration ?? range.duration
        try insert(lasting: length, at: time) { CompositionSegment(source, MediaTimeMapping(source: range, target: $0)) }
    }

    /// Makes an empty stretch of `duration` at `time`. What lies there moves back.
    /// - Throws: `.time`, `.range`.
    public mutating func insertEmpty(lasting duration: MediaTime, at time: MediaTime) throws(CompositionError) {
        try insert(lasting: duration, at: time) { CompositionSegment(emptyFor: $0) }
    }

    private mutating func insert(
        lasting length: MediaTime, at time: MediaTime, _ make: (MediaTimeRange) -> CompositionSegment
    ) throws(CompositionError) {
        let target = MediaTimeRange(start: time, duration: length)
        try CompositionError.check(target, "The range of the composition")
        var made = pieces(MediaTimeRange(start: .zero, end: time))
        if time > duration { made.append(CompositionSegment(emptyFor: MediaTimeRange(start: duration, end: time))) }
        made.append(make(target))
        made += pieces(MediaTimeRange(start: time, end: .positiveInfinity))
        replace(made)
    }

    /// Takes a range out. What lies behind it moves forward. Nothing happens where the track has ended.
    /// - Throws: `.time`, `.range`.
    public mutating func remove(_ range: MediaTimeRange) throws(CompositionError) {
        try CompositionError.check(range, "The range of the composition")
        replace(pieces(MediaTimeRange(start: .zero, end: range.start)) + pieces(MediaTimeRange(start: range.end, end: .positiveInfinity)))
    }

    /// Makes a range last `duration`: faster or slower. What lies behind it moves.
    /// - Throws: `.time`, `.range` when the range reaches beyond the track.
    public mutating func scale(_ range: MediaTimeRange, to duration: MediaTime) throws(CompositionError) {
        try CompositionError.check(range, "The range of the composition")
        let target = MediaTimeRange(start: range.start, duration: duration)
        try CompositionError.check(target, "The new range")
        guard range.end <= self.duration else {
            throw CompositionError(.range, "The range of the composition \(range) reaches beyond track \(id), which ends at \(self.duration).")
        }
        let stretch = MediaTimeMapping(source: range, target: target)
        let scaled = pieces(range).map { piece in
            piece.moved(to: MediaTimeRange(start: stretch.targetTime(at: piece.range.start), end: stretch.targetTime(at: piece.range.end)))
        }
        replace(
            pieces(MediaTimeRange(start: .zero, end: range.start)) + scaled + pieces(MediaTimeRange(start: range.end, end: .positiveInfinity)))
    }

    /// What lies in a range, cut at its ends.
    private func pieces(_ range: MediaTimeRange) -> [CompositionSegment] { segments.compactMap { $0.part(in: range) } }

    /// Lines segments up from zero on.
    private mutating func replace(_ pieces: [CompositionSegment]) {
        var made: [CompositionSegment] = [], end = MediaTime.zero
        for piece in pieces {
            let next = end + piece.range.duration
            let placed = piece.range.start == end ? piece : piece.moved(to: MediaTimeRange(start: end, end: next))
            end = next
            if let last = made.last, last.isEmpty, placed.isEmpty {
                made[made.count - 1] = CompositionSegment(emptyFor: MediaTimeRange(start: last.range.start, end: end))
            } else {
                made.append(placed)
            }
        }
        segments = made
    }
}
