public import Media

/// Gives a film's decoded sound to a program instead of to a sound device.
///
/// The counterpart of `FrameExporter` for sound. Make one, pass it in `PlayerConfiguration.audioExporter`, and either take everything in order, on a
/// thread of your own, for analysis, a mixer or an encoder:
///
///     let exporter = try AudioExporter(.everything(sampleRate: 48_000, channelCount: 2))
///     while let block = exporter.wait() { analyse(block.samples, at: block.presentationTime) }
///
/// or be the sound device, from the callback in which your own device asks for more:
///
///     let exporter = try AudioExporter(.asHeard(sampleRate: 48_000, channelCount: 2))
///     exporter.read(into: buffer, heardAt: now + deviceLatency)
///
/// Samples are 32-bit floats, 1.0 the loudest, with the channels in FFmpeg's native order (front left, front right, centre, low frequency …). Sound
/// of another rate or other channels is converted. An exporter serves one film at a time.
///
/// Thread-safety: all of it; of `wait`, and of `read`, one call at a time.
public final class AudioExporter: Sendable {
    /// Which sound a program gets, and when.
    public enum Delivery: Sendable, Hashable {
        /// Every sample of the film once and in order, as soon as it is decoded: the film waits for a program that takes none. Pause, speed and
        /// volume change nothing. nil: as the film has it, which may change from film to film.
        case everything(sampleRate: Int? = nil, channelCount: Int? = nil)
        /// What is to be heard at a given moment, at the film's speed and volume: the program is the sound device, and its clock becomes the film's.
        case asHeard(sampleRate: Int, channelCount: Int)
    }

    /// What was asked for.
    public let delivery: Delivery
    /// Whether the program takes every sample, and is not itself the device.
    var takesEverything: Bool { if case .everything = delivery { true } else { false } }
    private let bell: EventFD
    private let state = Monitor(State())

    /// What the renderer learns of a program that takes everything. Called on the program's thread.
    struct Handlers: Sendable {
        var taken: @Sendable (_ frames: Int) -> Void
        /// The program has had all of it.
        var finished: @Sendable () -> Void
        /// It takes no more.
        var cancelled: @Sendable () -> Void
    }

    private enum Phase: Sendable { case unused, serving, over }

    private struct State: Sendable {
        var phase = Phase.unused
        var isCancelled = false
        /// Nothing before it is handed out: where the film begins, or the seek's target.
        var from = MediaTime.negativeInfinity
        /// Nothing older than this seek is handed out.
        var expected: UInt64 = 0
        var serial: UInt64 = 0
        var store: PCMStore?
        var handlers: Handlers?
        var cursor = PCMStore.Cursor()
        /// All sound has been taken, or there is none.
        var isAtEnd = false
        var ring: ProgramDevice?
    }

    /// Makes an exporter that serves no film yet. Throws `.unsupportedFormat` for a rate or a number of channels that is out of range, `.system`
    /// without a descriptor.
    public init(_ delivery: Delivery) throws(AudioError) {
        self.delivery = delivery
        let (rate, channels): (Int?, Int?) =
            switch delivery {
            case .everything(let rate, let channels): (rate, channels)
            case .asHeard(let rate, let channels): (rate, channels)
            }
        guard rate ?? 1 > 0, channels ?? 1 > 0 else { throw AudioError(.unsupportedFormat, "sound has a rate and channels, each above 0") }
        try SoundBounds.check(rate: rate ?? 0, channelCount: channels ?? 1)
        do { bell = try EventFD() } catch { throw AudioError(.system, "\(error)", underlying: error.code) }
    }

    // MARK: Everything

    /// Frames in a block, at most.
    public static let largestBlock = 4096

    /// The next block of sound that has not been taken yet. Waits for it until `deadline` (CLOCK_MONOTONIC; nil: for ever). Nil: none came in time,
    /// or the film's sound is over (`isOver`). After a seek there is sound again, and what comes follows it.
    public func wait(until deadline: HostTime? = nil) -> AudioBlock? {
        guard case .everything = delivery else { preconditionFailure("an exporter of what is heard is read") }
        var descriptors = [PollDescriptor(fd: bell.rawValue, interest: .readable)]
        while true {
            bell.drain()
            if let block = take() { return block }
            if isOver { return nil }
            guard let ready = try? pollDescriptors(&descriptors, until: deadline), ready > 0 else { return nil }
        }
    }

    /// No `wait` will give a block: the film has no more sound, or is closed.
    public var isOver: Bool {
        state.withLock { $0.phase == .over || $0.isCancelled || ($0.phase == .serving && $0.isAtEnd && $0.serial >= $0.expected) }
    }

