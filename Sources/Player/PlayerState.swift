internal import Media

/// What a player is doing.
///
///     idle ── open ──► opening ──► preparing ──► playing ◄──► waiting
///                                      ▲            ▲ │
///                                      │  play/pause│ ▼
///                                    seek ◄────── paused, playing, waiting, ended, failed
///
/// | from | to | when |
/// |---|---|---|
/// | `idle` | `opening` | `open` begins; back to `idle` when it throws |
/// | `opening` | `preparing` | the head of the file has been read |
/// | `preparing` | `playing`, `paused` | the first frame of the position is on the display and its first sound is decoded |
/// | `preparing` | the state before the seek | the source refuses to seek |
/// | `playing` | `paused`, and back | `pause()`, `play()`, or a display that went and came back |
/// | `playing` | `waiting`, and back | the source is slower than the film; enough samples have come again |
/// | `waiting` | `paused`, and back | `pause()`, `play()` |
/// | `preparing`, `playing`, `paused`, `waiting` | `ended` | the durations of the last frame and of the sound have ended |
/// | `playing`, `paused`, `waiting`, `ended`, `failed` | `preparing` | a seek, a step backward, `play()` at the end; a film that loops (see below) |
/// | any but `closed` | `failed` | playback cannot continue |
/// | any | `closed` | `close()`; nothing follows |
///
/// A film that loops on a display goes on without a gap, and without a change of state. It is `preparing` again at its end where its frames go to
/// exporters or to an untimed sink, where it is a still image or a raw stream, and where its source cannot go back.
public enum PlayerState: Sendable, Hashable, CaseIterable {
    /// No film is open.
    case idle
    /// The head of the file is being read.
    case opening
    /// Time is stopped at the position until its first frame is on the display.
    case preparing
    /// Time runs.
    case playing
    /// Time is stopped because the viewer paused the film, or because the display is gone and the configuration says so.
    case paused
    /// Time is stopped because the source is slower than the film.
    case waiting
    /// Everything has been shown and heard.
    case ended
    /// Playback cannot continue; the event `failed` has said why. A seek may help.
    case failed
    /// The player has been closed.
    case closed
}

extension Player.Storage {
    /// The state that follows from the transport's phase and from failures.
    var publicState: PlayerState {
        if isClosed { return .closed }
        if hasFailed { return .failed }
        switch transport.phase {
        case .idle: return opening != nil ? .opening : .idle
        case .prerolling: return .preparing
        case .running: return transport.wantsToPlay ? .playing : .paused
        case .starved: return transport.wantsToPlay ? .waiting : .paused
        // The failure is about to be reported.
        case .ended: return loss == nil ? .ended : .failed
        }
    }
}
