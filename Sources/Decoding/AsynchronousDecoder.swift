public import Media
public import SampleQueue
internal import SurfacePool

/// Gives a decoding session a thread of its own: `decode` hands a sample over and returns, and the answers come on that thread.
///
///     let decoder = AsynchronousDecoder(try DecompressionSession(format: track.format)) { answer in … }
///     while let sample = try reader.nextSample() { try decoder.decode(sample) }
///     decoder.waitForAsynchronousFrames()
///
/// The counterpart of Video Toolbox's asynchronous decompression. At most `capacity` samples wait for the decoder. When so many wait, because
/// the decoder is slower or waits for consumers to give a surface back, `decode` waits too. (`DisplayQueue` does not need this class: samples
/// wait in its `SampleQueue`, and its own thread `decode` calls the session.)
///
/// Every sample that `decode` takes gets its one answer as `DecodeOutput` says, in the order in which the calls were made.
///
/// Thread-safety: all members may be called from any thread; calls from several threads at once are carried out in some order. The handler is
/// called on one thread, named `decode`, without a lock held. It may wait, which holds the decoder back, and it may call `invalidate`. It must
/// not call the other members, which could wait for it.
public final class AsynchronousDecoder: Sendable {
    private let core: Core
    private let thread: LoopThread

    /// Starts the thread.
    ///
    /// - Parameters:
    ///   - session: The session that decodes. It belongs to this decoder from now on: others may read its properties and call nothing else.
    ///   - capacity: Samples that may wait for the decoder, in addition to those that it holds itself (in its threads, for reordering).
    ///   - clock: The clock of `DecoderOptions.deadline`, which counts from the call of `decode`.
    ///   - onAnswer: Receives the answers.
    public init(
        _ session: any DecodingSession, capacity: Int = AsynchronousDecoder.usualCapacity, clock: any HostClock = MonotonicClock.shared,
        onAnswer: @escaping @Sendable (consuming DecodeOutput) -> Void
    ) {
        let core = Core(session: session, capacity: capacity, clock: clock, onAnswer: onAnswer)
        self.core = core
        thread = LoopThread(name: "decode") { core.run() }
    }

    /// As `invalidate`.
    deinit { invalidate() }

    /// 8: a third of a second of film, and enough for the decoder to find work whenever it has time.
    public static let usualCapacity = 8

    /// The session that decodes, for reading its properties (backend, statistics) only: its calls belong to this decoder's thread.
    public var session: any DecodingSession { core.session }

    /// Hands a sample over. Waits while `capacity` samples wait. A sample that is not compressed video is not taken and gets no answer.
    /// - Throws: `.invalidated`; `.decoderLost` when the decoder was lost before and there has been no flush since. The sample has then not been
    ///   taken.
    public func decode(_ sample: SampleBuffer, _ instructions: DecodeInstructions = DecodeInstructions()) throws(DecodingError) {
        guard case .compressed(_, .video) = sample.content else { return }
        var instructions = instructions
        if instructions.deadline == nil, let span = core.session.options.deadline { instructions.deadline = core.clock.now() + span }
        try core.put(.sample(sample, instructions))
    }

    /// Has everything put out that the decoder holds back, once it has come to it; returns at once. `DecompressionSession.finishDelayedFrames`
    /// says which samples may follow.
    public func finishDelayedFrames() { try? core.put(.drain) }

    /// Returns when every sample handed over before has had its answer; implies `finishDelayedFrames`.
    public func waitForAsynchronousFrames() {
        precondition(!thread.isCurrent, "the receiver of answers cannot wait for them")
        finishDelayedFrames()
        core.settle()
    }

    /// Forgets every sample handed over before: those without an answer are answered with `.dropped` as `.flushed` before this returns. A decoder
    /// that waits for memory gives up. A decoder that was lost gets another chance.
    public func flush() {
        precondition(!thread.isCurrent, "the receiver of answers cannot wait for a flush")
        core.flush()
    }

    /// Ends the session and the thread. Samples without an answer get none; an answer that is being received on another thread is waited for.
    /// Frames handed out stay valid. Idempotent.
    public func invalidate() {
        core.close()
        if !thread.isCurrent { thread.join() }
    }

