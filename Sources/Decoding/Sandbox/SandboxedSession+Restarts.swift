internal import Media
internal import SampleQueue
internal import Sandbox

/// How a session gets a process, and another when that one dies.
extension SandboxedSession {
    func configure() throws(ProcessEnd) {
        var options = self.options
        options.rowAlignment = options.keptRowAlignment
        writer.reset()
        writer.put(.configure(format: bareFormat, options: options, configurationByteCount: stream.configuration.count))
        isStarting = true
        hasReported = false
        do throws(SystemError) {
            let memory = try configuration()
            let requests = process.surfaceRequests.map { [$0.rawValue] } ?? []
            try process.work.send(writer, descriptors: [ring.descriptor.rawValue, memory.descriptor.rawValue] + requests)
        } catch {
            throw ProcessEnd(error)
        }
    }

    /// The format's set-up data, for the process to read.
    func configuration() throws(SystemError) -> SharedBytes {
        let memory = try SharedBytes(count: max(stream.configuration.count, 1))
        unsafe stream.configuration.withUnsafeBytes { bytes in
            if let source = bytes.baseAddress { unsafe memory.base.copyMemory(from: source, byteCount: bytes.count) }
        }
        return memory
    }

    var bareFormat: VideoFormat {
        var bare = stream
        bare.configuration = []
        return bare
    }

    /// Waits for the answer to `configure`; the decoder's own refusal is returned, the end of the process is thrown.
    func awaitReady() throws(ProcessEnd) -> DecodingError? {
        var listener = DecoderListener(process: process, surfaces: surfaces, deadline: SandboxedProcess.startDeadline)
        while true {
            switch try listener.next() {
            case .confined(let report):
                guard !hasReported else { throw .unasked }
                // Opening the decoder has as much time again.
                listener = DecoderListener(process: process, surfaces: surfaces, deadline: SandboxedProcess.startDeadline)
                shared.withLock { $0.report = report }
                hasReported = true
                if sandbox.policy == .require, !report.isConfined {
                    let why = report.troubles.first ?? "this kernel does not offer it"
                    return DecodingError(.sandbox, "the decoder process cannot be confined as required: \(why)")
                }
            case .ready(let name, let driver):
                guard (driver != nil) == process.drivesDevice else { throw ProcessEnd("decodes in another way than it is to") }
                let reason = driver == nil ? choice.sentence : nil
                shared.withLock { shared in
                    shared.decoderName = name
                    shared.backend = BackendInUse(isHardware: driver != nil, driver: driver, reason: reason)
                }
                isStarting = false
                return nil
            case .refused(let error): return error
            default: throw .unasked
            }
        }
    }

    /// Ends a process that is of no use any more, answers its samples, and starts another if the policy allows.
    func replace(_ sentence: String, _ output: (consuming DecodeOutput) -> Void) {
        // Its exit status says more than what was noticed.
        let sentence = process.end() ?? sentence
        let error = DecodingError(.decoderDied, "the decoder process \(sentence)")
        if isInvalidated { return abandon(DecodingError(.invalidated, "the decoding session has been invalidated"), output) }
        count(death: sentence)
        abandon(error, output)
        noteDeath(sentence)
        if policy.mayRestart(afterDeathAt: MonotonicClock.shared.now()) {
            start()
        } else {
            lost = DecodingError(
                .decoderLost, "decoding was given up after \(sandbox.restarts.count + 1) decoder processes died; the last one \(sentence)")
        }
    }

    func count(death sentence: String) {
        shared.withLock { shared in
            shared.statistics.deaths += 1
            shared.statistics.lastDeath = sentence
        }
    }

    /// Fails every sample that has not been answered.
    func abandon(_ error: DecodingError, _ output: (consuming DecodeOutput) -> Void) {
        while let entry = ledger.closeOldest() { output(.failed(entry.receipt, error)) }
    }

    func give(up error: DecodingError, _ output: (consuming DecodeOutput) -> Void) {
        process.end()
        abandon(error, output)
        lost = DecodingError(.decoderLost, error.description)
    }

    /// Starts another process, which opens its decoder while samples are passed over until the next sync sample.
    func start() {
        ringState.removeAll()
        needsSync = true
        do throws(DecodingError) {
            process = try relaunch()
        } catch {
            lost = DecodingError(.decoderLost, error.description, status: error.status)
            return
        }
        shared.withLock { shared in
            shared.process = process
            shared.interruptions = 0
        }
        // Whoever waits until it is ready notices a process that has died already.
        try? configure()
        if isInvalidated { process.kill() }
    }
}
