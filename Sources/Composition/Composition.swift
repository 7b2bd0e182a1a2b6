public import Media

/// A film made of parts of other films: tracks of frames and of sound that lie over each other.
///
///     var film = Composition()
///     let track = film.addTrack(.video)
///     try film.insert(MediaTimeRange(start: .zero, duration: second), of: CompositionSource(url: "a.mp4"), into: track, at: .zero)
///     try film.insert(MediaTimeRange(start: second, duration: second), of: CompositionSource(url: "b.mp4"), into: track, at: second)
///
/// The counterpart of `AVMutableComposition`. It is a value: a copy is a snapshot, which costs nothing and never changes. No film is opened until
/// the composition is read. All times are exact fractions.
///
/// Thread-safety: a value.
public struct Composition: Sendable, Hashable {
    /// In the order in which they were added. Of frames, those of later tracks lie over those of earlier ones where nothing else is said.
    public private(set) var tracks: [CompositionTrack] = []
    /// Named places, such as the beginnings of chapters.
    public var markers: [CompositionMarker] = []
    private var lastID = 0

    /// An empty composition.
    public init() {}

    /// Where the longest track ends.
    public var duration: MediaTime { tracks.map(\.duration).max() ?? .zero }

    /// From zero to `duration`.
    public var range: MediaTimeRange { MediaTimeRange(start: .zero, end: duration) }

    /// The track with this number; nil when there is none.
    public func track(_ id: Int) -> CompositionTrack? { tracks.first { $0.id == id } }

    /// The tracks of one kind, in order.
    public func tracks(_ kind: CompositionTrack.Kind) -> [CompositionTrack] { tracks.filter { $0.kind == kind } }

    // MARK: Editing

    /// Adds an empty track behind the others.
    /// - Returns: Its number, which no other track of this composition has or had.
    public mutating func addTrack(_ kind: CompositionTrack.Kind) -> Int {
        lastID += 1
        tracks.append(CompositionTrack(id: lastID, kind: kind))
        return lastID
    }

    /// Removes a track.
    /// - Throws: `.noTrack`.
    public mutating func removeTrack(_ id: Int) throws(CompositionError) { tracks.remove(at: try index(id)) }

    /// Puts a part of a film into a track. What lies behind `time` in this track moves back.
    ///
    /// - Parameter duration: How long it lasts in the composition; nil keeps the film's speed.
    /// - Throws: `.noTrack`, `.time`, `.range`.
    public mutating func insert(
        _ range: MediaTimeRange, of source: CompositionSource, into track: Int, at time: MediaTime, duration: MediaTime? = nil
    ) throws(CompositionError) {
        try tracks[index(track)].insert(range, of: source, at: time, duration: duration)
    }

    /// Makes an empty stretch at `time` in every track that reaches beyond it.
    /// - Throws: `.time`, `.range`.
    public mutating func insertEmpty(lasting duration: MediaTime, at time: MediaTime) throws(CompositionError) {
        try editAll { track throws(CompositionError) in
            if track.duration > time { try track.insertEmpty(lasting: duration, at: time) }
        }
    }

    /// Takes a range out of every track.
    /// - Throws: `.time`, `.range`.
    public mutating func remove(_ range: MediaTimeRange) throws(CompositionError) {
        try editAll { track throws(CompositionError) in try track.remove(range) }
    }

    /// Makes a range of every track last `duration`. A track that ends inside the range is stretched as far as it goes.
    /// - Throws: `.time`, `.range` when the range reaches beyond the composition.
    public mutating func scale(_ range: MediaTimeRange, to duration: MediaTime) throws(CompositionError) {
        guard range.end <= self.duration else {
            throw CompositionError(.range, "The range \(range) reaches beyond the composition, which ends at \(self.duration).")
        }
        let stretch = MediaTimeMapping(source: range, target: MediaTimeRange(start: range.start, duration: duration))
        try editAll { track throws(CompositionError) in
            let part = range.intersection(MediaTimeRange(start: .zero, end: track.duration))
            if !part.isEmpty { try track.scale(part, to: stretch.targetTime(at: part.end) - range.start) }
        }
    }

    /// Edits one track by the functions of `CompositionTrack`.
    /// - Throws: `.noTrack`, and what `body` throws; the track is then as it was.
    public mutating func edit(_ id: Int, _ body: (inout CompositionTrack) throws(CompositionError) -> Void) throws(CompositionError) {
        let index = try index(id)
        var track = tracks[index]
        try body(&track)
        tracks[index] = track
    }

    private mutating func editAll(_ body: (inout CompositionTrack) throws(CompositionError) -> Void) throws(CompositionError) {
        var edited = tracks
        for index in edited.indices { try body(&edited[index]) }
        tracks = edited
    }

    private func index(_ id: Int) throws(CompositionError) -> Int {
        if let index = tracks.firstIndex(where: { $0.id == id }) { return index }
        throw CompositionError(.noTrack, "The composition has no track \(id).")
    }
}

/// A named place in a composition.
public struct CompositionMarker: Sendable, Hashable {
    /// In the time of the composition.
    public var time: MediaTime
    /// What it is called.
    public var name: String

    /// Names a place.
    public init(time: MediaTime, name: String) {
        self.time = time
        self.name = name
    }
}
