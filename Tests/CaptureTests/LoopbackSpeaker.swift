import CALSA
import Capture
import Foundation
import Media
import TestSupport
import Testing

/// The kernel's sound card whose output is its own input, snd-aloop, in the lab's virtual machine.
enum Loopback {
    static let isHere = ProcessInfo.processInfo.environment["LAB"] == "1"
    static let microphone = "hw:CARD=Loopback,DEV=1", speaker = "hw:CARD=Loopback,DEV=0"

    /// Makes the card when it is first asked for, and waits until it is there.
    static func make() throws {
        if !isThere { Shell.run("modprobe snd-aloop || echo snd_aloop.0 >/sys/bus/platform/drivers/snd_aloop/bind") }
        try #require(Polling.until { isThere }, "the sound card does not come")
    }

    private static var isThere: Bool { AudioCaptureDevice.all().contains { $0.identifier == microphone } }

    /// Takes the card from its driver, as if it were unplugged. The kernel waits until every program has let go of it.
    static func unplug() { Shell.run("(echo snd_aloop.0 >/sys/bus/platform/drivers/snd_aloop/unbind) >/dev/null 2>&1 &") }

    /// Gives it back.
    static func plug() throws {
        try #require(Polling.until { AudioCaptureDevice.findings().isEmpty })
        Shell.run("echo snd_aloop.0 >/sys/bus/platform/drivers/snd_aloop/bind")
        try make()
    }

    /// Lets the card's crystal run at this rate, in hundred thousandths.
    static func setRate(_ rate: Int) throws {
        var control: OpaquePointer?, value: OpaquePointer?
        try #require(unsafe snd_ctl_open(&control, "hw:CARD=Loopback", 0) >= 0)
        defer { unsafe snd_ctl_close(control) }
        try #require(unsafe snd_ctl_elem_value_malloc(&value) >= 0)
        defer { unsafe snd_ctl_elem_value_free(value) }
        unsafe snd_ctl_elem_value_set_interface(value, SND_CTL_ELEM_IFACE_PCM)
        unsafe snd_ctl_elem_value_set_name(value, "PCM Rate Shift 100000")
        unsafe snd_ctl_elem_value_set_device(value, 1)
        unsafe snd_ctl_elem_value_set_subdevice(value, 0)
        unsafe snd_ctl_elem_value_set_integer(value, 0, rate)
        try #require(unsafe snd_ctl_elem_write(control, value) >= 0)
    }
}

/// Plays beeps into the loop-back, at distances that do not come again soon, and knows when each was heard.
final class LoopbackSpeaker: @unchecked Sendable {
    private static let rate = 48_000
    /// Frames that are written at once, 50 ms: whole periods of the tone.
    private static let piece = 2400
    private static let silence = [Float](repeating: 0, count: piece * 2)
    private static let tone = (0..<piece * 2).map { place -> Float in
        let phase = 2 * Double.pi * 1000 * Double(place / 2) / Double(rate)
        return Float(0.5 * sin(phase))
    }

    private struct Shared: Sendable {
        /// A frame, and when it was heard.
        var heard: [(frame: Double, time: HostTime)] = []
        /// The frame with which it began to play, the last time: a machine that has no turn for it for two seconds lets the device run dry.
        var first = 0
        var isStopping = false
        var failure: String?
    }
    private let shared = Monitor(Shared())
    private var thread: LoopThread?

    /// The piece with which a beep begins; it lasts two.
    private static func beginning(ofBeep number: Int) -> Int { 20 * number + 10 + number * 3 % 7 }

