public import Media
internal import Reading
public import SurfacePool

/// One frame that a compositor is to draw.
///
/// The counterpart of `AVAsynchronousVideoCompositionRequest`. It wants one answer: `finish(with:)`, `finish(throwing:)` or `finishCancelled()`.
///
/// Thread-safety: all of it.
public final class VideoCompositionRequest: Sendable {
    /// When the frame is shown, in the time of the composition.
    public let compositionTime: MediaTime
    /// What is to be drawn.
    public let instruction: any VideoCompositionInstructing
    /// What is drawn into.
    public let renderContext: RenderContext
    private let state: Monitor<State>
    private let ledger: CompositorLedger

    private struct State: Sendable {
        var sources: [Int: SharedFrame]
        var answer: Answer?
        var isCancelled = false
        /// The compositor has answered, also after a cancellation, or was never asked.
        var isLetGo = false
    }

    enum Answer: Sendable {
        case frame(SharedFrame)
        case error(String)
        case cancelled
    }

    init(
        _ time: MediaTime, _ instruction: any VideoCompositionInstructing, _ context: RenderContext, _ sources: [Int: SharedFrame],
        _ ledger: CompositorLedger
    ) {
        compositionTime = time
        self.instruction = instruction
        renderContext = context
        self.ledger = ledger
        state = Monitor(State(sources: sources))
    }

    /// The numbers of the tracks that have a frame at this time, in rising order.
    public var sourceTracks: [Int] { state.withLock { $0.sources.keys.sorted() } }

    /// A track's frame at this time, where the decoder wrote it; nil when the track has none, and after a cancellation.
    public func sourceFrame(_ track: Int) -> VideoFrame? { state.withLock { $0.sources[track] }?.copy() }

    /// Nobody waits for the frame any more.
    public var isCancelled: Bool { state.withLock { $0.isCancelled } }

    // MARK: Answers

    /// The frame is drawn. It must have the size and the format of the render context.
    public func finish(with frame: consuming VideoFrame) {
        if frame.visible.size != renderContext.size || frame.pixelFormat != renderContext.format {
            let found = "\(frame.visible.size) \(frame.pixelFormat.rawValue)"
            finish(.error("the compositor made a frame of \(found), not of \(renderContext.size) \(renderContext.format.rawValue)"))
        } else {
            finish(.frame(SharedFrame(frame)))
        }
    }

    /// The frame cannot be drawn.
    public func finish(throwing error: any Error) { finish(.error("the compositor failed: \(error)")) }

    /// The frame will not be drawn, because the request was cancelled.
    public func finishCancelled() { finish(.cancelled) }

    private func finish(_ answer: Answer) {
        let isTwice = state.change { state -> Bool? in
            defer { state.isLetGo = true }
            if state.isCancelled || state.isLetGo { return state.isLetGo }
            state.answer = answer
            // A decoder waits for its surfaces.
            state.sources = [:]
            return nil
        }
        guard let isTwice, isTwice || !answer.isCancelled else { return }
        ledger.ignored(isTwice ? "At \(compositionTime): the compositor answered a request twice." : nil)
    }

    // MARK: For the reader

    /// The answer; `.cancelled` after `cancel`, nil after `deadline`.
    func wait(until deadline: HostTime?) -> Answer? {
        state.wait(until: deadline) { state in state.isCancelled ? .cancelled : state.answer }
    }

    /// The compositor is about to be asked; false when nobody wants the frame any more.
    func begin() -> Bool {
        state.change { state in
            if state.isCancelled { state.isLetGo = true }
            return !state.isCancelled
        }
    }

    /// Waits for the answer that follows a cancellation; false when none came.
    func waitUntilLetGo(until deadline: HostTime) -> Bool { state.wait(until: deadline) { $0.isLetGo ? () : nil } != nil }

    /// Whether the compositor has said something.
    var isAnswered: Bool { state.withLock { $0.answer != nil } }

    /// Nobody waits any more: whoever does is woken, and the source frames are let go.
    func cancel() {
        state.change { state in
            state.isCancelled = true
            state.sources = [:]
            state.answer = nil
        }
    }
}

extension VideoCompositionRequest.Answer {
    var isCancelled: Bool { if case .cancelled = self { true } else { false } }
}
