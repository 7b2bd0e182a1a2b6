internal import CAV
internal import Media

/// How the samples of a frame of sound lie in memory.
struct SoundShape {
    let format: AVSampleFormat
    let rate: Int32
    let channelCount: Int32
    /// `AVChannelOrder`; never one that names each channel, whose names lie in other memory.
    let channelOrder: UInt32
    let channelMask: UInt64
    /// 1, or as many as channels.
    let planeCount: Int
    /// Of all channels of one frame.
    let bytesInFrame: Int

    /// - Throws: When the sound is beyond what is played (`SoundBounds`).
    init(_ frame: UnsafePointer<AVFrame>) throws(AudioError) {
        let layout = unsafe frame.pointee.ch_layout
        let order = unsafe layout.order, isNamed = order == AV_CHANNEL_ORDER_CUSTOM
        try self.init(
            format: unsafe frame.pointee.format, rate: unsafe frame.pointee.sample_rate, channelCount: unsafe layout.nb_channels,
            channelOrder: isNamed ? AV_CHANNEL_ORDER_UNSPEC.rawValue : order.rawValue, channelMask: isNamed ? 0 : unsafe layout.u.mask)
    }

    init(format: Int32, rate: Int32, channelCount: Int32, channelOrder: UInt32, channelMask: UInt64) throws(AudioError) {
        let kind = AVSampleFormat(rawValue: format)
        let bytes = Int(av_get_bytes_per_sample(kind))
        guard bytes > 0, rate > 0, channelCount > 0 else { throw AudioError(.unsupportedFormat, "the sound has no samples") }
        try SoundBounds.check(rate: Int(rate), channelCount: Int(channelCount))
        self.format = kind
        self.rate = rate
        self.channelCount = channelCount
        self.channelOrder = channelOrder
        self.channelMask = channelMask
        planeCount = av_sample_fmt_is_planar(kind) != 0 ? Int(channelCount) : 1
        bytesInFrame = bytes * Int(channelCount)
    }
}
