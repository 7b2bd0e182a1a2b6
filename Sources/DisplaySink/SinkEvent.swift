public import Media

/// What a sink reports while it runs.
public enum SinkEvent: Sendable, Hashable {
    /// The first picture since the start or a flush was handed to the display, at this time (CLOCK_MONOTONIC).
    case firstFrameShown(HostTime)
    /// The last picture before the end of the stream has had its time.
    case finished
    /// The user pressed a key in the sink's window.
    case key(PlayerKey)
    /// The user wants the window gone. The sink goes on until it is stopped.
    case closeRequested
    /// The area for the picture has this size now, in the display's pixels.
    case resized(PixelSize)
    /// There is nothing to show the film on any more (the monitor was unplugged, the compositor has gone), but there may be again.
    case displayLost
    /// The film is shown again, after `displayLost`.
    case displayReturned
    /// Something that the user may want to know of, such as a monitor that was unplugged: one sentence.
    case notice(String)
    /// A sentence for whoever asks for details: what was chosen and why.
    case detail(String)
    /// The display is gone or broken, or the file cannot be written: nothing more will be shown. Said once.
    case failed(SinkError)
}

/// Keys that mean something to a player, by what is printed on them and not by what they do.
public enum PlayerKey: String, Sendable, Hashable, CaseIterable {
    case space, q, escape, f, o, left, right, up, down, comma, period, m, nine, zero, leftBracket, rightBracket, backspace

    /// Whether it moves something by a step; a repeated space or f would flicker.
    package var repeats: Bool {
        switch self {
        case .left, .right, .up, .down, .comma, .period, .nine, .zero: true
        default: false
        }
    }
}
