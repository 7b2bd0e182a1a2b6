import CAV
import Foundation
import Media
import Testing

@testable import AudioSink

/// Packets of float samples in which frame `n` of the film has the value `n / 2^23`: whoever hears a sample knows where in the film he is.
final class CountingSound: AudioSource, @unchecked Sendable {
    static let rate = 48000
    private enum Event { case packet(Int64, gain: Float), flush, end, drain, reset }
    private struct State {
        var events: [Event] = []
        var isInterrupted = false
    }
    private let state = Monitor(State())
    let format = AudioFormat(codecName: "pcm_f32le", sampleRate: Int32(CountingSound.rate), channelCount: 1, channelLayout: "mono")
    static let packetFrames: Int64 = 1024

    /// Sound for the film from `start` to `end` seconds, whose samples are to be multiplied by `gain`.
    func enqueue(_ start: Double, _ end: Double, gain: Float = 1) {
        let first = Int64(start * Double(Self.rate)), last = Int64(end * Double(Self.rate))
        state.change { state in
            for frame in stride(from: first, to: last, by: Int(Self.packetFrames)) { state.events.append(.packet(frame, gain: gain)) }
        }
    }
    func end() { state.change { $0.events.append(.end) } }
    var remaining: Int { state.withLock { $0.events.count } }

    func next(waitingUntil deadline: HostTime, _ body: (AudioInput) -> Void) -> Bool {
        let event: Event? =
            state.wait(until: deadline) { state -> Event?? in
                if state.isInterrupted { return .some(nil) }
                return state.events.isEmpty ? nil : .some(state.events.removeFirst())
            } ?? nil
        switch event {
        case .none: return false
        case .flush: unsafe body(.flush)
        case .end: unsafe body(.endOfStream)
        case .drain: unsafe body(.drain(before: .invalid))
        case .reset: unsafe body(.reset)
        case .packet(let first, let gain):
            var packet = unsafe av_packet_alloc()
            unsafe av_new_packet(packet, Int32(Self.packetFrames * 4))
            unsafe packet!.pointee.data.withMemoryRebound(to: Float.self, capacity: Int(Self.packetFrames)) { samples in
                for i in 0..<Int(Self.packetFrames) { unsafe samples[i] = Float(first + Int64(i)) / 8_388_608 }
            }
            unsafe body(.packet(packet!, format, presentationTime: MediaTime(value: first, timescale: Int32(Self.rate)), gain: gain))
            unsafe av_packet_free(&packet)
        }
        return true
    }
    func flush() { state.change { $0.events = [.flush] } }
    func interrupt() { state.change { $0.isInterrupted = true } }
}

/// A sound card with a crystal of its own, which remembers what was heard and when.
final class TestCard: AudioOutputDevice, @unchecked Sendable {
    struct Piece: Sendable {
        var began: HostTime
        var samples: [Float]
    }
    struct Faults: Sendable {
        /// Parts per million fast.
        var drift = 0.0
        /// Between writing and hearing, beyond the buffer.
        var latency = 0.020
        /// Uniform error of the reported delay, in seconds.
        var jitter = 0.0
        /// Monotonic time at which it is unplugged, and at which it stands still.
        var lostAt: HostTime?
        var stallsAt: HostTime?
        /// Takes all and plays nothing, as ALSA's null.
        var swallows = false
        /// The card is a program's, which reads an exporter.
        var isProgram = false
    }
    struct Memory: Sendable {
        var pieces: [Piece] = []
        var faults = Faults()
        var underruns = 0
    }
    let configuration: DeviceConfiguration
    private let memory: Monitor<Memory>
    private var written: [Float] = []
    private var started: HostTime?
    private var generator = SystemRandomNumberGenerator()

    init(rate: Int, memory: Monitor<Memory>) {
        configuration = DeviceConfiguration(
            rate: rate, channelCount: 1, sampleFormat: .float32, channelOrder: [0], bufferFrames: rate / 5, periodFrames: rate / 40)
        self.memory = memory
    }

    private var faults: Faults { memory.withLock { $0.faults } }

    private func played(at time: HostTime) -> Double {
        guard let started else { return 0 }
        let faults = faults
        let time = min(time, faults.stallsAt ?? .distantFuture)
        return max(0, (time - started).seconds) * Double(configuration.rate) * (1 + faults.drift * 1e-6)
    }

    func prepare() throws(AudioError) {
        written = []
        started = nil
    }
    func start() throws(AudioError) { started = MonotonicClock.shared.now() }

    func write(_ bytes: UnsafeRawBufferPointer) throws(AudioError) -> Int {
        let frames = unsafe bytes.withMemoryRebound(to: Float.self) { unsafe Array($0) }
        let room = faults.swallows ? frames.count : configuration.bufferFrames - (written.count - Int(played(at: MonotonicClock.shared.now())))
        let count = max(0, min(frames.count, room))
        written += frames[..<count]
        return count
    }

