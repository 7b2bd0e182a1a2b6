public import Media
public import PixelConversion
public import SurfacePool

/// Shows decoded frames: in a window, on a monitor, as checksums in a file, or not at all.
///
/// A sink *pulls*: for each refresh of its display it asks the presentation queue which frame to show, keeps the use of that frame while anything
/// may read the memory, and reports when the frame was shown. An untimed sink has no refreshes and takes every frame at once.
///
/// Thread-safety: the owner calls `start` and `stop`, one at a time. Everything else may be called from any thread.
public protocol DisplaySink: AnyObject, Sendable {
    /// The sink's name in statistics: `wayland`, `headless`, `md5`.
    var name: String { get }
    /// Whether frames are shown at their times. Constant; the queue that feeds the sink must have the same pacing.
    var pacing: Pacing { get }
    /// How many frames the sink holds at most, beside those in the queue: for example the one on the screen and the one committed for the next
    /// refresh. The decoder's pool is made this much larger.
    var surfaceHoldCount: Int { get }
    /// Allocates the memory that the sink can show without a copy.
    var preferredAllocator: any SurfaceAllocator { get }

    /// Starts to show the frames of `queue`, until `stop`.
    ///
    /// - Parameter events: Called on the sink's thread, or by an untimed sink on the thread that enqueues, without a lock. It must not call `stop`.
    func start(_ queue: PresentationQueue, events: @escaping @Sendable (SinkEvent) -> Void) throws(SinkError)

    /// Stops and joins the sink's threads. When it returns, the sink holds no use and sends no more events. Idempotent; deallocation does the same.
    func stop()

    /// The conversion that frames need because the display does not accept them as they are; nil: none.
    var conversion: ConversionReport? { get }
    /// Bytes of frames that the sink has written so far, for `conversion`.
    var bytesCopied: Int { get }

    /// Tells the sink the film's frame rate before the first frame; unknown when no rate is known. A sink that drives a monitor chooses the
    /// refresh rate by it.
    func setFilmRate(_ rate: Ratio)
    /// The controls of the sink's window; nil when the sink has nothing of the kind.
    var window: (any WindowControl)? { get }
    /// The size of the largest monitor in pixels, to choose between several qualities of a film before it is opened; nil when it is unknown.
    var displaySize: PixelSize? { get }
    /// Whether the sink shows subtitles and messages over the film. Constant.
    var drawsOverlays: Bool { get }
    /// Whether the sink reads the keys from the terminal itself, so that the program must not.
    var readsTerminal: Bool { get }
    /// Why what the sink has put out is not whole; asked after `stop`. nil: it is whole, or the sink puts out nothing that lasts.
    var failure: SinkError? { get }
}

extension DisplaySink {
    /// 0, for a sink that never copies frames.
    public var bytesCopied: Int { 0 }
    /// Has no effect, for a sink that does not choose a refresh rate.
    public func setFilmRate(_ rate: Ratio) {}
    /// Nil, for a sink without a window.
    public var window: (any WindowControl)? { nil }
    /// Nil, for a sink without a display.
    public var displaySize: PixelSize? { nil }
    /// False, for a sink without a display.
    public var drawsOverlays: Bool { false }
    /// False, for a sink that leaves the terminal to the program.
    public var readsTerminal: Bool { false }
    /// Nil, for a sink that writes no file.
    public var failure: SinkError? { nil }
}

/// Whether a sink shows frames at their times (`display`), or takes them as fast as they are decoded (`untimed`).
public enum Pacing: Sendable, Hashable { case display, untimed }
