public import Media

/// A track of a film: where a segment of a composition takes its frames or its sound from.
public struct CompositionSource: Sendable, Hashable {
    /// A path, or a URL of any protocol that libavformat knows.
    public var url: String
    /// The number of the track in the film; nil takes the one that the container marks as default, else the first of the kind.
    public var trackID: Int?

    /// Names a film's track. The film is opened when it is read.
    public init(url: String, trackID: Int? = nil) {
        self.url = url
        self.trackID = trackID
    }
}

/// A stretch of a composition's track: a part of a film, or nothing.
///
/// The counterpart of `AVCompositionTrackSegment`.
///
/// Thread-safety: a value.
public struct CompositionSegment: Sendable, Hashable {
    /// The film's track; nil where nothing is shown or heard.
    public let source: CompositionSource?
    /// Which part of the film is shown when. Of an empty segment only the target counts.
    public let mapping: MediaTimeMapping

    /// Nothing is shown or heard.
    public var isEmpty: Bool { source == nil }
    /// Where it lies in the composition.
    public var range: MediaTimeRange { mapping.target }

    init(_ source: CompositionSource?, _ mapping: MediaTimeMapping) {
        self.source = source
        self.mapping = mapping
    }

    init(emptyFor range: MediaTimeRange) { self.init(nil, MediaTimeMapping(source: range, target: range)) }

    /// The part of it that lies in `range`; nil where that is nothing.
    func part(in range: MediaTimeRange) -> CompositionSegment? {
        let part = self.range.intersection(range)
        guard !part.isEmpty else { return nil }
        if part == self.range { return self }
        guard source != nil else { return CompositionSegment(emptyFor: part) }
        let source = MediaTimeRange(start: mapping.sourceTime(at: part.start), end: mapping.sourceTime(at: part.end))
        return CompositionSegment(self.source, MediaTimeMapping(source: source, target: part))
    }

    /// The same part of the film over another stretch of the composition.
    func moved(to range: MediaTimeRange) -> CompositionSegment {
        isEmpty ? CompositionSegment(emptyFor: range) : CompositionSegment(source, MediaTimeMapping(source: mapping.source, target: range))
    }
}
