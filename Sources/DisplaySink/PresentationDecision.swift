public import Media
public import SurfacePool

/// What a sink is to do at a refresh of its display.
public enum PresentationDecision: ~Copyable, Sendable {
    /// Show this frame, which is the sink's from now on. `isFirst`: the first since the start or a flush, to be reported as
    /// `SinkEvent.firstFrameShown` once it is handed to the display.
    case show(VideoFrame, isFirst: Bool)
    /// Nothing new. Ask again for the first refresh at or after this time; nil: when woken.
    case keep(until: HostTime?)
    /// Blank the display, and end the use of what it showed.
    case removeImage
    /// The last frame has had its time; to be reported as `SinkEvent.finished`. Said once for each end of a stream.
    case finished
}

/// How a display came to know the time at which a picture lit up; the flags of Wayland's `wp_presentation_feedback.presented`.
public struct PresentationFlags: OptionSet, Sendable, Hashable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }
    /// At a vertical retrace, without tearing.
    public static let vsync = PresentationFlags(rawValue: 1)
    /// The hardware's clock told the time.
    public static let hardwareClock = PresentationFlags(rawValue: 2)
    /// The hardware told that the picture lit up.
    public static let hardwareCompletion = PresentationFlags(rawValue: 4)
    /// The picture's own memory was scanned out.
    public static let zeroCopy = PresentationFlags(rawValue: 8)
    /// The sink's guess: the display tells nothing.
    public static let estimated = PresentationFlags(rawValue: 0x8000_0000)
}
