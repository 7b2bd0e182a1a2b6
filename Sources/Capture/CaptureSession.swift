public import Media
public import SurfacePool

/// Runs a camera and gives its frames to outputs.
///
/// The Linux counterpart of `AVCaptureSession`:
///
///     let output = VideoDataOutput(on: queue) { delivery in if case .frame(let frame) = delivery { look(at: frame) } }
///     let session = CaptureSession(device: try CaptureDevice.find(nil), outputs: [output])
///     try session.start()
///
/// Frames lie in DMA-BUFs, which displays, exporters and renderers read in place; see `BufferPath`. The camera runs on a thread of its own,
/// `camera`, which no handler can hold up.
///
/// Thread-safety: all of it. `start` and `stop` wait for the device.
public final class CaptureSession: Sendable {
    /// What a session does.
    public enum State: Sendable, Hashable {
        /// It has not been started, or has been stopped.
        case idle
        /// Frames come.
        case running(ActiveFormat)
        /// The camera was unplugged, as the error says, and the session waits for its return.
        case interrupted(CaptureError)
        /// The camera was unplugged, or has failed. `start` tries again.
        case failed(CaptureError)
    }

    /// The camera. One that has been unplugged may return under another path.
    public var device: CaptureDevice { guarded.withLock { $0.device } }
    /// Who gets the frames.
    public var outputs: [VideoDataOutput] { guarded.withLock { $0.outputs } }
    /// Counts the bytes that are copied, if any are.
    public let counters = FrameStatistics()
    private let allocator: (any SurfaceAllocator)?
    private let extraFrames: Int
    private let only: BufferPath?
    private let reconnects: Bool
    private let onStateChange: @Sendable (State) -> Void
    let guarded: Monitor<Guarded>

    /// The master clock of all sessions, CLOCK_MONOTONIC, to which the times of frames and of sound are converted, and which displays and sound cards
    /// are measured by too.
    public static let clock: any HostClock = MonotonicClock.shared

    /// What several threads know of a session.
    struct Guarded: SessionGuarded {
        var device: CaptureDevice
        /// What was asked of the device.
        var request: CaptureRequest
        var outputs: [VideoDataOutput]
        /// A change that the `camera` thread is to carry out.
        var order: CaptureOrder?
        /// What became of it.
        var answer: Result<Void, CaptureError>?
        var state = State.idle
        var node: CameraNode?
        var path: BufferPath?
        var format: ActiveFormat?
        var obstacles: [String] = []
        var interruptions = 0
        var drift: Double?
        var run = SessionThread()

        /// What the session has, with the format, the size and the rate that the camera runs at.
        var asItRan: Configuration {
            var configuration = Configuration(device: device, request: request, outputs: outputs)
            if let format {
                configuration.request = CaptureRequest(code: format.code, size: format.size, rate: format.rate.isKnown ? format.rate : nil)
            }
            return configuration
        }

        mutating func runs(_ stream: CaptureStream, on device: CaptureDevice) {
            self.device = device
            state = .running(stream.format)
            node = stream.node
            path = stream.path
            format = stream.format
            obstacles = stream.obstacles
        }
    }

    /// Makes a session that does not run.
    ///
    /// - Parameters:
    ///   - request: What to ask of the camera.
    ///   - outputs: Who gets the frames. The camera gets as many buffers as they declare to hold, and a few of its own.
    ///   - allocator: The memory of the frames, such as `DisplaySink.preferredAllocator`; nil: the machine's best.
    ///   - extraFrames: Frames that are held behind the outputs, by displays and exporters.
    ///   - only: The only way to take for the pixels; nil: the first that works.
    ///   - reconnects: Whether the session waits for a camera that is unplugged while it runs, and then goes on as it ran: the same camera (by its
    ///     serial number; without one, by its name and port), with the same format, size and rate. Frames are numbered on, and the first one
    ///     follows a `discontinuity` of 0 frames. Otherwise an unplugged camera ends the session.
    ///   - onStateChange: Called on the `camera` thread, or in `start` and `stop`, with no lock held. It must not call either of
    ///     these.
    public init(
        device: CaptureDevice, request: CaptureRequest = CaptureRequest(), outputs: [VideoDataOutput], allocator: (any SurfaceAllocator)? = nil,
        extraFrames: Int = 0, only: BufferPath? = nil, reconnects: Bool = false, onStateChange: @escaping @Sendable (State) -> Void = { _ in }
    ) {
        guarded = Monitor(Guarded(device: device, request: request, outputs: outputs))
        self.allocator = allocator
        self.extraFrames = extraFrames
        self.only = only
        self.reconnects = reconnects
        self.onStateChange = onStateChange
    }

    deinit { stop() }

    /// What it does now.
    public var state: State { guarded.withLock { $0.state } }

