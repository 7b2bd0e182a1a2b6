internal import Composition
internal import Demuxing
internal import Media
internal import Reading
internal import Sandbox

/// What a `MediaReport` tells of a file: a film, or a time line.
struct MediaFacts {
    /// A piece of a film in a time line.
    struct Part {
        var track: Int
        var mapping: MediaTimeMapping
        var film: String
    }

    var containerName: String
    var title: String?
    var duration: MediaTime
    var isSeekable: Bool
    var metadata: [String: String] = [:]
    var tracks: [AssetTrack]
    var chapters: [AssetChapter]
    var offer: VariantOffer?
    /// Empty for a film.
    var parts: [Part] = []

    init(_ reader: any AssetReading) {
        containerName = reader.containerName
        title = reader.title
        duration = reader.duration
        isSeekable = reader.isSeekable
        metadata = reader.metadata
        tracks = reader.tracks
        chapters = reader.chapters
        offer = reader.offer
    }

    init(_ file: TimelineFile) {
        let film = file.composition
        containerName = "OpenTimelineIO"
        title = file.name.isEmpty ? nil : file.name
        duration = film.duration
        isSeekable = true
        tracks = film.resultTracks(file.videoComposition)
        chapters = film.chapters
        for track in film.tracks {
            let kind: AssetTrack.Kind = track.kind == .video ? .video : .audio
            let result = tracks.first { $0.kind == kind }?.id ?? 0
            for segment in track.segments {
                if let source = segment.source { parts.append(Part(track: result, mapping: segment.mapping, film: source.url)) }
            }
        }
        // Unlike the tracks that the reader made of it, the order of time is what an editor knows.
        parts = parts.enumerated().sorted {
            ($0.element.track, $0.element.mapping.target.start, $0.offset)
                < ($1.element.track, $1.element.mapping.target.start, $1.offset)
        }.map(\.element)
    }
}
