public import Dispatch
public import Media

/// A bounded queue of compressed samples between a source and a decoder. It calls the source when it is ready for more.
///
/// The counterpart of `AVQueuedSampleBufferRendering`. Two ways to feed it. A source with a rhythm of its own (a camera, a network
/// stream) just enqueues. A source that could deliver a whole film at once asks to be called:
///
///     queue.requestSamples(whenReadyOn: readers) {
///         while queue.isReadyForMoreSamples { queue.enqueue(nextSample()) }
///     }
///
/// Samples come out in the order they went in, markers in their place.
///
/// Thread-safety: all members may be called from any thread; one thread at a time dequeues.
public final class SampleQueue: Sendable {
    /// Where the queue stands: nothing came since the start or a flush, samples came, or its consumer has failed. See `error` for the reason.
    public enum Status: Sendable, Hashable { case unknown, rendering, failed }

    /// What the consumer gets.
    public enum Dequeued: Sendable {
        /// The next sample or marker, in the order of `enqueue`.
        case sample(SampleBuffer)
        /// Discard everything taken before; blank the display when `removeImage`.
        case flush(removeImage: Bool)
        /// Nothing came before the deadline, or `interrupt` was called.
        case none
    }

    private let state: Monitor<State>

    private struct State: Sendable {
        var samples: SampleQueueState
        var timebase: Timebase
        var request: Request?
        var nextRequest = 0
        var status = Status.unknown
        var error: String?
        var timebaseChanged: @Sendable (Timebase) -> Void = { _ in }
    }

    private struct Request: Sendable {
        let number: Int
        let queue: DispatchQueue
        let body: @Sendable () -> Void
        /// A call is on its way or running.
        var isCalling = false
    }

    /// Nanoseconds until a source that brought nothing is called again: no busy loop, and quick enough for a source that will have
    /// something soon.
    private static let patience = 5_000_000

    /// - Parameters:
    ///   - watermarks: when to ask for more.
    ///   - controlTimebase: the time of the film; by default one on the machine's monotonic clock, standing at 0.
    public init(watermarks: Watermarks = Watermarks(), controlTimebase: Timebase = Timebase()) {
        state = Monitor(State(samples: SampleQueueState(watermarks: watermarks), timebase: controlTimebase))
    }

    // MARK: The producer's side

    /// Puts a sample at the end, even when the queue is not ready for more.
    public func enqueue(_ sample: SampleBuffer) {
        state.change { state in
            state.samples.enqueue(sample)
            if state.status == .unknown { state.status = .rendering }
        }
    }

    /// Puts several samples at the end, in their order and with no other between them.
    public func enqueue(contentsOf samples: [SampleBuffer]) {
        guard !samples.isEmpty else { return }
        state.change { state in
            for sample in samples { state.samples.enqueue(sample) }
            if state.status == .unknown { state.status = .rendering }
        }
    }

    /// Whether the queue wants more samples: true until a high watermark is reached, then false until the queue is below both low ones. Also
    /// false after an end-of-stream marker.
    public var isReadyForMoreSamples: Bool { state.withLock { $0.samples.isReadyForMoreSamples } }

    /// Calls `body` on `queue` whenever the queue is ready for more, again and again, until `stopRequestingSamples`. One call at a
    /// time; a second request replaces the first. The queue keeps `body`, and what it captures, until then.
    public func requestSamples(whenReadyOn queue: DispatchQueue, using body: @escaping @Sendable () -> Void) {
        state.withLock { state in
            state.nextRequest += 1
            state.request = Request(number: state.nextRequest, queue: queue, body: body)
        }
        callProducer()
    }

    /// Begins no further call. A call under way ends by itself.
    public func stopRequestingSamples() { state.withLock { $0.request = nil } }

    /// Forgets every sample. The frame on the display stays.
    public func flush() { flush(removeImage: false) }

    /// Forgets every sample and blanks the display.
    public func flushAndRemoveImage() { flush(removeImage: true) }

    private func flush(removeImage: Bool) {
        state.change { state in
            state.samples.flush(removeImage: removeImage)
            state.status = .unknown
            state.error = nil
        }
        callProducer()
    }

    /// The time that decides when samples are shown; replaceable at any moment.
    public var controlTimebase: Timebase {
        get { state.withLock { $0.timebase } }
        set {
            let tell = state.withLock { state in
                state.timebase = newValue
                return state.timebaseChanged
            }
            tell(newValue)
        }
    }

    /// Calls `body` with each new control timebase, on the thread that sets it. The consumer's display follows it.
    package func onTimebaseChange(_ body: @escaping @Sendable (Timebase) -> Void) { state.withLock { $0.timebaseChanged = body } }

    /// `.rendering` from the first sample on, `.failed` after `fail`, `.unknown` before and after a flush.
    public var status: Status { state.withLock { $0.status } }
    /// Why `status` is failed, in one sentence.
    public var error: String? { state.withLock { $0.error } }
    /// Decoding has failed for good and goes on only after a flush, with a sync sample.
    public var requiresFlushToResumeDecoding: Bool { state.withLock { $0.status == .failed } }

    /// Compressed bytes that wait; frames and markers count 0.
    public var bufferedBytes: Int { state.withLock { $0.samples.bufferedBytes } }
    /// How much film waits.
    public var bufferedDuration: MediaTime { MediaTime(seconds: state.withLock { $0.samples.bufferedSeconds }) }
    /// Samples and markers that wait.
    public var count: Int { state.withLock { $0.samples.count } }

    // MARK: The consumer's side

    /// The next item, waiting for one until `deadline` (CLOCK_MONOTONIC; nil: for ever).
    public func dequeue(waitingUntil deadline: HostTime?) -> Dequeued {
        let (item, isReady) =
            state.wait(until: deadline) { state -> (Dequeued, Bool)? in
                if state.samples.takeInterrupt() { return (.none, false) }
                switch state.samples.dequeue() {
                case .sample(let sample): return (.sample(sample), state.request != nil && state.samples.isReadyForMoreSamples)
                case .flush(let removeImage): return (.flush(removeImage: removeImage), false)
                case nil: return nil
                }
            } ?? (.none, false)
        if isReady { callProducer() }
        return item
    }

    /// Makes the `dequeue` under way, or the next one, return `.none`.
    public func interrupt() { state.change { $0.samples.interrupt() } }

    /// Marks the queue as failed: the consumer cannot go on before a flush.
    public func fail(_ error: String) {
        state.withLock { state in
            state.status = .failed
            state.error = error
        }
    }

    // MARK: Calling the producer

    private func callProducer() {
        let request = state.withLock { state -> Request? in
            guard let request = state.request, !request.isCalling, state.samples.isReadyForMoreSamples else { return nil }
            state.request?.isCalling = true
            return request
        }
        guard let request else { return }
        request.queue.async { [self] in call(request) }
    }

    private func call(_ request: Request) {
        let before = state.withLock { state in state.request?.number == request.number ? state.samples.count : -1 }
        guard before >= 0 else { return }
        request.body()
        let broughtNothing = state.withLock { state in
            if state.request?.number == request.number { state.request?.isCalling = false }
            return state.samples.count <= before
        }
        if broughtNothing {
            request.queue.asyncAfter(deadline: .now() + .nanoseconds(Self.patience)) { [self] in callProducer() }
        } else {
            callProducer()
        }
    }
}
