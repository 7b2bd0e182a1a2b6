internal import Media

extension CaptureSession {
    /// What a session runs: its camera, what is asked of it, and who gets the frames.
    public struct Configuration: Sendable {
        /// The camera.
        public var device: CaptureDevice
        /// What to ask of it.
        public var request: CaptureRequest
        /// Who gets the frames. An output belongs to one session at a time.
        public var outputs: [VideoDataOutput]
    }

    /// What the session runs, or begins with at the next start. A camera that has returned under another path is named as it is called now.
    public var configuration: Configuration {
        guarded.withLock { Configuration(device: $0.device, request: $0.request, outputs: $0.outputs) }
    }

    /// Changes the camera, what is asked of it and the outputs in one step, also while the session runs.
    ///
    ///     var configuration = session.configuration
    ///     configuration.device = other
    ///     configuration.outputs.append(output)
    ///     try session.configure(configuration)
    ///
    /// The counterpart of `beginConfiguration` and `commitConfiguration` of `AVCaptureSession`. Outputs come and go between two frames; those that
    /// stay miss none. Another camera runs before the former one ends. A new request to the same camera stops and starts it, because a driver has one
    /// format at a time, and so do outputs that hold more frames in all (`heldFrames`, and one for each output) than it has buffers for. After that
    /// frames are numbered on, and the first one follows a `discontinuity` of 0 frames. Outputs that go get `ended`.
    ///
    /// A session that does not run takes the configuration as it is, and looks at it when it starts. Must not be called from `onStateChange`.
    ///
    /// - Throws: What `start` throws. The former configuration goes on then, as if nothing had been asked; only if its camera does not start
    ///   again, the session has failed. While the session waits for a camera that was unplugged, nothing can be changed.
    public func configure(_ configuration: Configuration) throws(CaptureError) {
        let running = guarded.wait { guarded -> Running? in
            if guarded.run.isBusy { return nil }
            guarded.run.isBusy = true
            return Running(state: guarded.state, device: guarded.device, request: guarded.request, bell: guarded.run.bell)
        }
        defer { guarded.change { $0.run.isBusy = false } }
        guard let running else { return }
        switch running.state {
        case .interrupted(let error): throw error
        case .idle, .failed: return guarded.withLock { $0.take(configuration) }
        case .running: break
        }
        guard let bell = running.bell else { return }
        // On this thread, so that the former camera's frames go on meanwhile.
        var stream: CaptureStream?
        if configuration.device.path != running.device.path {
            stream = try opening(bell).stream(configuration, number: 0)
        } else if configuration.request != running.request {
            _ = try CaptureStream.choice(configuration.request, on: CameraNode(configuration.device.path))
        }
        let order = CaptureOrder(configuration, stream)
        guarded.withLock { guarded in
            guarded.order = order
            guarded.answer = nil
        }
        bell.signal()
        let answer = guarded.wait { guarded -> Answer? in
            if let answer = guarded.answer { return Answer(result: answer, isTaken: true) }
            switch guarded.state {
            case .running: return nil
            case .interrupted(let error), .failed(let error):
                guard guarded.order != nil else { return nil }
                guarded.order = nil
                return Answer(result: .failure(error), isTaken: false)
            case .idle: return nil
            }
        }
        if answer?.isTaken == false { stream?.end() }
        try answer?.result.get()
    }

    private struct Running: Sendable {
        var state: State
        var device: CaptureDevice
        var request: CaptureRequest
        var bell: EventFD?
    }

    private struct Answer: Sendable {
        var result: Result<Void, CaptureError>
        /// The `camera` thread has the order.
        var isTaken: Bool
    }
}

extension CaptureSession.Guarded {
    mutating func take(_ configuration: CaptureSession.Configuration) {
        (device, request, outputs) = (configuration.device, configuration.request, configuration.outputs)
    }
}

/// A change of what a session runs, on its way to the `camera` thread.
final class CaptureOrder: @unchecked Sendable {
    let configuration: CaptureSession.Configuration
    /// Another camera's, which streams; nil: the camera stays. Belongs to the thread that has the order.
    let stream: CaptureStream?

    init(_ configuration: CaptureSession.Configuration, _ stream: CaptureStream?) {
        self.configuration = configuration
        self.stream = stream
    }
}
