public import Dispatch
public import Media
package import SurfacePool

/// Gives a camera's frames to a program: by a handler on a queue of the program's, or to a thread that asks.
///
/// The Linux counterpart of `AVCaptureVideoDataOutput`. Every frame that the driver counts is delivered or reported, once and in order.
///
/// Thread-safety: all of it.
public final class VideoDataOutput: Sendable {
    /// How many frames the program may hold at the same time, besides one that waits for it. A program that holds more loses the frames that
    /// follow (`outOfBuffers`); the session goes on.
    public let heldFrames: Int
    private let port: DeliveryPort<DeliveryState<SharedFrame>>

    /// An output that calls a handler.
    ///
    /// - Parameters:
    ///   - queue: Where the handler runs. A serial one keeps the order.
    ///   - heldFrames: At least 1, the one that the handler looks at.
    ///   - discardsLateFrames: Whether a frame that still waits when the next one comes is dropped, so that the program always gets the newest.
    ///     Otherwise frames wait as long as there are buffers.
    ///   - onDelivery: Called for one delivery after the other.
    public init(
        on queue: DispatchQueue, heldFrames: Int = 1, discardsLateFrames: Bool = true, onDelivery: @escaping @Sendable (CaptureDelivery) -> Void
    ) {
        precondition(heldFrames >= 1, "a handler holds the frame that it gets")
        self.heldFrames = heldFrames
        port = DeliveryPort(DeliveryState(discardsLate: discardsLateFrames), handler: .init(queue: queue) { onDelivery(Self.delivery($0)) })
    }

    /// An output that a thread asks with `next`.
    public init(heldFrames: Int = 1, discardsLateFrames: Bool = true) {
        precondition(heldFrames >= 1, "a reader holds the frame that it gets")
        self.heldFrames = heldFrames
        port = DeliveryPort(DeliveryState(discardsLate: discardsLateFrames))
    }

    /// Whether a frame that still waits when the next one comes is dropped. May change at any time.
    public var discardsLateFrames: Bool {
        get { port.withLock { $0.discardsLate } }
        set { port.withLock { $0.discardsLate = newValue } }
    }

    /// Whether frames come through the connection from the session to this output; true at first. May change at any time, and changes nothing for
    /// the other outputs. Frames that wait when it is switched off, and those that come meanwhile, are dropped as `switchedOff`; the report of the
    /// latter comes when it is switched on again, or with the end.
    public var isEnabled: Bool {
        get { port.withLock { $0.isEnabled } }
        set {
            let dropped = port.change { $0.enable(newValue) }
            // End here, unlocked.
            _ = dropped
        }
    }

    /// What has become of the frames since the session's last start.
    public var statistics: CaptureStatistics { port.withLock { $0.statistics } }

    /// The next delivery of an output without a handler; waits for it until `deadline` (CLOCK_MONOTONIC; nil: for ever), then nil. After the end it
    /// returns the end at once.
    public func next(until deadline: HostTime? = nil) -> CaptureDelivery? { port.next(until: deadline).map(Self.delivery) }

    // MARK: The session's side

    /// The session's last start begins now: the counters stand at 0.
    package func begin() { port.withLock { $0.begin() } }

    package func add(_ frame: SharedFrame, number: UInt64, time: HostTime) {
        let late = port.change { $0.add(frame, number: number, time: time) }
        // Ends here, unlocked.
        _ = late
    }

    package func noteRepeat() { port.withLock { $0.noteRepeat() } }

    package func add(_ drop: CaptureDrop) { port.change { $0.add(drop) } }

    package func finish(_ error: CaptureError?) { port.change { $0.finish(error) } }

    private static func delivery(_ item: DeliveryState<SharedFrame>.Item) -> CaptureDelivery {
        switch item {
        case .frame(let frame, _, _): .frame(frame)
        case .drop(let drop): .dropped(drop)
        case .end(let error): .ended(error)
        }
    }
}
