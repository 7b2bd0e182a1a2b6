internal import Dispatch
public import SurfacePool

/// The frames that an output still has to read, for `for try await`.
///
/// The next frame is read when it is asked for, on a thread of its own, so that a slow consumer holds the decoder back. Cancelling the task cancels
/// the output. Do not call the output's `nextFrame` or `reset` meanwhile.
public struct FrameSequence: AsyncSequence, Sendable {
    /// A frame in an object, which holds a surface as long as it lives.
    public typealias Element = SharedFrame
    /// What ends the reading.
    public typealias Failure = ReadingError
    private let iterator: AsyncIterator

    /// - Parameters:
    ///   - queue: Where `next` is called.
    ///   - cancel: Makes `next` return soon.
    package init(
        on queue: ReadingQueue, _ next: @escaping @Sendable () throws(ReadingError) -> SharedFrame?, onCancel cancel: @escaping @Sendable () -> Void
    ) {
        iterator = AsyncIterator(queue: queue, read: next, cancel: cancel)
    }

    /// Begins where the output stands.
    public func makeAsyncIterator() -> AsyncIterator { iterator }

    /// Asks for one frame after the other.
    public struct AsyncIterator: AsyncIteratorProtocol, Sendable {
        let queue: ReadingQueue
        let read: @Sendable () throws(ReadingError) -> SharedFrame?
        let cancel: @Sendable () -> Void

        /// The next frame; nil at the end.
        public mutating func next() async throws(ReadingError) -> SharedFrame? { try await queue.run(read, onCancel: cancel) }
    }
}

/// Runs what blocks on a thread of its own, for callers that must not block.
///
/// Thread-safety: all of it.
package final class ReadingQueue: Sendable {
    private let queue = DispatchQueue(label: "reading")

    package init() {}

    /// Waits for `body`, which runs after everything asked for before. `onCancel` must make it return soon. When the wait ends the queue holds
    /// nothing of `body` any more: the last reader of a film is then closed by the caller, not some time later beside it.
    package func run<R: Sendable>(
        _ body: @escaping @Sendable () throws(ReadingError) -> R, onCancel: @escaping @Sendable () -> Void
    ) async throws(ReadingError) -> R {
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Result<R, ReadingError>, Never>) in
                let work = ReadingWork(body)
                queue.async { continuation.resume(returning: work.perform()) }
            }
        } onCancel: {
            onCancel()
        }
        return try result.get()
    }
}

/// Work that is done once, and let go of before its result is told.
///
/// Thread-safety: `perform` is called once.
private final class ReadingWork<R: Sendable>: @unchecked Sendable {
    private var body: (@Sendable () throws(ReadingError) -> R)?

    init(_ body: @escaping @Sendable () throws(ReadingError) -> R) { self.body = body }

    func perform() -> Result<R, ReadingError> {
        guard let body else { preconditionFailure("work is done once") }
        self.body = nil
        return Result { () throws(ReadingError) in try body() }
    }
}
