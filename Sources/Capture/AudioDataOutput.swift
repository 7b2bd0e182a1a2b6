public import Dispatch
public import Media

/// Gives a microphone's sound to a program: by a handler on a queue of the program's, or to a thread that asks.
///
/// The Linux counterpart of `AVCaptureAudioDataOutput`. Every frame of sound is delivered or reported, once and in order.
///
/// Thread-safety: all of it.
public final class AudioDataOutput: Sendable {
    /// How much sound may wait for the program; beyond it the oldest is lost (`late`).
    public let heldDuration: HostSpan
    private let state = Monitor(SoundDeliveryState())
    private let handler: (queue: DispatchQueue, body: @Sendable (AudioCaptureDelivery) -> Void)?

    /// An output that calls a handler.
    ///
    /// - Parameters:
    ///   - queue: Where the handler runs. A serial one keeps the order.
    ///   - heldDuration: How much sound may wait.
    ///   - onDelivery: Called for one delivery after the other.
    public init(on queue: DispatchQueue, heldDuration: HostSpan = .seconds(10), onDelivery: @escaping @Sendable (AudioCaptureDelivery) -> Void) {
        self.heldDuration = heldDuration
        handler = (queue, onDelivery)
    }

    /// An output that a thread asks with `next`.
    public init(heldDuration: HostSpan = .seconds(10)) {
        self.heldDuration = heldDuration
        handler = nil
    }

    /// What has become of the sound since the session's last start.
    public var statistics: AudioCaptureStatistics { state.withLock { $0.statistics } }

    /// The next delivery of an output without a handler; waits for it until `deadline` (CLOCK_MONOTONIC; nil: for ever), then nil. After the end it
    /// returns the end at once.
    public func next(until deadline: HostTime? = nil) -> AudioCaptureDelivery? {
        precondition(handler == nil, "an output with a handler is not asked")
        return state.wait(until: deadline) { $0.pull() }
    }

    // MARK: The session's side

    func begin(rate: Int) { state.change { $0.begin(room: Int(heldDuration.seconds * Double(rate))) } }

    func add(_ block: AudioCaptureBlock) {
        state.change { $0.add(block) }
        schedule()
    }

    func add(_ loss: AudioCaptureLoss) {
        state.change { $0.add(loss) }
        schedule()
    }

    func finish(_ error: CaptureError?) {
        state.change { $0.finish(error) }
        schedule()
    }

    private func schedule() {
        guard let handler, state.withLock({ $0.schedule() }) else { return }
        handler.queue.async { [state] in
            while let item = state.withLock({ $0.take() }) { handler.body(item) }
        }
    }
}
