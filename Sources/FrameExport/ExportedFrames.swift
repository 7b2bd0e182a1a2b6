/// A source of exported frames for asynchronous code.
protocol AsynchronousFrameSource: Sendable {
    /// The next frame; nil when none follows, and when the task is cancelled.
    func nextHeldFrame() async -> HeldFrame?
}

/// Exported frames as they come. Each is released with its object. The sequence ends with the stream.
public struct ExportedFrames: AsyncSequence, Sendable {
    public typealias Element = HeldFrame
    private let source: any AsynchronousFrameSource

    init(_ source: any AsynchronousFrameSource) { self.source = source }

    public func makeAsyncIterator() -> Iterator { Iterator(source: source) }

    public struct Iterator: AsyncIteratorProtocol, Sendable {
        let source: any AsynchronousFrameSource

        public func next() async -> HeldFrame? { await source.nextHeldFrame() }
    }
}
