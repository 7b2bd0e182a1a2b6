public import Dispatch
public import Media
internal import SurfacePool

/// Gives a camera's frames to a program: by a handler on a queue of the program's, or to a thread that asks.
///
/// The Linux counterpart of `AVCaptureVideoDataOutput`. Every frame that the driver counts is delivered or reported, once and in order.
///
/// Thread-safety: all of it.
public final class VideoDataOutput: Sendable {
    /// How many frames the program may hold at the same time, besides one that waits for it. A program that holds more loses the frames that
    /// follow (`outOfBuffers`); the session goes on.
    public let heldFrames: Int
    private let state: Monitor<DeliveryState<SharedFrame>>
    private let handler: (queue: DispatchQueue, body: @Sendable (CaptureDelivery) -> Void)?

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
        state = Monitor(DeliveryState(discardsLate: discardsLateFrames))
        handler = (queue, onDelivery)
    }

    /// An output that a thread asks with `next`.
    public init(heldFrames: Int = 1, discardsLateFrames: Bool = true) {
        precondition(heldFrames >= 1, "a reader holds the frame that it gets")
        self.heldFrames = heldFrames
        state = Monitor(DeliveryState(discardsLate: discardsLateFrames))
        handler = nil
    }

    /// Whether a frame that still waits when the next one comes is dropped. May change at any time.
    public var discardsLateFrames: Bool {
        get { state.withLock { $0.discardsLate } }
        set { state.withLock { $0.discardsLate = newValue } }
    }

    /// What has become of the frames since the session's last start.
    public var statistics: CaptureStatistics { state.withLock { $0.statistics } }

    /// The next delivery of an output without a handler; waits for it until `deadline` (CLOCK_MONOTONIC; nil: for ever), then nil. After the end it
    /// returns the end at once.
    public func next(until deadline: HostTime? = nil) -> CaptureDelivery? {
        precondition(handler == nil, "an output with a handler is not asked")
        return state.wait(until: deadline) { $0.pull() }.map(Self.delivery)
    }

    // MARK: The session's side

    func begin() { state.change { $0.begin() } }

    func add(_ frame: SharedFrame, number: UInt64, time: HostTime) {
        let late = state.change { $0.add(frame, number: number, time: time) }
        // Ends here, unlocked.
        _ = late
        schedule()
    }

    func add(_ drop: CaptureDrop) {
        state.change { $0.add(drop) }
        schedule()
    }

    func finish(_ error: CaptureError?) {
        state.change { $0.finish(error) }
        schedule()
    }

    private func schedule() {
        guard let handler, state.withLock({ $0.schedule() }) else { return }
        handler.queue.async { [state] in
            while let item = state.withLock({ $0.take() }) { handler.body(Self.delivery(item)) }
        }
    }

    private static func delivery(_ item: DeliveryState<SharedFrame>.Item) -> CaptureDelivery {
        switch item {
        case .frame(let frame, _, _): .frame(frame)
        case .drop(let drop): .dropped(drop)
        case .end(let error): .ended(error)
        }
    }
}
