internal import Dispatch
public import SurfacePool

extension VideoTrackOutput {
    /// The frames that are still to be read, for `for try await`.
    ///
    /// The next frame is decoded when it is asked for, on a thread of its own, so that a slow consumer holds the decoder back. Cancelling the task
    /// cancels the output. Do not call `nextFrame` or `reset` meanwhile.
    public var frames: Frames { Frames(output: self) }

    /// The frames of an output, decoded one by one as they are asked for.
    public struct Frames: AsyncSequence, Sendable {
        /// A frame in an object, which holds a surface as long as it lives.
        public typealias Element = SharedFrame
        /// What ends the reading.
        public typealias Failure = ReadingError
        let output: VideoTrackOutput

        /// Begins where the output stands.
        public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(output: output) }

        /// Asks for one frame after the other.
        public struct AsyncIterator: AsyncIteratorProtocol {
            let output: VideoTrackOutput

            /// The next frame; nil when the ranges have been read.
            public mutating func next() async throws(ReadingError) -> SharedFrame? {
                let output = output
                return try await output.queue.run { () throws(ReadingError) in
                    try output.nextShared()
                } onCancel: {
                    output.cancel()
                }
            }
        }
    }
}

/// Runs what blocks on a thread of its own, for callers that must not block.
///
/// Thread-safety: all of it.
package final class ReadingQueue: Sendable {
    private let queue = DispatchQueue(label: "reading")

    package init() {}

    /// Waits for `body`, which runs after everything asked for before. `onCancel` must make it return soon.
    package func run<R: Sendable>(
        _ body: @escaping @Sendable () throws(ReadingError) -> R, onCancel: @escaping @Sendable () -> Void
    ) async throws(ReadingError) -> R {
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Result<R, ReadingError>, Never>) in
                queue.async {
                    do throws(ReadingError) {
                        continuation.resume(returning: .success(try body()))
                    } catch {
                        continuation.resume(returning: .failure(error))
                    }
                }
            }
        } onCancel: {
            onCancel()
        }
        return try result.get()
    }
}