    func position() throws(AudioError) -> DevicePosition {
        let faults = faults, now = MonotonicClock.shared.now()
        if let lost = faults.lostAt, now >= lost { throw AudioError(.lost, "the audio device 'test' failed: No such device", underlying: -19) }
        if faults.swallows { return DevicePosition(state: .running, delay: 0, available: configuration.bufferFrames, time: now) }
        let taken = played(at: now)
        if taken >= Double(written.count) {
            memory.withLock { $0.underruns += 1 }
            return DevicePosition(state: .underrun, delay: 0, available: 0, time: now)
        }
        let wobble = faults.jitter > 0 ? Double.random(in: -faults.jitter...faults.jitter, using: &generator) : 0
        let delay = Double(written.count) - taken + (faults.latency + wobble) * Double(configuration.rate)
        return DevicePosition(state: .running, delay: Int(delay), available: configuration.bufferFrames - (written.count - Int(taken)), time: now)
    }

    func drop() {
        guard let started else { return }
        let faults = faults
        let heard = max(0, min(written.count, Int(played(at: MonotonicClock.shared.now() - .seconds(faults.latency)))))
        let piece = Piece(began: started + .seconds(faults.latency), samples: Array(written[..<heard]))
        memory.withLock { $0.pieces.append(piece) }
        self.started = nil
    }
}

/// A program with a sound card of its own, which asks an exporter for more every 10 ms, and remembers what was heard.
final class ProgramCard: Sendable {
    let exporter: AudioExporter
    private let isStopped = Monitor(false)
    private let thread = Monitor<LoopThread?>(nil)

    init(memory: Monitor<TestCard.Memory>) throws {
        let rate = CountingSound.rate
        exporter = try AudioExporter(.asHeard(sampleRate: rate, channelCount: 1))
        #expect(exporter.claim())
        let faults = memory.withLock { $0.faults }, began = MonotonicClock.shared.now() + .seconds(faults.latency + 0.03)
        memory.withLock { $0.pieces = [TestCard.Piece(began: began, samples: [])] }
        let thread = LoopThread(name: "program") { [exporter, isStopped] in
            let speed = Double(rate) * (1 + faults.drift * 1e-6)
            var count = 0, block = [Float](repeating: 0, count: rate / 100)
            while !isStopped.withLock({ $0 }) {
                let moment = began + .seconds(Double(count) / speed)
                // 30 ms in the card.
                let wait = (moment - .seconds(faults.latency + 0.03) - MonotonicClock.shared.now()).seconds
                if wait > 0 { pause(wait) }
                let wobble = faults.jitter > 0 ? Double.random(in: -faults.jitter...faults.jitter) : 0
                _ = unsafe block.withUnsafeMutableBufferPointer { unsafe exporter.read(into: $0, heardAt: moment + .seconds(wobble)) }
                memory.withLock { [block] in $0.pieces[0].samples += block }
                count += block.count
            }
        }
        self.thread.withLock { $0 = thread }
    }

    func stop() {
        isStopped.withLock { $0 = true }
        thread.withLock { $0.take() }?.join()
        exporter.release()
    }
}

/// A timebase, a renderer and a card on it.
final class Rig {
    private let program: ProgramCard?
    let sound = CountingSound()
    let timebase = Timebase()
    let memory = Monitor(TestCard.Memory())
    let renderer: AudioRenderer
    var faults: TestCard.Faults {
        get { memory.withLock { $0.faults } }
        set { memory.withLock { $0.faults = newValue } }
    }

    init(faults: TestCard.Faults = .init(), onAudioClock: Bool = true) throws {
        let memory = memory
        memory.withLock { $0.faults = faults }
        program = try faults.isProgram ? ProgramCard(memory: memory) : nil
        if let program {
            renderer = try AudioRenderer(
                format: sound.format, source: sound, deviceName: "test", timebase: timebase, exporter: program.exporter)
        } else {
            renderer = try AudioRenderer(format: sound.format, source: sound, deviceName: "test", timebase: timebase) {
                rate, _ throws(AudioError) in TestCard(rate: rate, memory: memory)
            }
        }
        if onAudioClock { timebase.setSource(renderer.clock) }
    }

    deinit { program?.stop() }

    /// A sample heard: the film's time it carries, and when it was heard.
    struct Heard: Sendable {
        var film: Double
        var time: HostTime
    }

    /// Everything heard that is sound and not silence, nor a fade: samples that count on from the one before by about `speed`.
    func heard(speed: Double = 1) -> [Heard] {
        let drift = faults.drift
        var result: [Heard] = []
        for piece in memory.withLock({ $0.pieces }) {
            let values = piece.samples.map { Double($0) * 8_388_608 }
            for (index, value) in values.enumerated().dropFirst() where value > 0 {
                let step = value - values[index - 1]
                // In a fade the steps are in the thousands.
                guard speed == 1 ? abs(step - 1) < 0.25 : abs(step) < 300 else { continue }
                let time = piece.began + .seconds(Double(index) / Double(CountingSound.rate) / (1 + drift * 1e-6))
                result.append(Heard(film: value / Double(CountingSound.rate), time: time))
            }
        }
        return result
    }
}

func pause(_ seconds: Double) { Thread.sleep(forTimeInterval: seconds) }

/// When something was done: between two readings of the clock, which a busy machine may take apart.
struct Moment {
    let before, after: HostTime

    init(_ body: () -> Void) {
        before = MonotonicClock.shared.now()
        body()
        after = MonotonicClock.shared.now()
    }

    /// Whether so many seconds can have passed from `begin` to this moment.
    func isElapsed(_ seconds: Double, since begin: Moment, within limit: Double) -> Bool {
        seconds > (before - begin.after).seconds - limit && seconds < (after - begin.before).seconds + limit
    }
}
