public import Media
package import Sandbox
// `AudioError`, which both throw.
@_exported public import SoundDecoding

/// Plays a film's sound in step with a timebase: decodes a track, brings it into the device's shape and writes it so that every
/// sound is heard when the timebase says so.
///
/// The timebase controls the renderer: rate 0 is silence, a jump continues at the new time, a rate from 1/4 to
/// 4 plays at that speed at the sound's own pitch, other rates play nothing. A player combines the two like this:
///
/// ```swift
/// let timebase = Timebase()
/// let renderer = try AudioRenderer(format: format, queue: queue, device: "auto", timebase: timebase)
/// timebase.setSource(renderer.clock)            // no jump; frames now keep to the sound card
/// renderer.onFailure = { error in               // once, on the audio thread
///     timebase.setSource(MonotonicClock.shared) // no jump; the film goes on in silence
/// }
/// renderer.start()
/// _ = renderer.waitUntilReady(until: limit)     // the device is open and the first sound decoded
/// timebase.setRate(1, time: start, atHostTime: renderer.clock.now() + renderer.startLatency)
/// timebase.setRate(0)                           // pause
/// timebase.setRate(1)                           // resume
/// renderer.flush(); timebase.setTime(elsewhere) // seek; then enqueue what is there
/// timebase.setRate(1.5)                         // faster
/// ```
///
/// Anchoring the start `startLatency` ahead loses no sound: a device needs some time until its first frame is heard. Without
/// it sound joins the running film, in step, that much later. The clock goes on when there is no sound (before it starts,
/// after it ends, when the device is lost), so the source need not be changed then; it may be, at any time, without a jump.
/// When the timebase runs over any other clock, sound follows it as well, with a small cut whenever it has slipped by 10 ms.
///
/// Thread-safety: all of it. Two threads of its own: `audio-decode` sleeps in the source and in the store of decoded sound,
/// `audio` in `poll` until the device needs more.
public final class AudioRenderer: Sendable {
    /// How far the renderer has come.
    public enum Phase: Sendable, Hashable {
        /// Until the first sound is decoded and the device open.
        case opening
        /// The device is open and sound is decoded, or the track has ended without a sound.
        case ready
        /// There will be no sound; the queue is emptied nevertheless.
        case failed(AudioError)
        /// `stop` was called.
        case stopped
    }

    let source: any AudioSource
    let deviceName: String
    let timebase: Timebase
    let openDevice: AudioDeviceOpener
    /// Where the sound is decoded.
    let sandbox: SandboxOptions
    /// The program that takes the sound instead of a device.
    let exporter: AudioExporter?
    let shared: AudioShared
    /// The device's clock; goes on for ever.
    public let clock = AudioClock()
    private let threads = Monitor<(threads: [LoopThread], observation: TimebaseObservation?)>(([], nil))
    private struct Handlers: Sendable {
        var failure: (@Sendable (AudioError) -> Void)?
        var finish: (@Sendable () -> Void)?
        var starving: (@Sendable () -> Void)?
    }
    private let handlers = Monitor(Handlers())

    /// A renderer for a track, which waits for `start`. Throws when nothing can decode the track; later failures of the device
    /// go to `onFailure`.
    ///
    /// - Parameter format: Nil: not known yet; the samples say it.
    package init(
        format: AudioFormat?, source: any AudioSource, deviceName: String, timebase: Timebase, exporter: AudioExporter? = nil,
        sandbox: SandboxOptions = SandboxOptions(), openDevice: AudioDeviceOpener? = nil
    ) throws(AudioError) {
        self.source = source
        self.deviceName = deviceName
        self.timebase = timebase
        self.exporter = exporter
        self.sandbox = sandbox
        shared = try AudioShared()
        let program = exporter?.device { [shared] in shared.bell.signal() }
        if let openDevice {
            self.openDevice = openDevice
        } else {
            self.openDevice = { rate, channels throws(AudioError) in
                if let program { return program }
                return try AudioDeviceName(deviceName).open(rate: rate, channelCount: channels)
            }
        }
        if let format { try AudioDecoder.check(format) }
    }

    deinit { stop() }

    /// Starts decoding and playing as the timebase says.
    public func start() {
        let shared = shared
        let observation = timebase.observe { [shared] change in
            // The output thread notices a new rate by itself; a new source must not be audible.
            if case .jump = change { shared.restart() } else { shared.bell.signal() }
        }
        let worker = AudioWorker(self)
        let threads = [
            LoopThread(name: "audio-decode") { worker.decode() },
            LoopThread(name: "audio", isPrompt: true) { worker.play() },
        ]
        self.threads.withLock { $0 = (threads, observation) }
    }

    /// Stops the sound and ends both threads. The device is closed when this returns, unless it is called on the audio thread itself
    /// (from `onFailure`), which ends soon after. Idempotent.
    public func stop() {
        let store = shared.state.change { state in
            state.isStopping = true
            state.phase = .stopped
            state.lead = nil
            return state.store
        }
        shared.bell.signal()
        source.interrupt()
        store?.clear()
        let (threads, observation) = threads.withLock { current in
            defer { current = ([], nil) }
            return current
        }
        observation?.cancel()
        for thread in threads where !thread.isCurrent { thread.join() }
    }