    /// Begins to play. It can be recorded when this returns.
    init() throws {
        var opened: OpaquePointer?
        try #require(unsafe snd_pcm_open(&opened, Loopback.speaker, SND_PCM_STREAM_PLAYBACK, 0) >= 0)
        let pcm = Int(bitPattern: opened)
        // 2 s in the device: the machine may have other things to do.
        let result = unsafe snd_pcm_set_params(opened, SND_PCM_FORMAT_FLOAT, SND_PCM_ACCESS_RW_INTERLEAVED, 2, UInt32(Self.rate), 0, 2_000_000)
        guard result >= 0 else {
            unsafe snd_pcm_close(opened)
            throw CaptureError.microphone(Loopback.speaker, result, "set up the speaker", isOpen: true)
        }
        thread = LoopThread(name: "speaker") { [shared] in
            let pcm = unsafe OpaquePointer(bitPattern: pcm)
            // Before encoders and cameras: what is heard must not stop because the machine is busy. Only root may; others do without.
            var priority = sched_param(sched_priority: 10)
            _ = unsafe pthread_setschedparam(pthread_self(), SCHED_FIFO, &priority)
            var written = 0, beep = 0
            while !shared.withLock({ $0.isStopping }) {
                let piece = written / Self.piece
                if piece >= Self.beginning(ofBeep: beep) + 2 { beep += 1 }
                let isBeep = piece >= Self.beginning(ofBeep: beep)
                let result = unsafe Self.write(isBeep ? Self.tone : Self.silence, to: pcm)
                if result == -Int(EPIPE), unsafe snd_pcm_prepare(pcm) >= 0 {
                    // What was told before lies on another line.
                    shared.change { ($0.heard, $0.first) = ([], written) }
                    continue
                }
                guard result > 0 else {
                    shared.change { $0.failure = "the speaker gave up: \(result)" }
                    break
                }
                written += Self.piece
                guard unsafe snd_pcm_state(pcm) == SND_PCM_STATE_RUNNING else { continue }
                var delay = 0
                let before = MonotonicClock.shared.now(), told = unsafe snd_pcm_delay(pcm, &delay), after = MonotonicClock.shared.now()
                // Not where this thread was paused between the two.
                if told >= 0, after - before < .milliseconds(2) { shared.change { $0.heard.append((Double(written - delay), before)) } }
            }
            unsafe snd_pcm_drop(pcm)
            unsafe snd_pcm_close(pcm)
        }
        _ = shared.wait(until: MonotonicClock.shared.now() + .seconds(60)) { $0.heard.count >= 3 || $0.failure != nil ? true : nil }
    }

    /// Writes the piece, of which the device may take a part at a time. Returns ALSA's answer to the last part: 0 or less where it takes no more.
    private static func write(_ piece: [Float], to pcm: OpaquePointer?) -> Int {
        unsafe piece.withUnsafeBufferPointer { samples in
            var done = 0, result = 0
            repeat {
                result = unsafe snd_pcm_writei(pcm, samples.baseAddress! + done * 2, UInt(Self.piece - done))
                done += max(result, 0)
            } while result > 0 && done < Self.piece
            return result
        }
    }

    /// The shortest time between the beginnings of two beeps, in seconds.
    static let shortestDistance: Double = {
        let pieces: [Int] = (1...7).map { beginning(ofBeep: $0) - beginning(ofBeep: $0 - 1) }
        return Double((pieces.min() ?? 0) * piece) / Double(rate)
    }()

    /// What the card told while it played.
    struct Heard {
        /// When each beep was heard, by a line through what the card told; those since it began to play the last time.
        var beeps: [HostTime]
        /// How much faster than CLOCK_MONOTONIC the card ran.
        var drift: Double
        /// Seconds by which the card's clock was off that line at most: it moves with the kernel's ticks, which a busy machine gives late.
        var jitter: Double
    }

    /// Stops and returns what was heard.
    func stop() throws -> Heard {
        shared.change { $0.isStopping = true }
        thread?.join()
        let (heard, first, failure) = shared.withLock { ($0.heard, Double($0.first) / Double(Self.rate), $0.failure) }
        try #require(failure == nil && heard.count >= 10, "\(failure ?? "the speaker told too little")")
        let origin = heard[0].time, x = heard.map { $0.frame / Double(Self.rate) }, y = heard.map { ($0.time - origin).seconds }
        let count = Double(x.count), meanX = x.reduce(0, +) / count, meanY = y.reduce(0, +) / count
        let slope = zip(x, y).reduce(0) { $0 + ($1.0 - meanX) * ($1.1 - meanY) } / x.reduce(0) { $0 + ($1 - meanX) * ($1 - meanX) }
        let last = x.last ?? 0
        let beeps = (0...Int(last)).map { Double(Self.beginning(ofBeep: $0) * Self.piece) / Double(Self.rate) }
            .filter { $0 >= first && $0 + 0.1 < last }
        let jitter = zip(x, y).map { abs($1 - meanY - slope * ($0 - meanX)) }.max() ?? 0
        return Heard(beeps: beeps.map { origin + .seconds(meanY + slope * ($0 - meanX)) }, drift: 1 / slope - 1, jitter: jitter)
    }
}
