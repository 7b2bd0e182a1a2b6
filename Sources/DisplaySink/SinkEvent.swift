public import Media

/// What a sink reports while it runs.
public enum SinkEvent: Sendable, Hashable {
    /// The first frame since the start or a flush was committed to the display, at this time (CLOCK_MONOTONIC).
    case firstFrameShown(HostTime)
    /// The duration of the last frame before the end of the stream has ended.
    case finished
    /// The user pressed a key in the sink's window.
    case key(PlayerKey)
    /// The user asked to close the window. The sink continues until it is stopped.
    case closeRequested
    /// The window has this size now, in the display's pixels.
    case resized(PixelSize)
    /// The display is not available any more, because the monitor was unplugged or the compositor ended. It may return.
    case displayLost
    /// The film is shown again after `displayLost`.
    case displayReturned
    /// A sentence for the user, for example that a monitor was unplugged.
    case notice(String)
    /// A sentence for verbose output: what was chosen and why.
    case detail(String)
    /// The sink cannot continue, because the display is lost or the file cannot be written. Sent once.
    case failed(SinkError)
}
