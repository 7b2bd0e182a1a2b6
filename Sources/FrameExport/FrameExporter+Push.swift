internal import Dispatch
public import Media

/// Frames that come to the client instead of being asked for.
extension FrameExporter {
    /// Sleeps until there is a frame that the client has not had, and gives it; nil at `deadline` (CLOCK_MONOTONIC; nil: none), at the end
    /// of the stream, and after `cancel()`.
    public func waitForFrame(until deadline: HostTime? = nil) -> ExportedFrame? {
        waitForFrame(until: deadline) { false }
    }

    /// As `waitForFrame`, for asynchronous code; nil when the task is cancelled.
    public func next() async -> ExportedFrame? { await ExportedFrames(self).makeAsyncIterator().nextFrame() }

    /// The frames as a sequence, in boxes.
    public var frames: ExportedFrames { ExportedFrames(self) }

    /// Calls `body` for each frame on a thread of its own, named `export`, until the end of the stream or `cancel()`.
    public func deliver(_ body: @escaping @Sendable (consuming ExportedFrame) -> Void) -> LoopThread {
        LoopThread(name: "export") { [self] in
            while let frame = waitForFrame() { body(frame) }
        }
    }
}

extension FrameExporter: WaitableFrameSource {
    func waitForFrame(until deadline: HostTime?, isCancelled: () -> Bool) -> ExportedFrame? {
        while true {
            let now = MonotonicClock.shared.now()
            let news = state.withLock { $0.news }
            let due = advance(to: now, onlyOne: configuration.policy == .makeDecoderWait)
            if let frame = handOut(again: false) { return frame }
            let isOver = state.withLock { $0.isCancelled || ($0.isEnding && $0.waitingCount == 0) }
            if isOver || isCancelled() || deadline.map({ now >= $0 }) ?? false { return nil }
            let limit = [due, deadline].compactMap { $0 }.min()
            let _: Void? = state.wait(until: limit) { $0.news != news ? () : nil }
        }
    }

    /// Makes waiters look again.
    func ring() { state.change { $0.timebaseChanged() } }
}

/// What asynchronous waiting needs of a source: a wait that can be ended from outside.
protocol WaitableFrameSource: Sendable {
    func waitForFrame(until deadline: HostTime?, isCancelled: () -> Bool) -> ExportedFrame?
    func ring()
}

/// Exported frames as they come, each released with its box. Ends with the stream.
public struct ExportedFrames: AsyncSequence, Sendable {
    public typealias Element = HeldFrame
    private let source: any WaitableFrameSource

    init(_ source: any WaitableFrameSource) { self.source = source }

    public func makeAsyncIterator() -> Iterator { Iterator(source: source) }

    public struct Iterator: AsyncIteratorProtocol, Sendable {
        let source: any WaitableFrameSource

        public func next() async -> HeldFrame? {
            // By the monitor, not the continuation: ThreadSanitizer sees what that hands over.
            let flag = Monitor(false), answer = Monitor<HeldFrame?>(nil), source = source
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    // The wait sleeps in a condition, which the cooperative pool's threads must not.
                    Self.queue.async {
                        let frame = source.waitForFrame(until: nil, isCancelled: { flag.withLock { $0 } })
                        switch consume frame {
                        case .some(let frame):
                            let box = HeldFrame(frame)
                            answer.withLock { $0 = box }
                        case .none: break
                        }
                        continuation.resume()
                    }
                }
            } onCancel: {
                flag.withLock { $0 = true }
                source.ring()
            }
            return answer.withLock { $0.take() }
        }

        func nextFrame() async -> ExportedFrame? { await next()?.take() }

        private static let queue = DispatchQueue(label: "player.export", attributes: .concurrent)
    }
}
