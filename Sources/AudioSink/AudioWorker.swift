internal import CAV
internal import Media
internal import Sandbox
internal import SoundDecoding

/// The work of the renderer's two threads. It does not hold the renderer itself, so that a renderer that is dropped can end them.
final class AudioWorker: Sendable {
    private let source: any AudioSource
    private let deviceName: String
    private let timebase: Timebase
    private let openDevice: AudioDeviceOpener
    private let exporter: AudioExporter?
    private let sandbox: SandboxOptions
    private let shared: AudioShared
    private let clock: AudioClock
    private let fail: @Sendable (AudioError) -> Void
    private let finish: @Sendable () -> Void
    private let starve: @Sendable () -> Void

    init(_ renderer: AudioRenderer) {
        source = renderer.source
        deviceName = renderer.deviceName
        timebase = renderer.timebase
        openDevice = renderer.openDevice
        exporter = renderer.exporter
        sandbox = renderer.sandbox
        shared = renderer.shared
        clock = renderer.clock
        fail = { [weak renderer] error in renderer?.reportFailure(error) }
        finish = { [weak renderer] in renderer?.reportFinish() }
        starve = { [weak renderer] in renderer?.reportStarving() }
    }

    // MARK: audio

    /// Opens the device for the first decoded sound and feeds it to the end. A program that takes everything needs no one to feed it.
    func play() {
        let shape: (rate: Int, channelCount: Int)?? = shared.state.wait { state in
            if state.isStopping { return .some(nil) }
            return state.shape.map { .some($0) }
        }
        guard let shape = shape ?? nil else { return }
        let taking = AudioExporter.Handlers(
            taken: { [shared] frames in shared.state.withLock { $0.statistics.framesPlayed += Int64(frames) } },
            finished: { [shared, finish] in
                shared.state.withLock { $0.hasFinished = true }
                finish()
            },
            cancelled: { [shared, fail] in
                fail(AudioError(.lost, "the program takes no more sound"))
                shared.state.withLock { $0.store }?.clear()
            })
        if let store = exporter?.attach(rate: shape.rate, channelCount: shape.channelCount, taking) { return publish(store, .float32) }
        do throws(AudioError) {
            let device = try openDevice(shape.rate, shape.channelCount)
            let configuration = device.configuration
            let store = PCMStore(rate: configuration.rate, channelCount: configuration.channelCount, bell: shared.bell)
            publish(store, configuration.sampleFormat)
            let output = AudioOutput(
                device: device, name: deviceName, store: store, timebase: timebase, clock: clock, shared: shared, finish: finish,
                starve: starve)
            defer { output.stopPiece() }
            var descriptors = [PollDescriptor(fd: shared.bell.rawValue, interest: .readable)]
            while !shared.isStopping {
                let deadline = try output.step()
                do throws(SystemError) {
                    _ = try pollDescriptors(&descriptors, until: deadline)
                } catch {
                    throw AudioError(.system, "\(error)", underlying: error.code)
                }
                shared.bell.drain()
            }
        } catch {
            fail(error)
            // Wakes the decoder, which from now on only empties the queue.
            shared.state.withLock { $0.store }?.clear()
        }
    }

    /// Lets the decoder fill `store`.
    private func publish(_ store: PCMStore, _ format: DeviceSampleFormat) {
        shared.state.change { [deviceName] state in
            state.store = store
            state.statistics.device = deviceName
            state.statistics.sampleRate = store.rate
            state.statistics.channelCount = store.channelCount
            state.statistics.sampleFormat = format.rawValue
        }
    }

    // MARK: audio-decode

    /// Moves sound from the source through the decoder into the store, until stopped; without a device it discards the sound.
    func decode() {
        var chain: DecodeChain?
        func trying(_ body: (inout DecodeChain?) throws(AudioError) -> Void) {
            do throws(AudioError) { try body(&chain) } catch {
                chain = nil
                fail(error)
            }
        }
        while !shared.isStopping {
            // Before it waits for more, the sound of all packets that were there is made.
            let now = MonotonicClock.shared.now()
            for deadline in [now, now + .milliseconds(500)] {
                let came = unsafe source.next(waitingUntil: deadline) { input in
                    trying { chain throws(AudioError) in try unsafe take(input, &chain) }
                }
                if came { break }
                if deadline == now, !hasFailed { trying { chain throws(AudioError) in try chain?.settle() } }
            }
        }
    }

    private var hasFailed: Bool { shared.state.withLock { if case .failed = $0.phase { true } else { false } } }

    private func take(_ input: AudioInput, _ chain: inout DecodeChain?) throws(AudioError) {
        if hasFailed { return }
        switch unsafe input {
        case .packet(let packet, let format, let time, let gain):
            if chain == nil {
                chain = try DecodeChain(format: format, sandbox, shared)
                // Films without sound may have ended before; the device looks after what is in the store.
                shared.state.withLock { if $0.store == nil { $0.hasFinished = false } }
            }
            // The track's format has changed: what the old decoder holds is played first.
            if let old = chain, old.decoder.format != format {
                try old.drain()
                chain = try DecodeChain(format: format, sandbox, shared, after: old)
            }
            try unsafe chain?.decode(packet, time, gain)
        case .flush:
            shared.state.withLock { $0.store }?.clear()
            chain?.flush()
        case .reset: chain?.flush()
        case .drain(let time):
            try chain?.drain()
            chain?.cut(at: time)
            // Where there was nothing to put out, nobody need wait for more.
            shared.state.change { if $0.phase == .opening, $0.store == nil { $0.phase = .ready } }
        case .endOfStream:
            try chain?.drain()
            markEnd(chain)
        }
        let damaged = chain?.decoder.damagedPackets ?? 0, process = chain?.decoder as? SandboxedSoundDecoder
        let (deaths, report) = (process?.deaths ?? 0, process?.report.summary)
        shared.state.withLock { state in
            state.statistics.damagedPackets = damaged
            state.statistics.decoderDeaths = deaths
            state.statistics.sandbox = report
        }
    }

    /// A track that ended without a sound is ready, and finished. So is one that ends where a program had taken all sound before it: the program
    /// looks for no more.
    private func markEnd(_ chain: DecodeChain?) {
        let wasEnded = chain?.markEnd() ?? false
        let (hadNone, isTaken) = shared.state.change { state in
            if state.phase == .opening { state.phase = .ready }
            if state.store == nil { state.hasFinished = true }
            return (state.store == nil, wasEnded && state.hasFinished && exporter?.takesEverything == true)
        }
        if hadNone { exporter?.markEnd() }
        if hadNone || isTaken { finish() }
    }
}