    /// What it delivers, or delivered last; nil before the first start.
    public var lastFormat: ActiveFormat? { guarded.withLock { $0.format } }
    /// How the pixels come into surfaces; nil before the first start.
    public var bufferPath: BufferPath? { guarded.withLock { $0.path } }
    /// How much faster than its stated rate the camera makes frames, as measured so far on `clock`: 50e-6 makes one frame more in 20000. Nil before
    /// two seconds have been measured, after a change of the rate too, and for a camera that states none.
    public var drift: Double? { guarded.withLock { $0.drift } }
    /// How often the camera was unplugged and waited for since the last start.
    public var interruptions: Int { guarded.withLock { $0.interruptions } }
    /// Why better ways were not taken, a sentence each.
    public var pathObstacles: [String] { guarded.withLock { $0.obstacles } }

    /// Starts the camera. Does nothing to a session that runs, or waits for its camera.
    /// - Throws: `CaptureError` when the camera is gone, busy or refused, or has no format that fits the request.
    public func start() throws(CaptureError) {
        guard begin() else { return }
        defer { guarded.change { $0.run.isBusy = false } }
        // Of a camera that failed.
        guarded.withLock { $0.run.thread.take() }?.join()
        let bell: EventFD
        do throws(SystemError) { bell = try EventFD() } catch { throw CaptureError(.system, "\(device.path): \(error).") }
        let opening = opening(bell), configuration = configuration
        let stream = try opening.stream(configuration, number: 0)
        for output in configuration.outputs { output.begin() }
        guarded.withLock { guarded in
            guarded.runs(stream, on: configuration.device)
            guarded.interruptions = 0
            guarded.drift = nil
            guarded.run.bell = bell
            guarded.run.isStopping = false
        }
        onStateChange(.running(stream.format))
        let run = CaptureRun(stream: stream, opening, configuration, guarded, onStateChange)
        // Without the session, which may end meanwhile, but not on its own thread.
        let thread = LoopThread(name: "camera", isPrompt: true) { [guarded, onStateChange, reconnects] in
            while case .failed(let error) = run.run({ guarded.withLock { $0.run.isStopping } }) {
                var end = error
                if reconnects, error.code == .unplugged {
                    switch Self.waitForReturn(run, opening, error, guarded, onStateChange) {
                    case .returned: continue
                    case .stopped: return run.finish(nil)
                    case .failed(let error): end = error
                    }
                }
                // Before the outputs say it, so that who hears of the end can start again.
                guarded.change { guarded in
                    guarded.state = .failed(end)
                    guarded.node = nil
                }
                run.finish(end)
                return onStateChange(.failed(end))
            }
            run.finish(nil)
        }
        guarded.withLock { $0.run.thread = thread }
    }

    /// What streams of the session's cameras are made with.
    func opening(_ bell: EventFD) -> StreamOpening {
        StreamOpening(allocator: allocator ?? SurfaceAllocators.best(), only: only, extraFrames: extraFrames, counters: counters, bell: bell)
    }

    /// On the `camera` thread, after the camera was unplugged: waits until it is back, and lets `run` go on with it.
    private static func waitForReturn(
        _ run: CaptureRun, _ opening: StreamOpening, _ error: CaptureError, _ guarded: Monitor<Guarded>, _ onStateChange: (State) -> Void
    ) -> CameraReturnWait.Outcome {
        // As it ran: an encoder or a client has begun with this format.
        let lost = guarded.change { guarded in
            guarded.state = .interrupted(error)
            guarded.interruptions += 1
            guarded.node = nil
            return guarded.asItRan
        }
        onStateChange(.interrupted(error))
        let wait = CameraReturnWait(lost: lost.device, bell: run.bell) { device throws(CaptureError) in
            var configuration = lost
            configuration.device = device
            return try opening.stream(configuration, number: run.next)
        }
        let outcome = wait.run { guarded.withLock { $0.run.isStopping } }
        if case .returned(let device, let stream) = outcome {
            guarded.change { $0.runs(stream, on: device) }
            run.follow(stream)
            onStateChange(.running(stream.format))
        }
        return outcome
    }

    /// Waits for another `start` or `stop`; false when the session runs already.
    private func begin() -> Bool {
        guarded.wait { guarded -> Bool? in
            if guarded.run.isBusy { return nil }
            switch guarded.state {
            case .running, .interrupted: return false
            case .idle, .failed: break
            }
            guarded.run.isBusy = true
            return true
        } ?? false
    }

    /// Stops the camera and waits for its thread. Outputs get `ended` after the frames that they have. Frames that programs hold stay as they are.
    public func stop() {
        let hasChanged = guarded.stop { guarded in
            defer { guarded.state = .idle }
            guarded.node = nil
            return guarded.state != .idle
        }
        if hasChanged { onStateChange(.idle) }
    }

    /// Changes the rate while the camera runs, without stopping it where the driver allows that.
    /// - Returns: Frames a second as the driver has set them.
    /// - Throws: `.failed` when the session does not run, or the driver refuses.
    @discardableResult public func setRate(_ rate: Ratio) throws(CaptureError) -> Ratio {
        guard let node = guarded.withLock({ $0.node }) else { throw CaptureError(.failed, "\(device.path): the camera does not run.") }
        let actual = try ActiveFormat.changeRate(rate, on: node)
        guarded.withLock { guarded in
            guard case .running(var format) = guarded.state else { return }
            format.rate = actual
            guarded.state = .running(format)
            guarded.format = format
        }
        return actual
    }
}
