public import Reading
public import SurfacePool

extension CompositionVideoOutput {
    /// The frames that are still to be read, for `for try await`. Cancelling the task cancels the output. Do not call `nextFrame` or `reset`
    /// meanwhile.
    public var frames: Frames { Frames(output: self) }

    /// The frames of a composition, drawn as they are asked for.
    public struct Frames: AsyncSequence, Sendable {
        /// A frame in an object, which holds a surface as long as it lives.
        public typealias Element = SharedFrame
        /// What ends the reading.
        public typealias Failure = ReadingError
        let output: CompositionVideoOutput

        /// Begins where the output stands.
        public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(output: output) }

        /// Asks for one frame after the other.
        public struct AsyncIterator: AsyncIteratorProtocol {
            let output: CompositionVideoOutput
            let queue = ReadingQueue()

            /// The next frame; nil at the end.
            public mutating func next() async throws(ReadingError) -> SharedFrame? {
                let output = output
                return try await queue.run { () throws(ReadingError) in
                    guard let frame = try output.nextFrame() else { return nil }
                    return SharedFrame(frame)
                } onCancel: {
                    output.cancel()
                }
            }
        }
    }
}
