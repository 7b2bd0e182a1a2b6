public import Media
public import SurfacePool

/// Where decoded pictures go: a window, a monitor, a file of checksums, nowhere.
///
/// A sink *pulls*: on its own thread it asks the presentation queue, for each refresh of its display, which picture lights up
/// then. It holds the use of a frame for as long as anything may read the memory, and not longer.
///
/// Thread-safety: `start` and `stop` are called by the owner, one after the other; the readings may be asked from any thread.
public protocol DisplaySink: AnyObject, Sendable {
    /// A word for statistics: `wayland`, `headless`, `md5`.
    var name: String { get }
    /// Whether pictures wait for their time.
    var pacing: Pacing { get }
    /// How many frames the sink may hold at once beyond those in the queue: the picture on the glass, the one on its way.
    var surfaceHoldCount: Int { get }
    /// The kind of memory this sink can show without a copy.
    var preferredAllocator: any SurfaceAllocator { get }
    /// Starts the `present` thread, which pulls from `queue` until `stop`.
    /// - Parameter events: called on the sink's thread, with no lock held.
    func start(_ queue: PresentationQueue, events: @escaping @Sendable (SinkEvent) -> Void) throws(SinkError)
    /// Ends and joins the thread. Every use is ended when it returns. Idempotent.
    func stop()
    /// The conversion that frames go through because the display takes nothing better; nil while none is needed.
    var conversion: ConversionReport? { get }
}

/// Whether a sink shows pictures at their times, or takes them as fast as they come.
public enum Pacing: Sendable, Hashable { case display, untimed }

/// A conversion a sink has to make, and why.
public struct ConversionReport: Sendable, Hashable {
    /// What the decoder made, and what the display takes: pixel formats by name.
    public var from, to: String
    public var why: String
    public init(from: String, to: String, why: String) {
        self.from = from
        self.to = to
        self.why = why
    }
}

/// What a sink reports while it runs.
public enum SinkEvent: Sendable {
    /// The first picture since the start or a flush was handed to the display, at this time (CLOCK_MONOTONIC).
    case firstFrameShown(HostTime)
    /// The last picture before the end of the stream has had its time.
    case finished
    case key(PlayerKey)
    case closeRequested
    /// Size of the picture's area in the display's pixels.
    case resized(PixelSize)
    /// The display is gone or broken; nothing more will be shown.
    case failed(SinkError)
}

/// Keys that mean something to a player, by what is printed on them.
public enum PlayerKey: String, Sendable, Hashable, CaseIterable {
    case space, q, escape, f, left, right, up, down, comma, period, m, nine, zero, leftBracket, rightBracket, backspace
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

/// A sink that has a window.
public protocol WindowControl: AnyObject, Sendable {
    func setTitle(_ title: String)
    var isFullscreen: Bool { get }
    func setFullscreen(_ isFullscreen: Bool)
    func toggleFullscreen()
    func setGravity(_ gravity: Gravity)
}

/// Why a sink cannot show: one sentence, and its kind.
public struct SinkError: Error, Sendable, Hashable, CustomStringConvertible {
    public enum Code: Sendable, Hashable {
        /// There is no display to connect to.
        case noDisplay
        /// The display went away while in use.
        case lost
        /// The display cannot show this at all.
        case unsupported
        /// A file to be written cannot be.
        case cannotCreate
        /// The system refused something it normally grants.
        case system
    }
    public var code: Code
    public var description: String
    public init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}
