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
        /// The camera was unplugged, or has failed. `start` tries again.
        case failed(CaptureError)
    }

    /// The camera.
    public let device: CaptureDevice
    /// Who gets the frames.
    public let outputs: [VideoDataOutput]
    /// Counts the bytes that are copied, if any are.
    public let counters = FrameStatistics()
    private let request: CaptureRequest
    private let allocator: (any SurfaceAllocator)?
    private let extraFrames: Int
    private let only: BufferPath?
    private let onStateChange: @Sendable (State) -> Void
    private let guarded = Monitor(Guarded())

    private struct Guarded: Sendable {
        var state = State.idle
        var thread: LoopThread?
        var bell: EventFD?
        var node: CameraNode?
        var path: BufferPath?
        var format: ActiveFormat?
        var obstacles: [String] = []
        var isStopping = false
        /// A `start` or `stop` is under way.
        var isBusy = false
    }

    /// Makes a session that does not run.
    ///
    /// - Parameters:
    ///   - request: What to ask of the camera.
    ///   - outputs: Who gets the frames. The camera gets as many buffers as they declare to hold, and a few of its own.
    ///   - allocator: The memory of the frames, such as `DisplaySink.preferredAllocator`; nil: the machine's best.
    ///   - extraFrames: Frames that are held behind the outputs, by displays and exporters.
    ///   - only: The only way to take for the pixels; nil: the first that works.
    ///   - onStateChange: Called on the `camera` thread, or in `start` and `stop`, with no lock held. It must not call either of
    ///     these.
    public init(
        device: CaptureDevice, request: CaptureRequest = CaptureRequest(), outputs: [VideoDataOutput], allocator: (any SurfaceAllocator)? = nil,
        extraFrames: Int = 0, only: BufferPath? = nil, onStateChange: @escaping @Sendable (State) -> Void = { _ in }
    ) {
        self.device = device
        self.request = request
        self.outputs = outputs
        self.allocator = allocator
        self.extraFrames = extraFrames
        self.only = only
        self.onStateChange = onStateChange
    }

    deinit { stop() }

    /// What it does now.
    public var state: State { guarded.withLock { $0.state } }

    /// What it delivers, or delivered last; nil before the first start.
    public var lastFormat: ActiveFormat? { guarded.withLock { $0.format } }
    /// How the pixels come into surfaces; nil before the first start.
    public var bufferPath: BufferPath? { guarded.withLock { $0.path } }
    /// Why better ways were not taken, a sentence each.
    public var pathObstacles: [String] { guarded.withLock { $0.obstacles } }

    /// Starts the camera. Does nothing to a session that runs.
    /// - Throws: `CaptureError` when the camera is gone, busy or refused, or has no format that fits the request.
    public func start() throws(CaptureError) {
        guard begin() else { return }
        defer { guarded.change { $0.isBusy = false } }
        // Of a camera that failed.
        guarded.withLock { $0.thread.take() }?.join()
        let bell: EventFD
        do throws(SystemError) { bell = try EventFD() } catch { throw CaptureError(.system, "\(device.path): \(error).") }
        let frames = outputs.reduce(extraFrames) { $0 + $1.heldFrames + 1 }
        let node = try CameraNode(device.path)
        let stream = try CaptureStream(
            node, request, frames: frames, allocator: allocator ?? SurfaceAllocators.best(), only: only, counters: counters, bell: bell)
        for output in outputs { output.begin() }
        let format = stream.format
        guarded.withLock { guarded in
            guarded.state = .running(format)
            guarded.node = node
            guarded.path = stream.path
            guarded.format = format
            guarded.obstacles = stream.obstacles
            guarded.bell = bell
            guarded.isStopping = false
        }
        onStateChange(.running(format))
        let run = Run(stream: stream, bell: bell, outputs: outputs)
        // Without the session, which may end meanwhile, but not on its own thread.
        let thread = LoopThread(name: "camera") { [guarded, onStateChange] in
            guard let error = run.run({ guarded.withLock { $0.isStopping } }) else { return run.finish(nil) }
            // Before the outputs say it, so that who hears of the end can start again.
            guarded.change { guarded in
                guarded.state = .failed(error)
                guarded.node = nil
            }
            run.finish(error)
            onStateChange(.failed(error))
        }
        guarded.withLock { $0.thread = thread }
    }

    /// Waits for another `start` or `stop`; false when the session runs already.
    private func begin() -> Bool {
        guarded.wait { guarded -> Bool? in
            if guarded.isBusy { return nil }
            if case .running = guarded.state { return false }
            guarded.isBusy = true
            return true
        } ?? false
    }

    /// Stops the camera and waits for its thread. Outputs get `ended` after the frames that they have. Frames that programs hold stay as they are.
    public func stop() {
        let _: Void? = guarded.wait { guarded in
            if guarded.isBusy { return nil }
            guarded.isBusy = true
            return ()
        }
        let (thread, bell) = guarded.withLock { guarded in
            guarded.isStopping = true
            defer { guarded.thread = nil }
            return (guarded.thread, guarded.bell)
        }
        bell?.signal()
        thread?.join()
        let hasChanged = guarded.change { guarded in
            defer { guarded.state = .idle }
            guarded.isBusy = false
            guarded.node = nil
            guarded.bell = nil
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

/// What the `camera` thread does. It owns the stream.
private final class Run: @unchecked Sendable {
    private let stream: CaptureStream
    private let bell: EventFD
    private let outputs: [VideoDataOutput]

    init(stream: CaptureStream, bell: EventFD, outputs: [VideoDataOutput]) {
        self.stream = stream
        self.bell = bell
        self.outputs = outputs
    }

    /// Gives frames to the outputs until told to stop (nil) or until the camera fails. Ends the stream.
    func run(_ isStopping: () -> Bool) -> CaptureError? {
        var failure: CaptureError?
        do throws(CaptureError) {
            while !isStopping() { pass(try stream.wait(bell)) }
        } catch { failure = error }
        stream.end()
        return failure
    }

    /// Tells the outputs that no frame follows.
    func finish(_ error: CaptureError?) { for output in outputs { output.finish(error) } }

    private func pass(_ outcome: consuming CaptureStream.Outcome) {
        switch consume outcome {
        case .nothing: return
        case .lost(let reason, let receipt, let time):
            report(receipt)
            let drop = CaptureDrop(reason, first: receipt.number, time: time)
            for output in outputs { output.add(drop) }
        case .frame(let frame, let receipt, let time):
            report(receipt)
            let number = receipt.number
            let shared = SharedFrame(frame)
            for output in outputs { output.add(shared, number: number, time: time) }
        }
    }

    private func report(_ receipt: SequenceState.Receipt) {
        guard let missing = receipt.missing else { return }
        for output in outputs { output.add(missing) }
    }
}
