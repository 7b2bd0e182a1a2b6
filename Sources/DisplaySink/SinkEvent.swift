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

/// Keys that the player uses, named for what is printed on them.
public enum PlayerKey: String, Sendable, Hashable, CaseIterable {
    case space, q, escape, f, o, left, right, up, down, comma, period, m, nine, zero, leftBracket, rightBracket, backspace
    /// Enter also on the number pad; `>` and `<` also the keys for the next and the previous title.
    case enter, greater, less
    /// A capital J is a key of its own.
    case j, capitalJ, v, z, x
    /// `{` and `}`; `/` and `*` also of the number pad.
    case p, leftBrace, rightBrace, slash, asterisk
    case pageUp, pageDown
    /// Arrows with the Shift key.
    case shiftLeft, shiftRight, shiftUp, shiftDown

    /// Whether holding the key repeats it: only for keys that move something by a step.
    package var repeats: Bool {
        switch self {
        case .left, .right, .up, .down, .comma, .period, .nine, .zero, .z, .x: true
        case .slash, .asterisk, .shiftLeft, .shiftRight, .shiftUp, .shiftDown: true
        default: false
        }
    }
}
