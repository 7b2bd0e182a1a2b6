internal import CALSA
internal import Glibc

/// Negotiates with a device: sample format, channels, rate, buffer, time stamps, speaker order.
@unsafe
struct ALSASetup {
    let name: String
    let pcm: OpaquePointer

    /// 200 ms in the device: wake-ups stay rare and a busy machine does not stutter. Stopping drops it, so it costs no delay.
    private static let bufferMicroseconds: UInt32 = 200_000
    private static let periodMicroseconds: UInt32 = 25_000

    func negotiate(rate: Int, channelCount: Int) throws(AudioError) -> DeviceConfiguration {
        var allocated: OpaquePointer?
        unsafe snd_pcm_hw_params_malloc(&allocated)
        let hardware = unsafe allocated!
        defer { unsafe snd_pcm_hw_params_free(hardware) }
        try unsafe check(snd_pcm_hw_params_any(pcm, hardware), "has no configuration")
        try unsafe check(snd_pcm_hw_params_set_access(pcm, hardware, SND_PCM_ACCESS_RW_INTERLEAVED), "takes no interleaved sound")
        let format = try unsafe sampleFormat(hardware)
        var channels = UInt32(channelCount), hertz = UInt32(rate)
        try unsafe check(snd_pcm_hw_params_set_channels_near(pcm, hardware, &channels), "takes no \(channelCount) channels")
        try unsafe check(snd_pcm_hw_params_set_rate_near(pcm, hardware, &hertz, nil), "takes no rate near \(rate) Hz")
        var period = unsafe Self.periodMicroseconds, buffer = unsafe Self.bufferMicroseconds
        unsafe snd_pcm_hw_params_set_period_time_near(pcm, hardware, &period, nil)
        unsafe snd_pcm_hw_params_set_buffer_time_near(pcm, hardware, &buffer, nil)
        try unsafe check(snd_pcm_hw_params(pcm, hardware), "refused the configuration")
        var bufferFrames = snd_pcm_uframes_t(), periodFrames = snd_pcm_uframes_t()
        try unsafe check(snd_pcm_get_params(pcm, &bufferFrames, &periodFrames), "does not tell its buffer")
        try unsafe check(calsa_start_on_request(pcm), "refused the software configuration")
        return DeviceConfiguration(
            rate: Int(hertz), channelCount: Int(channels), sampleFormat: format, channelOrder: unsafe channelOrder(Int(channels)),
            bufferFrames: Int(bufferFrames), periodFrames: Int(periodFrames))
    }

    private func sampleFormat(_ hardware: OpaquePointer) throws(AudioError) -> DeviceSampleFormat {
        for (format, ours) in [(SND_PCM_FORMAT_FLOAT, .float32), (SND_PCM_FORMAT_S32, .int32), (SND_PCM_FORMAT_S16, .int16)]
            as [(snd_pcm_format_t, DeviceSampleFormat)]
        {
            if unsafe snd_pcm_hw_params_set_format(pcm, hardware, format) >= 0 { return ours }
        }
        throw AudioError(
            .unsupportedFormat, "the audio device '\(unsafe name)' takes none of float, 32-bit and 16-bit samples; try 'plug\(unsafe name)'")
    }

    /// Mono and stereo have one order. With more channels the device's channel map says where each speaker is; without one, ALSA's convention does.
    private func channelOrder(_ count: Int) -> [Int] {
        let identity = Array(0..<count)
        guard count > 2, let native = ChannelOrder.native(count) else { return identity }
        var device = ChannelOrder.customary(count)
        if let map = unsafe snd_pcm_get_chmap(pcm) {
            if unsafe Int(map.pointee.channels) == count {
                // `pos`, a flexible array member that Swift does not import, follows the count.
                let places = unsafe UnsafeRawPointer(map).advanced(by: MemoryLayout<UInt32>.size).assumingMemoryBound(to: UInt32.self)
                device = (0..<count).map { unsafe ChannelOrder.Speaker(alsa: places[$0]) }
            }
            unsafe free(map)
        }
        return ChannelOrder.permutation(from: native, to: device) ?? identity
    }

    private func check(_ result: Int32, _ what: String) throws(AudioError) {
        guard result < 0 else { return }
        throw AudioError(.unsupportedFormat, "the audio device '\(unsafe name)' \(what): \(ALSADevice.reason(result))", underlying: result)
    }
}