    /// Discards all sound between the queue and the device, the queue included: the first step of a seek, before samples from elsewhere are
    /// enqueued.
    ///
    /// - Parameters:
    ///   - serial: the number of the seek, for a program that takes the sound.
    ///   - target: where the film goes on, for the same.
    public func flush(serial: UInt64 = 0, target: MediaTime = .negativeInfinity) {
        // In this order: sound already on its way is refused from here on, until the queue's flush arrives.
        let store = shared.state.withLock { state in
            state.hasFinished = false
            return state.store
        }
        store?.clear(serial: serial)
        exporter?.flush(serial: serial, target: target)
        source.flush()
        shared.restart()
    }

    /// Called once when sound fails, on the audio thread, with no lock held.
    public var onFailure: (@Sendable (AudioError) -> Void)? {
        get { handlers.withLock { $0.failure } }
        set { handlers.withLock { $0.failure = newValue } }
    }

    /// Called each time the end of the sound has been heard, on the audio thread, with no lock held.
    public var onFinish: (@Sendable () -> Void)? {
        get { handlers.withLock { $0.finish } }
        set { handlers.withLock { $0.finish = newValue } }
    }

    /// Called each time silence replaces the film's sound because none is decoded though more is to come, on the audio thread, with no lock
    /// held.
    public var onStarving: (@Sendable () -> Void)? {
        get { handlers.withLock { $0.starving } }
        set { handlers.withLock { $0.starving = newValue } }
    }

    /// Loudness as a factor on the samples: 0 is silence, 1 as recorded; above 1 a limiter turns down what would exceed full scale. Changes glide
    /// over 10 ms; they are heard after what the device already holds (200 ms).
    public var volume: Double {
        get { Double(shared.state.withLock { $0.volume }) }
        set {
            precondition(newValue >= 0 && newValue.isFinite, "a volume is a number from 0 up")
            shared.state.withLock { $0.volume = Float(newValue) }
        }
    }

    /// Silent while true; the volume is kept.
    public var isMuted: Bool {
        get { shared.state.withLock { $0.isMuted } }
        set { shared.state.withLock { $0.isMuted = newValue } }
    }

    /// How much later than its times the sound is heard, on the film's time line; below zero: earlier. A change is heard after what the device
    /// already holds (200 ms). A program that takes the sound as it is decoded gets it with its own times.
    ///
    /// Up to an hour either way; what is not numeric counts as zero.
    public var delay: MediaTime {
        get { MediaTime(nanoseconds: shared.state.withLock { $0.delay }) }
        set {
            let hour: Int64 = 3_600_000_000_000, nanoseconds = newValue.isNumeric ? newValue.nanoseconds() ?? 0 : 0
            shared.state.withLock { $0.delay = min(max(nanoseconds, -hour), hour) }
            shared.bell.signal()
        }
    }

    /// How far the renderer has come at this moment; `waitUntilReady` waits for the end of `.opening`.
    public var phase: Phase { shared.state.withLock { $0.phase } }

    /// Blocks until the first sound is decoded and the device is open, so that the film can start with its sound, or until a `.drain` or the end of
    /// the stream says that there is none before it. Call it after `start`, on any thread but the renderer's own.
    ///
    /// - Parameter deadline: When to stop waiting, CLOCK_MONOTONIC; nil: no limit.
    /// - Returns: True when `phase` is `.ready`. False when the renderer has failed or was stopped, so that there will be no sound, and when it was
    ///   still `.opening` at `deadline`; `phase` tells which.
    public func waitUntilReady(until deadline: HostTime?) -> Bool {
        shared.state.wait(until: deadline) { $0.phase == .opening ? nil : $0.phase == .ready } ?? false
    }

    /// From starting the device to its first frame being heard, as last measured; a guess before the first time.
    public var startLatency: HostSpan { shared.state.withLock { $0.startLatency } }

    /// Whether the sound has ended or failed. The film itself may be longer.
    public var hasFinished: Bool {
        shared.state.withLock { state in
            if case .failed = state.phase { true } else { state.hasFinished || state.phase == .stopped }
        }
    }

    /// How far the sound is ahead of its time, as the device reported at the last check (40 a second); negative when it is late.
    /// nil while nothing is heard.
    public var lead: HostSpan? { shared.state.withLock { $0.lead } }

    /// Whether sound of so many channels keeps them all without another device: true before the device is open, and where it gave fewer channels
    /// than it was asked for, since it has no more.
    package func keeps(channelCount: Int) -> Bool {
        shared.state.withLock { state in
            guard let asked = state.shape?.channelCount, let store = state.store else { return true }
            return channelCount <= store.channelCount || store.channelCount < asked
        }
    }

    /// A snapshot of what has been played, and how exactly.
    public var statistics: AudioStatistics { shared.state.withLock { $0.statistics } }

    /// The last stretches played, oldest first.
    package var pieces: [AudioPiece] { shared.state.withLock { $0.pieces } }

    func reportFailure(_ error: AudioError) {
        let isFirst = shared.state.change { state in
            guard state.phase == .opening || state.phase == .ready else { return false }
            state.phase = .failed(error)
            state.lead = nil
            return true
        }
        guard isFirst else { return }
        exporter?.release()
        onFailure?(error)
    }

    func reportFinish() { onFinish?() }

    func reportStarving() { onStarving?() }
}