    private func take() -> AudioBlock? {
        let (block, handlers, isNews): (AudioBlock?, Handlers?, Bool) = state.withLock { state in
            guard state.phase == .serving, !state.isCancelled, let store = state.store else { return (nil, nil, false) }
            let wasAtEnd = state.isAtEnd
            guard let taken = store.take(&state.cursor, from: state.from, atMost: Self.largestBlock, since: state.expected) else {
                state.isAtEnd = store.isExhausted(state.cursor)
                return (nil, state.handlers, state.isAtEnd && !wasAtEnd)
            }
            state.isAtEnd = false
            let block = AudioBlock(
                samples: taken.samples, sampleRate: store.rate, channelCount: store.channelCount,
                presentationTime: MediaTime(value: taken.first, timescale: Int32(store.rate)), serial: taken.serial,
                isDiscontinuous: taken.isDiscontinuous)
            return (block, state.handlers, false)
        }
        if let block { handlers?.taken(block.frameCount) }
        if isNews { handlers?.finished() }
        return block
    }

    // MARK: As heard

    /// Fills `buffer` with the interleaved sound to be heard from `moment` on (CLOCK_MONOTONIC), with silence where there is none. Never waits for
    /// anything but a lock that is held for microseconds, so that a device's callback may call it.
    ///
    /// Call it as steadily as the device asks, also while the film stands still: the film's clock follows these calls. One call asks for at most
    /// 0.2 s.
    /// - Parameter buffer: whole frames of `channelCount` samples.
    /// - Returns: How many frames of it are the film's; the others, at the end, are silence.
    @discardableResult
    public func read(into buffer: UnsafeMutableBufferPointer<Float>, heardAt moment: HostTime) -> Int {
        guard case .asHeard = delivery else { preconditionFailure("an exporter of everything is waited for") }
        let ring = state.withLock { $0.phase == .serving && $0.serial >= $0.expected ? $0.ring : nil }
        guard let ring else {
            unsafe buffer.update(repeating: 0)
            return 0
        }
        return unsafe ring.read(into: buffer, heardAt: moment, now: MonotonicClock.shared.now())
    }

    /// Takes no more sound of the present film, which goes on in silence. Every wait ends.
    public func cancel() {
        let handlers = state.withLock { state in
            state.isCancelled = true
            return state.handlers
        }
        bell.signal()
        handlers?.cancelled()
    }

    // MARK: The player's side

    /// Forgets how the last film ended: what waits waits for the next one.
    package func renew() { state.withLock { if $0.phase == .over { $0 = State() } } }

    /// Begins to serve a film that plays from `start` on; false when it serves another.
    package func claim(from start: MediaTime = .negativeInfinity) -> Bool {
        state.change { state in
            guard state.phase != .serving else { return false }
            state = State()
            state.phase = .serving
            state.from = start
            return true
        }
    }

    /// The film is closed or cannot be heard: every wait ends.
    package func release() {
        state.withLock { state in
            state.phase = .over
            state.store = nil
            state.handlers = nil
            state.ring = nil
        }
        bell.signal()
    }

    /// There is no sound from here to the end of the film.
    func markEnd() {
        state.withLock { $0.isAtEnd = true }
        bell.signal()
    }

    /// Nothing that comes before the seek `serial` is handed out from now on.
    package func expect(_ serial: UInt64) { state.withLock { $0.expected = max($0.expected, serial) } }

    /// No seek after `serial` is carried out: what came before counts again.
    package func withdraw(to serial: UInt64) {
        state.withLock { $0.expected = serial }
        bell.signal()
    }

    /// The sound that was there has been discarded; what comes follows the seek `serial` to `target`.
    func flush(serial: UInt64, target: MediaTime) {
        let ring = state.withLock { state in
            state.serial = serial
            state.from = target
            state.isAtEnd = false
            return state.ring
        }
        ring?.drop()
        bell.signal()
    }

    /// The seek `serial` has failed, and the sound goes on.
    package func adopt(_ serial: UInt64) {
        let store = state.withLock { state in
            state.serial = serial
            return state.store
        }
        store?.adopt(serial)
        bell.signal()
    }

    /// The memory for everything, in the shape that was asked for or that the film has. Nil for a program that is a device.
    func attach(rate: Int, channelCount: Int, _ handlers: Handlers) -> PCMStore? {
        guard case .everything(let wantedRate, let wantedChannels) = delivery else { return nil }
        let store = PCMStore(rate: wantedRate ?? rate, channelCount: wantedChannels ?? channelCount, bell: bell)
        state.withLock { state in
            store.adopt(state.serial)
            state.store = store
            state.handlers = handlers
        }
        // Who waits did not find it.
        bell.signal()
        return store
    }

    /// The program as a device, for a renderer.
    ///
    /// - Parameter wake: called when a program begins to read.
    func device(wake: @escaping @Sendable () -> Void) -> ProgramDevice? {
        guard case .asHeard(let rate, let channelCount) = delivery else { return nil }
        let device = ProgramDevice(rate: rate, channelCount: channelCount, wake: wake)
        state.withLock { if $0.phase == .serving { $0.ring = device } }
        return device
    }
}
