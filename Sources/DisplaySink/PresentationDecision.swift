public import Media
public import SurfacePool

/// What a sink does at a refresh of its display.
public enum PresentationDecision: ~Copyable, Sendable {
    /// Show this frame, which the sink owns from now on. `isFirst`: it is the first since the start or a flush, and the sink reports
    /// `SinkEvent.firstFrameShown` once it is committed.
    case show(VideoFrame, isFirst: Bool)
    /// Show nothing new. Ask again for the first refresh at or after this time; nil: when woken.
    case keep(until: HostTime?)
    /// Show black, and end the use of the frame on the display.
    case removeImage
    /// The last frame's duration has ended. The sink reports `SinkEvent.finished`. Returned once for each end of stream.
    case finished
}

/// How the presentation time was obtained: the flags of Wayland's `wp_presentation_feedback.presented`.
public struct PresentationFlags: OptionSet, Sendable, Hashable {
    /// The bits: those of `wp_presentation_feedback.kind`, and the highest for `estimated`.
    public let rawValue: UInt32
    /// Creates a set from the bits that a compositor sent. Unknown bits are kept.
    public init(rawValue: UInt32) { self.rawValue = rawValue }
    /// The frame was shown at a vertical retrace, without tearing.
    public static let vsync = PresentationFlags(rawValue: 1)
    /// The display hardware's clock gave the time.
    public static let hardwareClock = PresentationFlags(rawValue: 2)
    /// The display hardware reported that the frame was shown.
    public static let hardwareCompletion = PresentationFlags(rawValue: 4)
    /// The frame was scanned out without a copy.
    public static let zeroCopy = PresentationFlags(rawValue: 8)
    /// The sink estimated the time, because the display does not report it.
    public static let estimated = PresentationFlags(rawValue: 0x8000_0000)
}