    /// Samples that wait for the decoder.
    public var waitingCount: Int { core.waitingCount }

    // MARK: The thread

    private enum Work: Sendable {
        case sample(SampleBuffer, DecodeInstructions)
        case drain
        /// Everything before it is void.
        case flush([SampleBuffer])
    }

    /// What the thread keeps alive.
    private final class Core: Sendable {
        let session: any DecodingSession
        let clock: any HostClock
        private let onAnswer: @Sendable (consuming DecodeOutput) -> Void
        private let state: Monitor<State>

        private struct State: ~Copyable, Sendable {
            var waiting: Ring<Work>
            var isClosed = false
            /// Calls so far, and those carried out.
            var put: UInt64 = 0
            var done: UInt64 = 0
            /// Until a flush.
            var loss: DecodingError?
            var flushesAsked: UInt64 = 0
            var flushesDone: UInt64 = 0
        }

        init(
            session: any DecodingSession, capacity: Int, clock: any HostClock, onAnswer: @escaping @Sendable (consuming DecodeOutput) -> Void
        ) {
            self.session = session
            self.clock = clock
            self.onAnswer = onAnswer
            state = Monitor(State(waiting: Ring(capacity: capacity)))
        }

        var waitingCount: Int { state.withLock { $0.waiting.count } }

        func put(_ work: Work) throws(DecodingError) {
            let error = state.wait { state -> DecodingError?? in
                if state.isClosed { return .some(DecodingError(.invalidated, "the decoding session has been invalidated")) }
                if let loss = state.loss { return .some(loss) }
                if state.waiting.isFull { return nil }
                state.waiting.append(work)
                state.put += 1
                return .some(nil)
            }
            if let error = error ?? nil { throw error }
            // There is work now; `wait` wakes nobody.
            state.change { _ in }
        }

        func settle() {
            let goal = state.withLock { $0.put }
            state.wait { $0.done >= goal || $0.isClosed ? () : nil }
        }

        func flush() {
            // In this order: each interruption has to be followed by a flush.
            session.interrupt()
            let number = state.change { state in
                state.flushesAsked += 1
                return state.flushesAsked
            }
            state.wait { $0.flushesDone >= number || $0.isClosed ? () : nil }
        }

        func close() {
            state.change { $0.isClosed = true }
            session.invalidate()
        }

        func run() {
            while let (work, flushes) = next() {
                switch work {
                case .sample(let sample, let instructions): decode(sample, instructions)
                case .drain: session.finishDelayedFrames { onAnswer($0) }
                case .flush(let samples):
                    session.flush { onAnswer($0) }
                    for sample in samples { drop(sample, .flushed) }
                }
                state.change { state in
                    if case .flush = work {
                        state.flushesDone = max(state.flushesDone, flushes)
                        state.loss = nil
                    } else {
                        state.done += 1
                    }
                }
            }
        }

        /// What to do next, and how many flushes had been asked for then; nil at the end.
        private func next() -> (Work, UInt64)? {
            let found = state.wait { state -> (Work, UInt64)?? in
                if state.isClosed { return .some(nil) }
                if state.flushesAsked > state.flushesDone {
                    var void: [SampleBuffer] = []
                    while let work = state.waiting.popFirst() {
                        state.done += 1
                        if case .sample(let sample, _) = work { void.append(sample) }
                    }
                    return (.flush(void), state.flushesAsked)
                }
                return state.waiting.popFirst().map { ($0, state.flushesAsked) }
            }
            // There is room now; `wait` wakes nobody.
            state.change { _ in }
            return found ?? nil
        }

        private func decode(_ sample: SampleBuffer, _ instructions: DecodeInstructions) {
            do throws(DecodingError) {
                try session.decode(sample, instructions) { onAnswer($0) }
            } catch {
                guard error.code == .decoderLost else { return }
                state.withLock { $0.loss = error }
                drop(sample, .decodeError)
            }
        }

        private func drop(_ sample: SampleBuffer, _ reason: DropReason) {
            // Only an invalidated session takes none.
            try? session.drop(sample, reason) { onAnswer($0) }
        }
    }
}
