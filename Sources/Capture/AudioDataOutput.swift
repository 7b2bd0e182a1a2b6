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
    private let port: DeliveryPort<SoundDeliveryState>

    /// An output that calls a handler.
    ///
    /// - Parameters:
    ///   - queue: Where the handler runs. A serial one keeps the order.
    ///   - heldDuration: How much sound may wait.
    ///   - onDelivery: Called for one delivery after the other.
    public init(on queue: DispatchQueue, heldDuration: HostSpan = .seconds(10), onDelivery: @escaping @Sendable (AudioCaptureDelivery) -> Void) {
        self.heldDuration = heldDuration
        port = DeliveryPort(SoundDeliveryState(), handler: .init(queue: queue, body: onDelivery))
    }

    /// An output that a thread asks with `next`.
    public init(heldDuration: HostSpan = .seconds(10)) {
        self.heldDuration = heldDuration
        port = DeliveryPort(SoundDeliveryState())
    }

    /// Whether sound comes through the connection from the session to this output; true at first. May change at any time, and changes nothing for the
    /// other outputs. Sound that waits when it is switched off, and what comes meanwhile, is lost as `switchedOff`; the report of the latter comes
    /// when it is switched on again, or with the end.
    public var isEnabled: Bool {
        get { port.withLock { $0.isEnabled } }
        set { port.change { $0.enable(newValue) } }
    }

    /// What has become of the sound since the session's last start.
    public var statistics: AudioCaptureStatistics { port.withLock { $0.statistics } }

    /// The next delivery of an output without a handler; waits for it until `deadline` (CLOCK_MONOTONIC; nil: for ever), then nil. After the end it
    /// returns the end at once.
    public func next(until deadline: HostTime? = nil) -> AudioCaptureDelivery? { port.next(until: deadline) }

    // MARK: The session's side

    /// The session's last start begins now: the counters stand at 0.
    package func begin(rate: Int) { port.withLock { $0.begin(room: Int(heldDuration.seconds * Double(rate))) } }

    package func add(_ block: AudioCaptureBlock) { port.change { $0.add(block) } }

    package func add(_ loss: AudioCaptureLoss) { port.change { $0.add(loss) } }

    package func finish(_ error: CaptureError?) { port.change { $0.finish(error) } }
}
