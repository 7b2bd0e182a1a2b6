internal import Dispatch
public import DisplaySink
internal import Media

/// What a player reports, in the order in which it happens.
public enum PlayerEvent: Sendable {
    /// The player is now in this state. Every change is reported, even when the next one follows at once.
    case stateChanged(PlayerState)
    /// The durations of the last frame and of the sound have ended.
    case ended
    /// Playback cannot continue.
    case failed(PlayerError)
    /// The first frame after the seek with this number is on the display, and in its exporters before; or the film has none from there on. Of several
    /// seeks in a row only the last is reported.
    case seekCompleted(UInt64)
    /// The seek with this number was refused, and the film goes on where it was. Its frames have this number now.
    case seekFailed(UInt64, PlayerError)
    /// A sentence for the viewer: the sound device is gone, a frame is damaged.
    case notice(String)
    /// A sentence for verbose output: what was chosen and why.
    case detail(String)
    /// Other subtitles are on at the film's position than before: a line has come or gone, as time runs, by a seek or by the choice of a track.
    /// Without a picture. Where `SubtitleOptions.isTakenByProgram` says so, in films with a clock.
    case subtitlesChanged(ShownSubtitles)
    /// Of a film on a web server another tenth of what is to be fetched ahead is there (`percentAhead`), or was read and is not there any
    /// more.
    case cacheChanged(PlaybackStatistics.Network)
    /// The viewer asked to close the window.
    case closeRequested
    /// The viewer pressed a key in the window.
    case key(PlayerKey)
}

/// Delivers each event to every stream and to the handler, one after the other, on a queue of its own.
///
/// Thread-safety: all of it. `Listeners` is touched on the queue only.
final class EventHub: Sendable {
    private final class Listeners: @unchecked Sendable {
        var streams: [UInt64: AsyncStream<PlayerEvent>.Continuation] = [:]
        var nextID: UInt64 = 0
        /// The end or the failure that a stream made later must still hear of.
        var outcome: PlayerEvent?
        var isFinished = false
    }

    private let queue = DispatchQueue(label: "player.events")
    private let listeners = Listeners()
    /// What the log calls the film.
    private let film = Monitor("")
    private let handler: @Sendable (PlayerEvent) -> Void

    init(_ handler: @escaping @Sendable (PlayerEvent) -> Void) { self.handler = handler }

    func post(_ event: PlayerEvent) {
        queue.async { [self] in
            switch event {
            case .ended, .failed: listeners.outcome = event
            case .stateChanged(.preparing): listeners.outcome = nil
            default: break
            }
            log(event)
            handler(event)
            for stream in listeners.streams.values { stream.yield(event) }
        }
    }

    /// What the log calls the film from now on.
    func name(_ film: String) { self.film.withLock { $0 = film } }

    /// Tells the log, after the events posted so far.
    func log(_ level: Log.Level, _ sentence: String) { queue.async { [self] in write(level, sentence) } }

    private func log(_ event: PlayerEvent) {
        switch event {
        case .stateChanged(let state): write(.debug, "is now \(state)")
        case .ended: write(.debug, "has been played to its end")
        case .failed(let error): write(.error, error.description)
        case .seekCompleted(let serial): write(.debug, "seek \(serial) is on the display")
        case .seekFailed(let serial, let error): write(.warning, "seek \(serial) was refused: \(error.description)")
        case .notice(let sentence): write(.warning, sentence)
        case .detail(let sentence): write(.info, sentence)
        case .closeRequested, .key, .subtitlesChanged, .cacheChanged: break
        }
    }

    private func write(_ level: Log.Level, _ sentence: String) {
        Log.write(level, withFilm(sentence))
    }

    /// Most errors name the film themselves.
    private func withFilm(_ sentence: String) -> String {
        let film = film.withLock { $0 }
        return film.isEmpty || sentence.hasPrefix(film) ? sentence : "\(film): \(sentence)"
    }

    /// Runs `body` after the events posted so far.
    func perform(_ body: @escaping @Sendable () -> Void) { queue.async(execute: body) }

    /// Ends every stream after the events posted so far.
    func finish() {
        queue.async { [listeners] in
            listeners.isFinished = true
            for stream in listeners.streams.values { stream.finish() }
            listeners.streams = [:]
        }
    }

    /// A stream of the events from now on.
    func stream() -> AsyncStream<PlayerEvent> {
        let (stream, continuation) = AsyncStream.makeStream(of: PlayerEvent.self)
        queue.async { [listeners, queue] in
            if let outcome = listeners.outcome { continuation.yield(outcome) }
            if listeners.isFinished { return continuation.finish() }
            let id = listeners.nextID
            listeners.nextID += 1
            listeners.streams[id] = continuation
            continuation.onTermination = { _ in queue.async { listeners.streams[id] = nil } }
        }
        return stream
    }
}
