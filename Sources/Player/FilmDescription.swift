internal import Composition
public import Demuxing
public import Media

/// What a film holds, as its container describes it, and which of its tracks play.
///
/// Thread-safety: a value.
public struct FilmDescription: Sendable, Hashable {
    /// libavformat's name of the container.
    public var containerName: String
    /// The title, where the container has one.
    public var title: String?
    /// Length of the whole film, also where only a part is played; indefinite for a live stream.
    public var duration: MediaTime
    /// Whether seeks can be expected to work.
    public var isSeekable: Bool
    /// All tracks, in the order of their numbers.
    public var tracks: [AssetTrack]
    /// Texts about the film by FFmpeg's names: `title`, `artist`, `comment`, `date` …
    public var metadata: [String: String]
    /// Parts of the film with names, in film time and in their order.
    public var chapters: [AssetChapter]
    /// Which time of the film was made when, where its list says so from beginning to end; `Player.programDate` also knows of live films.
    public var programDates = ProgramDateLine()
    /// The `id` of the track whose frames play; nil: none.
    public var videoTrack: Int?
    /// The `id` of the track whose sound plays; nil: none.
    public var audioTrack: Int?

    init(_ reader: any AssetReading, _ selection: TrackSelection) {
        containerName = reader.containerName
        title = reader.title
        duration = reader.duration
        isSeekable = reader.isSeekable
        tracks = reader.tracks
        metadata = reader.metadata
        chapters = reader.chapters
        programDates = reader.programDates
        videoTrack = selection.video?.id
        audioTrack = selection.audio?.id
    }

    /// A composition: its tracks are the frames as they are drawn and the sound as it is mixed.
    init(_ film: ComposedFilm, title: String?, playsFrames: Bool, playsSound: Bool) {
        containerName = "composition"
        self.title = title
        duration = film.composition.duration
        isSeekable = true
        tracks = film.composition.resultTracks(film.video)
        metadata = [:]
        chapters = film.composition.chapters
        videoTrack = playsFrames ? tracks.first { $0.kind == .video }?.id : nil
        audioTrack = playsSound ? tracks.first { $0.kind == .audio }?.id : nil
    }

    /// The number by which `TrackPreferences` and `Player.subtitleNumber` choose the track, counted from 1 within its kind; nil for a track that
    /// cannot be chosen.
    public func number(of track: AssetTrack) -> Int? { tracks.rivals(of: track).firstIndex { $0.id == track.id }.map { $0 + 1 } }
}

extension [AssetTrack] {
    /// The tracks that a viewer chooses `track` from, in the order in which `TrackPreferences` counts them.
    package func rivals(of track: AssetTrack) -> [AssetTrack] {
        switch track.kind {
        case .video, .attachedPicture: filter { $0.kind == .video } + filter { $0.kind == .attachedPicture }
        case .audio: filter { $0.kind == .audio }
        case .subtitle: filter(\.isShownSubtitle)
        case .other: []
        }
    }
}
