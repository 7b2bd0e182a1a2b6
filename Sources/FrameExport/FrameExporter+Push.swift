public import Media

/// Frames that come to the client instead of being asked for.
extension FrameExporter {
    /// As `waitForFrame`, for asynchronous code; nil when the task is cancelled.
    public func next() async -> ExportedFrame? { await nextHeldFrame()?.take() }

    /// The frames as a sequence of objects.
    public var frames: ExportedFrames { ExportedFrames(self) }

    /// Calls `body` for each frame on a thread of its own, named `export`, until the end of the stream or `cancel()`.
    public func deliver(_ body: @escaping @Sendable (consuming ExportedFrame) -> Void) -> LoopThread {
        LoopThread(name: "export") { [self] in
            while let frame = waitForFrame() { body(frame) }
        }
    }
}

extension FrameExporter {
    /// What a client that wants the next frame finds.
    private enum Look: ~Copyable {
        case frame(ExportedFrame)
        /// None follows.
        case over
        /// None yet: look again when `revision` has changed, or at `next`.
        case nothing(revision: Int, next: HostTime?)
    }

    private func look() -> Look {
        let revision = state.withLock { $0.revision }
        let next = advance(to: MonotonicClock.shared.now(), onlyOne: configuration.policy == .makeDecoderWait, keepsFirst: true)
        switch handOut(again: false) {
        case .some(let frame): return .frame(frame)
        case .none: return isOver ? .over : .nothing(revision: revision, next: next)
        }
    }

    /// Waits for a frame that the client has not had and returns it; nil at `deadline` (CLOCK_MONOTONIC; nil: none), at the end
    /// of the stream, and after `cancel()`.
    public func waitForFrame(until deadline: HostTime? = nil) -> ExportedFrame? {
        while true {
            switch look() {
            case .frame(let frame): return frame
            case .over: return nil
            case .nothing(let revision, let next):
                if let deadline, MonotonicClock.shared.now() >= deadline { return nil }
                let limit = [next, deadline].compactMap { $0 }.min()
                let _: Void? = state.wait(until: limit) { $0.revision != revision ? () : nil }
            }
        }
    }
}

extension FrameExporter: AsynchronousFrameSource {
    func nextHeldFrame() async -> HeldFrame? {
        while !Task.isCancelled {
            switch look() {
            case .frame(let frame): return HeldFrame(frame)
            case .over: return nil
            case .nothing(let revision, let next):
                await client.waiters.wait(until: next) { state.withLock { $0.revision } != revision }
            }
        }
        return nil
    }
}
