/// Controls the window of a sink; see `DisplaySink.window`.
///
/// Thread-safety: all of it. Requests are carried out by the sink's own thread, soon; before `start` they are kept for it.
public protocol WindowControl: AnyObject, Sendable {
    /// The name of the film, for the title bar and the list of windows.
    func setTitle(_ title: String)
    /// Whether the window covers its whole monitor, as the compositor last said.
    var isFullscreen: Bool { get }
    func setFullscreen(_ isFullscreen: Bool)
    func toggleFullscreen()
    func setGravity(_ gravity: Gravity)
    /// While playing, the screen must not go dark; while paused it may.
    func setPlaying(_ isPlaying: Bool)
}

/// How a picture fits an area of another shape.
public enum Gravity: String, Sendable, Hashable, CaseIterable {
    /// All of the picture, black beside it.
    case aspect
    /// All of the area, the picture's edges cut off.
    case fill
    /// All of both, distorted.
    case stretch
}
