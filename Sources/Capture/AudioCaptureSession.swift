internal import Media

/// Runs a microphone and gives its sound to outputs.
///
///     let output = AudioDataOutput(on: queue) { delivery in if case .block(let block) = delivery { listen(to: block.samples) } }
///     let session = AudioCaptureSession(device: try AudioCaptureDevice.find(nil), outputs: [output])
///     try session.start()
///
/// Each block has the time at which its first frame was captured, on the clock of a camera's frames. The microphone runs on a thread of its own,
/// `microphone`, which no handler can hold up.
///
/// Thread-safety: all of it. `start` and `stop` wait for the device.
public final class AudioCaptureSession: Sendable {
    /// What a session does.
    public enum State: Sendable, Hashable {
        /// It has not been started, or has been stopped.
        case idle
        /// Sound comes.
        case running(AudioCaptureFormat)
        /// The microphone was unplugged, or has failed. `start` tries again.
        case failed(CaptureError)
    }

    /// The microphone.
    public let device: AudioCaptureDevice
    /// Who gets the sound.
    public let outputs: [AudioDataOutput]
    private let request: AudioCaptureRequest
    private let guarded = Monitor(Guarded())

    private struct Guarded: SessionGuarded {
        var state = State.idle
        var format: AudioCaptureFormat?
        var drift = 0.0
        var run = SessionThread()
    }

    /// Makes a session that does not run.
    public init(device: AudioCaptureDevice, request: AudioCaptureRequest = AudioCaptureRequest(), outputs: [AudioDataOutput]) {
        self.device = device
        self.request = request
        self.outputs = outputs
    }

    deinit { stop() }

    /// What it does now.
    public var state: State { guarded.withLock { $0.state } }

    /// What it delivers, or delivered last; nil before the first start.
    public var lastFormat: AudioCaptureFormat? { guarded.withLock { $0.format } }

    /// How much faster than CLOCK_MONOTONIC the microphone's crystal runs, as measured so far: 50e-6 gains 50 µs a second.
    public var drift: Double { guarded.withLock { $0.drift } }

    /// Starts the microphone. Does nothing to a session that runs.
    /// - Throws: `CaptureError` when the microphone is gone, busy or refused, or has no format that is read.
    public func start() throws(CaptureError) {
        let isWanted = guarded.wait { guarded -> Bool? in
            if guarded.run.isBusy { return nil }
            if case .running = guarded.state { return false }
            guarded.run.isBusy = true
            return true
        }
        guard isWanted == true else { return }
        defer { guarded.change { $0.run.isBusy = false } }
        // Of a microphone that failed.
        guarded.withLock { $0.run.thread.take() }?.join()
        let bell: EventFD
        do throws(SystemError) { bell = try EventFD() } catch { throw CaptureError(.system, "\(device.identifier): \(error).") }
        let microphone = try Microphone(device.identifier, request), format = microphone.format
        try microphone.start()
        let run = AudioCaptureRun(microphone, outputs: outputs) { [guarded] drift in guarded.withLock { $0.drift = drift } }
        guarded.change { guarded in
            guarded.state = .running(format)
            guarded.format = format
            guarded.drift = 0
            guarded.run.bell = bell
            guarded.run.isStopping = false
        }
        // Without the session, which may end meanwhile, but not on its own thread.
        let thread = LoopThread(name: "microphone", isPrompt: true) { [guarded] in
            let error = run.run(bell) { guarded.withLock { $0.run.isStopping } }
            // Before the outputs say it, so that who hears of the end can start again.
            if let error { guarded.change { $0.state = .failed(error) } }
            run.finish(error)
        }
        guarded.withLock { $0.run.thread = thread }
    }

    /// Stops the microphone and waits for its thread. Outputs get `ended` after the sound that they have.
    public func stop() {
        guarded.stop { $0.state = .idle }
    }
}
