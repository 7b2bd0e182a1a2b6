public import PixelConversion

/// Controls the window of a sink; see `DisplaySink.window`.
///
/// Thread-safety: any thread. The sink's thread carries out requests soon; before `start` they are kept.
public protocol WindowControl: AnyObject, Sendable {
    /// Sets the window's title.
    func setTitle(_ title: String)
    /// Whether the window is in full screen, as the compositor last reported.
    var isFullscreen: Bool { get }
    /// Requests full screen, or the return to a window. The compositor may refuse.
    func setFullscreen(_ isFullscreen: Bool)
    /// Requests the opposite of the pending full-screen request, or of the window's state when no request is pending.
    func toggleFullscreen()
    /// Sets which part of the frames is shown, how they are turned, and how they fit the window or the monitor; also the frame that is shown.
    func setFraming(_ framing: Framing)
    /// Changes the brightness and colours of frames as they are shown; also of the frame that is shown. It costs a copy per frame; a neutral balance
    /// costs nothing.
    func setColorBalance(_ balance: ColorBalance)
    /// Tells whether the film plays. While it does, the screen is kept from going idle.
    func setPlaying(_ isPlaying: Bool)
}
