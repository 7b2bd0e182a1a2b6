public import Media
public import SurfacePool

/// The answer of a `FrameGenerator` to one time.
public struct GeneratedFrame: Sendable {
    /// The time that was asked for.
    public let requestedTime: MediaTime
    /// Its place in the list of times.
    public let index: Int
    /// The frame, which holds a surface as long as it lives, or why there is none.
    public let result: Result<SharedFrame, ReadingError>

    /// The frame.
    /// - Throws: why there is none.
    public var frame: SharedFrame { get throws(ReadingError) { try result.get() } }

    /// When the frame begins; `.invalid` where there is none.
    public var actualTime: MediaTime {
        if case .success(let frame) = result { frame.presentationTime } else { .invalid }
    }
}

extension FrameGenerator {
    /// Finds the frames for many times, and hands them over in file order, one by one. Blocks.
    ///
    /// A time without a frame has an error for its result; the others follow.
    /// - Throws: `.cancelled`; what `body` throws.
    public func forEachFrame(at times: [MediaTime], _ body: (GeneratedFrame) throws -> Void) throws {
        for index in Self.order(times) { try body(answer(times, index)) }
    }

    /// Finds the frames for many times, in file order, for `for try await`.
    ///
    /// Each is decoded when it is asked for, on a thread of its own. Cancelling the task cancels the generator.
    public func frames(at times: [MediaTime]) -> Frames { Frames(generator: self, times: times) }

    /// Indices of the times, earliest first.
    private static func order(_ times: [MediaTime]) -> [Int] { times.indices.sorted { times[$0] != times[$1] ? times[$0] < times[$1] : $0 < $1 } }

    private func answer(_ times: [MediaTime], _ index: Int) throws(ReadingError) -> GeneratedFrame {
        do throws(ReadingError) {
            let frame = try frame(at: times[index])
            return GeneratedFrame(requestedTime: times[index], index: index, result: .success(SharedFrame(frame)))
        } catch {
            if error.code == .cancelled { throw error }
            return GeneratedFrame(requestedTime: times[index], index: index, result: .failure(error))
        }
    }

    /// The answers to a list of times, in file order, each found when it is asked for.
    public struct Frames: AsyncSequence, Sendable {
        /// One answer for each time.
        public typealias Element = GeneratedFrame
        /// `.cancelled` only: other errors are answers.
        public typealias Failure = ReadingError
        let generator: FrameGenerator
        let times: [MediaTime]

        /// Begins with the earliest time.
        public func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(generator: generator, times: times, order: FrameGenerator.order(times)[...])
        }

        /// Asks for one frame after the other.
        public struct AsyncIterator: AsyncIteratorProtocol {
            let generator: FrameGenerator
            let times: [MediaTime]
            var order: ArraySlice<Int>

            /// The next answer; nil after the last time.
            public mutating func next() async throws(ReadingError) -> GeneratedFrame? {
                guard let index = order.popFirst() else { return nil }
                let (generator, times) = (generator, times)
                return try await generator.queue.run { () throws(ReadingError) in
                    try generator.answer(times, index)
                } onCancel: {
                    generator.cancel()
                }
            }
        }
    }
}
