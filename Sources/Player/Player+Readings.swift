public import Capture
internal import Demuxing
internal import DisplaySink
public import Media
internal import SampleQueue

extension Player {
    /// What the player is doing now; the event `stateChanged` reports each change.
    public var state: PlayerState { storage.withLock { $0.publicState } }

    /// The number of the newest seek; 0 before the first.
    public var seekSerial: UInt64 { storage.withLock { $0.issuedSerial } }

    /// Whether the viewer wants the film to play, and it does or will as soon as it can: `playing`, `waiting`, or `preparing` to play.
    public var isPlaying: Bool { storage.withLock { $0.transport.isPlaying } }

    /// Whether the viewer wants the film to play, also before it is open and after its end.
    package var wantsToPlay: Bool { storage.withLock { $0.transport.wantsToPlay } }

    /// The time of the film, from 0 at its beginning. During a seek this is its target.
    public var position: MediaTime {
        let (pipeline, target) = storage.withLock { ($0.pipeline, $0.seekTarget) }
        if let target { return target }
        guard let pipeline else { return .zero }
        let time = max(pipeline.position, .zero), duration = pipeline.source.duration
        return duration.isNumeric ? min(time, duration) : time
    }

    /// The length of the film. Not numeric when it has no known end.
    public var duration: MediaTime { storage.withLock { $0.pipeline?.source.duration } ?? .indefinite }

    /// What the film holds; nil before it is open, after `close`, and for what has no container, such as a camera.
    public var film: FilmDescription? {
        guard let pipeline = storage.withLock({ $0.pipeline }), var film = pipeline.source.description else { return nil }
        if let track = pipeline.container?.soundTrack { film.audioTrack = track }
        return film
    }

    /// The session of the camera that is shown; nil while none is.
    public var camera: CaptureSession? { storage.withLock { $0.pipeline }?.source.camera?.session }

    /// The title in the file, else the file's name.
    public var title: String { storage.withLock { $0.pipeline?.source.title } ?? "" }

    /// Whether the film has sound that is played.
    public var hasSound: Bool {
        guard let pipeline = storage.withLock({ $0.pipeline }) else { return false }
        return pipeline.audio != nil && pipeline.source.audio != nil
    }

    /// How much film is read but not yet decoded; zero without video.
    public var bufferedDuration: MediaTime { storage.withLock { $0.pipeline }?.display?.samples.bufferedDuration ?? .zero }

    /// What has come of a film on a web server, and how fast it comes; nil for other films.
    public var network: PlaybackStatistics.Network? {
        storage.withLock { $0.pipeline }.flatMap { .init($0.source.progress, length: $0.source.length) }
    }

    /// Frames that were not shown so far, for whatever reason; `statistics` has the reasons.
    public var framesDropped: Int { storage.withLock { $0.pipeline }?.framesDropped ?? 0 }

    /// What playback has done and cost so far; after `close`, in all.
    public var statistics: PlaybackStatistics {
        let (final, pipeline) = storage.withLock { ($0.finalStatistics, $0.pipeline) }
        return final ?? pipeline.map(gather) ?? PlaybackStatistics()
    }
}
