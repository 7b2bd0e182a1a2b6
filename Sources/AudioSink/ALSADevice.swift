internal import CALSA
internal import Glibc
internal import Media

/// A PCM of the Advanced Linux Sound Architecture, opened for playback: `default` reaches PipeWire and PulseAudio where they run.
///
/// Thread-safety: none; one thread.
@safe
package final class ALSADevice: AudioOutputDevice {
    private let name: String
    private let pcm: OpaquePointer
    private let status: OpaquePointer
    package let configuration: DeviceConfiguration

    /// Opens `name` for about `rate` and `channelCount`. The corresponding C functions are `snd_pcm_open`, `snd_pcm_hw_params`
    /// and `snd_pcm_sw_params`.
    package init(name: String, rate: Int, channelCount: Int) throws(AudioError) {
        if let missing = LateLibrary.missing("asound") { throw AudioError(.cannotOpen, "cannot open a sound device: \(missing)") }
        calsa_silence_library()
        var opened: OpaquePointer?
        // Without SND_PCM_NO_AUTO_CHANNELS a `plug` takes any number of channels and drops those that the card has no speaker for.
        let mode = Int32(SND_PCM_NONBLOCK) | SND_PCM_NO_AUTO_CHANNELS
        let result = unsafe snd_pcm_open(&opened, name, SND_PCM_STREAM_PLAYBACK, mode)
        guard result >= 0, let pcm = unsafe opened else {
            throw AudioError(.cannotOpen, "cannot open the audio device '\(name)': \(Self.reason(result))", underlying: result)
        }
        do {
            configuration = try unsafe ALSASetup(name: name, pcm: pcm).negotiate(rate: rate, channelCount: channelCount)
        } catch {
            unsafe snd_pcm_close(pcm)
            throw error
        }
        var allocated: OpaquePointer?
        unsafe snd_pcm_status_malloc(&allocated)
        unsafe status = allocated!
        unsafe self.pcm = pcm
        self.name = name
    }

    deinit {
        unsafe snd_pcm_status_free(status)
        unsafe snd_pcm_close(pcm)
    }

    package func prepare() throws(AudioError) { try check(unsafe snd_pcm_prepare(pcm)) }

    package func start() throws(AudioError) { try check(unsafe snd_pcm_start(pcm)) }

    package func drop() { unsafe snd_pcm_drop(pcm) }

    package func write(_ bytes: UnsafeRawBufferPointer) throws(AudioError) -> Int {
        let frames = bytes.count / (configuration.channelCount * configuration.sampleFormat.byteCount)
        let written = unsafe snd_pcm_writei(pcm, bytes.baseAddress, UInt(frames))
        // No room, or an underrun or suspend that `position` will report.
        if [-Int(EAGAIN), -Int(EPIPE), -Int(ESTRPIPE)].contains(written) { return 0 }
        try check(Int32(truncatingIfNeeded: min(written, 0)))
        return written
    }

    package func position() throws(AudioError) -> DevicePosition {
        let result = unsafe snd_pcm_status(pcm, status)
        switch result == -EPIPE ? SND_PCM_STATE_XRUN : unsafe snd_pcm_status_get_state(status) {
        case SND_PCM_STATE_RUNNING, SND_PCM_STATE_DRAINING, SND_PCM_STATE_PREPARED: break
        case SND_PCM_STATE_SUSPENDED, SND_PCM_STATE_PAUSED:
            return DevicePosition(state: .suspended, delay: 0, available: 0, time: MonotonicClock.shared.now())
        case SND_PCM_STATE_DISCONNECTED: throw lost(-ENODEV)
        default: return DevicePosition(state: .underrun, delay: 0, available: 0, time: MonotonicClock.shared.now())
        }
        try check(result)
        let now = MonotonicClock.shared.now()
        var stamp = snd_htimestamp_t()
        unsafe snd_pcm_status_get_htstamp(status, &stamp)
        let stamped = HostTime(nanoseconds: Int64(stamp.tv_sec) * 1_000_000_000 + Int64(stamp.tv_nsec))
        // A plugin may use another clock, or give no time stamp: take the present time.
        let sane = stamped <= now && now - stamped < .seconds(1)
        return DevicePosition(
            state: .running, delay: Int(unsafe snd_pcm_status_get_delay(status)), available: Int(unsafe snd_pcm_status_get_avail(status)),
            time: sane ? stamped : now)
    }

    private func check(_ result: Int32) throws(AudioError) {
        if result < 0 { throw lost(result) }
    }

    private func lost(_ result: Int32) -> AudioError {
        AudioError(.lost, "the audio device '\(name)' failed: \(Self.reason(result))", underlying: result)
    }

    static func reason(_ result: Int32) -> String { unsafe String(cString: snd_strerror(result)) }
}
