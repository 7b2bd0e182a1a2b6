public import Media
public import PixelConversion
public import SurfacePool

/// Where decoded pictures go: a window, a monitor, a file of checksums, nowhere.
///
/// A sink *pulls*: for each refresh of its display it asks the presentation queue which picture lights up then, keeps the use of
/// that frame for as long as anything may read the memory, and reports when it was seen. An untimed sink has no refreshes and takes
/// every picture as it comes.
///
/// Thread-safety: `start` and `stop` are called by the owner, one after the other; the readings from any thread.
public protocol DisplaySink: AnyObject, Sendable {
    /// A word for statistics: `wayland`, `headless`, `md5`.
    var name: String { get }
    /// Whether pictures wait for their time; fixed for the sink's life, and given to the queue that feeds it.
    var pacing: Pacing { get }
    /// How many frames the sink may hold at once beyond those in the queue: the one on the glass, the one on its way there.
    var surfaceHoldCount: Int { get }
    /// The kind of memory that this sink can show without a copy.
    var preferredAllocator: any SurfaceAllocator { get }

    /// Begins to show what is in `queue`, until `stop`.
    ///
    /// - Parameter events: Called on a thread of the sink's (or, by an untimed sink, on the thread that enqueues), with no lock held. It must
    ///   not call `stop`.
    func start(_ queue: PresentationQueue, events: @escaping @Sendable (SinkEvent) -> Void) throws(SinkError)

    /// Ends and joins the sink's threads. When it returns no use is held and no event follows. Idempotent; a sink that goes does it too.
    func stop()

    /// The conversion that frames go through because the display takes nothing better; nil while none is needed.
    var conversion: ConversionReport? { get }
    /// Bytes of pictures that the sink itself has written so far, because of `conversion`.
    var bytesCopied: Int { get }

    /// Tells the sink the film's frame rate before the first frame; unknown when no rate is known. A sink that drives a monitor chooses the
    /// refresh rate by it.
    func setFilmRate(_ rate: Ratio)
    /// The controls of the sink's window; nil when the sink has nothing of the kind.
    var window: (any WindowControl)? { get }
    /// Where the sink draws the playback status over the film; nil when it cannot.
    var statusOverlay: (any StatusOverlay)? { get }
    /// Whether the sink reads the keys from the terminal itself, so that nobody else may.
    var readsTerminal: Bool { get }
}

extension DisplaySink {
    public var bytesCopied: Int { 0 }
    public func setFilmRate(_ rate: Ratio) {}
    public var window: (any WindowControl)? { nil }
    public var statusOverlay: (any StatusOverlay)? { nil }
    public var readsTerminal: Bool { false }
}

/// Whether a sink shows pictures at their times, or takes them as fast as they come.
public enum Pacing: Sendable, Hashable { case display, untimed }
