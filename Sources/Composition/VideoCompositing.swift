public import Media
public import PixelConversion

/// Draws the frames of a composition: a program's own effects and transitions.
///
/// The counterpart of `AVVideoCompositing`. See `LayerCompositor` for the one that is built in.
///
/// What a compositor does wrong harms nothing but its own frames: the reader ignores a second answer and an answer after a cancellation, refuses
/// frames of another size or format, and `CompositionVideoOutput.report` says so.
///
/// Thread-safety: `renderContextChanged` and `start` are called on one thread at a time, `cancelAllPendingRequests` on any. A call that does not
/// return in time is left behind: further calls come on another thread then.
public protocol VideoCompositing: AnyObject, Sendable {
    /// What source frames must look like. Ask for no more than is needed: other frames are converted before they come here.
    var sourceRequirements: OutputRequirements { get }
    /// The format of the frames that it makes.
    var renderFormat: PixelFormat { get }
    /// The size, the format, the colours or the surfaces of the result change. Called before the first request.
    func renderContextChanged(_ context: RenderContext)
    /// Begins to draw a frame, and may return before it is drawn. Each request wants one of the three answers of `VideoCompositionRequest`, from any
    /// thread. Several requests are open at once. An error thrown here is an answer too.
    func start(_ request: VideoCompositionRequest) throws
    /// Nobody waits for the open requests any more: the reader goes to another place. Answering them is allowed and does nothing.
    func cancelAllPendingRequests()
}

extension VideoCompositing {
    /// Does nothing.
    public func renderContextChanged(_ context: RenderContext) {}
    /// Does nothing.
    public func cancelAllPendingRequests() {}
}
