internal import CALSA
internal import Glibc
internal import Media

/// Negotiates with a microphone: sample format, channels, rate, buffer, time stamps.
@unsafe
struct MicrophoneSetup {
    let name: String
    let pcm: OpaquePointer

    /// What was agreed upon.
    struct Answer {
        var format: AudioCaptureFormat
        /// Channels of the device.
        var channelCount: Int
        var bufferFrames: Int
    }

    /// 1 s in the device: a busy machine may come late. It is read every 20 ms all the same.
    private static let bufferMicroseconds: UInt32 = 1_000_000
    private static let periodMicroseconds: UInt32 = 20_000

    /// The best first: floats need no rounding, and the fewer bits the worse.
    private static let formats: [(snd_pcm_format_t, AudioCaptureSampleFormat)] = [
        (SND_PCM_FORMAT_FLOAT, .float32), (SND_PCM_FORMAT_S32, .int32), (SND_PCM_FORMAT_S24_3LE, .int24packed), (SND_PCM_FORMAT_S24, .int24),
        (SND_PCM_FORMAT_S16, .int16),
    ]

    func capabilities() throws(CaptureError) -> AudioCaptureCapabilities {
        try unsafe withHardware { hardware throws(CaptureError) in
            var lowest: UInt32 = 0, highest: UInt32 = 0, fewest: UInt32 = 0, most: UInt32 = 0
            unsafe snd_pcm_hw_params_get_rate_min(hardware, &lowest, nil)
            unsafe snd_pcm_hw_params_get_rate_max(hardware, &highest, nil)
            unsafe snd_pcm_hw_params_get_channels_min(hardware, &fewest)
            unsafe snd_pcm_hw_params_get_channels_max(hardware, &most)
            return AudioCaptureCapabilities(
                sampleFormats: unsafe Self.formats.filter { unsafe snd_pcm_hw_params_test_format(pcm, hardware, $0.0) >= 0 }.map(\.1),
                sampleRates: Int(lowest)...Int(max(lowest, highest)), channelCounts: Int(fewest)...Int(max(fewest, most)))
        }
    }

    func negotiate(_ request: AudioCaptureRequest) throws(CaptureError) -> Answer {
        let (format, rate, channels) = try unsafe withHardware { hardware throws(CaptureError) in
            try unsafe check(snd_pcm_hw_params_set_access(pcm, hardware, SND_PCM_ACCESS_RW_INTERLEAVED), "gives no interleaved sound")
            let format = unsafe Self.formats.first { unsafe snd_pcm_hw_params_set_format(pcm, hardware, $0.0) >= 0 }?.1
            guard let format else {
                throw CaptureError(.unsupported, "\(unsafe name): the microphone has no sample format that is read; try 'plug\(unsafe name)'.")
            }
            var rate = UInt32(request.sampleRate), channels = UInt32(request.channelCount)
            var period = unsafe Self.periodMicroseconds, buffer = unsafe Self.bufferMicroseconds
            try unsafe check(snd_pcm_hw_params_set_channels_near(pcm, hardware, &channels), "has no \(channels) channels")
            try unsafe check(snd_pcm_hw_params_set_rate_near(pcm, hardware, &rate, nil), "has no rate near \(rate) Hz")
            unsafe snd_pcm_hw_params_set_period_time_near(pcm, hardware, &period, nil)
            unsafe snd_pcm_hw_params_set_buffer_time_near(pcm, hardware, &buffer, nil)
            try unsafe check(snd_pcm_hw_params(pcm, hardware), "refuses the configuration")
            return (format, Int(rate), Int(channels))
        }
        var bufferFrames = snd_pcm_uframes_t(), periodFrames = snd_pcm_uframes_t()
        try unsafe check(snd_pcm_get_params(pcm, &bufferFrames, &periodFrames), "does not tell its buffer")
        try unsafe check(calsa_start_on_request(pcm), "refuses the software configuration")
        let kept = min(channels, request.channelCount)
        return Answer(
            format: AudioCaptureFormat(sampleRate: rate, channelCount: kept, sampleFormat: format), channelCount: channels,
            bufferFrames: Int(bufferFrames))
    }

    private func withHardware<R>(_ body: (OpaquePointer) throws(CaptureError) -> R) throws(CaptureError) -> R {
        var allocated: OpaquePointer?
        guard unsafe snd_pcm_hw_params_malloc(&allocated) >= 0, let hardware = unsafe allocated else {
            throw CaptureError(.system, "\(unsafe name): there is no memory.")
        }
        defer { unsafe snd_pcm_hw_params_free(hardware) }
        try unsafe check(snd_pcm_hw_params_any(pcm, hardware), "has no configuration")
        // The rate of the microphone itself: a plugin's own resampler would hide it.
        unsafe snd_pcm_hw_params_set_rate_resample(pcm, hardware, 0)
        return try unsafe body(hardware)
    }

    private func check(_ result: Int32, _ what: String) throws(CaptureError) {
        guard result < 0 else { return }
        if result == -ENODEV { throw .microphone(unsafe name, result, what, isOpen: true) }
        throw CaptureError(.unsupported, "\(unsafe name): the microphone \(what): \(CaptureError.reason(result)).")
    }
}
