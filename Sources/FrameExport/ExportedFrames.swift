/// A source of exported frames for asynchronous code.
protocol AsynchronousFrameSource: Sendable {
    /// The next frame; nil when none follows, and when the task is cancelled.
    func nextHeldFrame() async -> HeldFrame?
}

/// Exported frames as they come. Each is released with its object. The sequence ends with the stream.
public struct ExportedFrames: AsyncSequence, Sendable {
    /// A frame in an object, since a sequence's elements must be copyable.
    public typealias Element = HeldFrame
    private let source: any AsynchronousFrameSource

    init(_ source: any AsynchronousFrameSource) { self.source = source }

    /// Begins to receive. Several iterators share the frames: each frame goes to one of them.
    public func makeAsyncIterator() -> Iterator { Iterator(source: source) }

    /// Receives the frames one by one.
    public struct Iterator: AsyncIteratorProtocol, Sendable {
        let source: any AsynchronousFrameSource

        /// Waits for the next frame without blocking a thread; nil when none follows and when the task is cancelled.
        public func next() async -> HeldFrame? { await source.nextHeldFrame() }
    }
}
