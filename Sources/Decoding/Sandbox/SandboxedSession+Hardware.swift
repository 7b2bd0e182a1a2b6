internal import Media
internal import SampleQueue
internal import Sandbox

/// Which kind of process a session has, and when that changes: as `DecompressionSession` chooses between its decoders, except that another decoder
/// is another process.
extension SandboxedSession {
    /// A process for the next device that can be opened, else one for software.
    /// - Throws: `.noHardware` when there is no device and one is required; `.sandbox`.
    static func launch(_ program: String, _ choice: inout DeviceChoice, isRequired: Bool) throws(DecodingError) -> DecoderProcess {
        while let node = choice.next() {
            do throws(DecodingError) {
                return try DecoderProcess.start(program, device: node, takesSpare: true)
            } catch {
                guard error.code == .noHardware else { throw error }
                choice.refused(error.description)
            }
        }
        if isRequired { throw DecodingError(.noHardware, choice.sentence ?? "there is no hardware decoder") }
        return try DecoderProcess.start(program, takesSpare: true)
    }

    /// Waits until the process has opened its decoder. If it refuses the stream or dies, the next process takes its place.
    func connect() throws(DecodingError) {
        while true {
            let outcome: Result<DecodingError?, ProcessEnd>
            do throws(ProcessEnd) {
                try configure()
                outcome = .success(try awaitReady())
            } catch {
                outcome = .failure(error)
            }
            switch outcome {
            case .success(nil): return
            case .success(let refusal?):
                guard process.drivesDevice, refusal.code == .noHardware else { throw refusal }
                process.end()
                choice.refused(refusal.description)
                process = try Self.launch(program, &choice, isRequired: fallback?.isRequired ?? false)
                if !process.drivesDevice { fallback = nil }
            case .failure(let end):
                let sentence = process.end() ?? end.sentence
                if end.isShortage { throw DecodingError(.outOfResources, "the decoder process \(sentence)") }
                guard policy.mayRestart(afterDeathAt: MonotonicClock.shared.now()) else {
                    // A process that has confined itself works on this machine, so the film must be what ends it.
                    // One that does not come so far was refused something by the system, which a film can bring about.
                    throw DecodingError(hasReported ? .cannotOpen : .outOfResources, "the decoder process \(sentence)")
                }
                count(death: sentence)
                noteDeath(sentence)
                process = try relaunch()
            }
            shared.withLock { $0.process = process }
        }
    }

    /// Another process, for hardware or software, whichever is next.
    func relaunch() throws(DecodingError) -> DecoderProcess {
        guard let state = fallback, state.way == .hardware, let node = choice.node else { return try DecoderProcess.start(program) }
        do throws(DecodingError) {
            return try DecoderProcess.start(program, device: node)
        } catch {
            guard error.code == .noHardware, !state.isRequired else { throw error }
            refuse(error.description)
            return try DecoderProcess.start(program)
        }
    }

    /// Notes the death of a process that may have driven the hardware.
    func noteDeath(_ sentence: String) {
        guard process.drivesDevice, var state = fallback else { return }
        state.died(now: MonotonicClock.shared.now(), window: sandbox.restarts.window)
        fallback = state
        if state.way == .software { choice.failed("the process that drives \(choice.node ?? "it") \(sentence)") }
    }

    private func refuse(_ reason: String) {
        fallback?.refused(now: MonotonicClock.shared.now())
        choice.failed(reason)
    }

    /// Waits until a process that was started has opened its decoder. False when no sample can be given to it.
    func isReady(_ output: (consuming DecodeOutput) -> Void) -> Bool {
        while isStarting {
            do throws(ProcessEnd) {
                guard let refusal = try awaitReady() else { return true }
                guard process.drivesDevice, refusal.code == .noHardware, fallback?.isRequired == false else {
                    give(up: refusal, output)
                    return false
                }
                refuse(refusal.description)
                process.end()
                start()
                needsSync = false
                if lost != nil { return false }
            } catch {
                replace(error.sentence, output)
                return false
            }
        }
        return true
    }

    /// A sync frame comes: changes the kind of process if it is time to.
    func reconsider(_ output: (consuming DecodeOutput) -> Void) {
        // What it may have kept of the memory of earlier formats goes with it.
        if process.givenByteCount > surfaces.limits.keptByteCount / 2 { turn(output) }
        guard var state = fallback else { return }
        let way = state.keyframe(now: MonotonicClock.shared.now())
        fallback = state
        guard (way == .hardware) != process.drivesDevice else { return }
        if way == .software { choice.failed("the hardware decoder failed too often") }
        turn(output)
    }

    /// The hardware failed at a sample. True when software is to decode it again.
    func hardwareFailed(_ error: DecodingError, at number: UInt64) -> Bool {
        guard process.drivesDevice else { return false }
        guard fallback?.failed(isKeyframe: number == keyNumber, now: MonotonicClock.shared.now()) == .redo else { return false }
        ledger.reopen(number)
        choice.failed(error.description)
        wantsRedo = true
        return true
    }

    /// Decodes the sync frame at which the hardware failed again, in software. Nothing is lost: earlier frames are put out first.
    func redo(
        _ sample: SampleBuffer, _ block: BlockBuffer, _ instructions: DecodeInstructions, _ number: UInt64,
        _ output: (consuming DecodeOutput) -> Void
    ) {
        wantsRedo = false
        // If the process has died since, the sample is lost with it.
        guard ledger.isOpen(number) else { return }
        turn(output)
        guard lost == nil, ledger.isOpen(number), isReady(output) else { return }
        deliver(sample, block, instructions, number, output)
    }

    /// Puts out what the present process holds back and goes on with a process of the other kind, at a sync frame.
    private func turn(_ output: (consuming DecodeOutput) -> Void) {
        if !isStarting, !needsSync {
            request { .drain(number: $0) }
            // If it died meanwhile, a process of the right kind has taken its place, and its samples are answered.
            guard pump(output) else { return }
        }
        process.end()
        start()
        needsSync = false
    }
}
