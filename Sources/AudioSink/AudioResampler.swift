package import CAV
package import Media
package import SoundDecoding

/// Converts decoded sound to the format that is mixed and played: interleaved floats at the device's rate with the device's
/// number of channels. libswresample converts; sound that is already in the device's format passes bit for bit.
///
/// Thread-safety: none; one thread.
@safe
package final class AudioResampler {
    package let rate: Int
    package let channelCount: Int
    /// Whether `correct` may be called; then also sound in the right format passes a filter.
    private let isCorrectable: Bool
    private var context: OpaquePointer?
    private var input = unsafe AVChannelLayout()
    private var inputRate: Int32 = 0
    private var inputFormat = AV_SAMPLE_FMT_NONE
    private var scratch: [Float] = []

    package init(rate: Int, channelCount: Int, isCorrectable: Bool = false) {
        self.rate = rate
        self.channelCount = channelCount
        self.isCorrectable = isCorrectable
    }

    deinit {
        unsafe swr_free(&context)
        unsafe av_channel_layout_uninit(&input)
    }

    /// Converts one frame, or with nil puts out what the filter still holds. `output` gets whole frames of floats and the time of the
    /// first: that of the input minus the sound that the filter still held; `.invalid` when the frame has no time. What becomes much longer, as
    /// sound of a low rate does, comes in pieces; `output` returns false when it wants no more of them, and then `flush` follows.
    package func convert(_ frame: UnsafePointer<AVFrame>?, _ output: (UnsafeBufferPointer<Float>, MediaTime) -> Bool) throws(AudioError) {
        if let frame = unsafe frame { try unsafe prepare(for: frame) }
        guard let context = unsafe context else { return }
        let held = MediaTime(nanoseconds: unsafe swr_get_delay(context, 1_000_000_000))
        var count = unsafe frame?.pointee.nb_samples ?? 0
        let all = unsafe swr_get_out_samples(context, count), room = min(all, Self.largestPiece)
        guard room > 0 else { return }
        if scratch.count < Int(room) * channelCount { scratch = [Float](repeating: 0, count: Int(room) * channelCount) }
        let pts = unsafe frame?.pointee.pts ?? cav_nopts_value
        var time = pts == cav_nopts_value ? .invalid : MediaTime(nanoseconds: pts) - held
        let channels = channelCount
        unsafe scratch.withUnsafeMutableBytes { bytes in
            var place = unsafe bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
            let planes = unsafe frame.flatMap { unsafe UnsafeMutableRawPointer($0.pointee.extended_data) }
            var made: Int32
            repeat {
                // The converter keeps the input that it has no room for; no input then asks for the rest.
                made = unsafe swr_convert(context, &place, room, planes?.assumingMemoryBound(to: UnsafePointer<UInt8>?.self), count)
                count = 0
                guard made > 0 else { return }
                let piece = unsafe UnsafeBufferPointer(start: bytes.baseAddress!.assumingMemoryBound(to: Float.self), count: Int(made) * channels)
                guard unsafe output(piece, time) else { return }
                time = time + MediaTime(value: Int64(made), timescale: Int32(rate))
            } while all > room && made == room
        }
    }

    /// Frames of output: many times what a packet of usual sound becomes, which so comes in one piece.
    private static let largestPiece: Int32 = 1 << 16

    /// Makes the next `frames` of output out of so much less input that they are `delta` more than they would be; below 0, out of more. 0 ends a
    /// correction. The corresponding C function is `swr_set_compensation`.
    package func correct(by delta: Int, over frames: Int) {
        guard isCorrectable, let context = unsafe context else { return }
        unsafe swr_set_compensation(context, Int32(clamping: delta), delta == 0 ? 0 : Int32(clamping: frames))
    }

    /// Frames of output that the filter still holds.
    package var heldFrameCount: Int64 {
        guard let context = unsafe context else { return 0 }
        return unsafe swr_get_delay(context, Int64(rate))
    }

    /// Discards what the filter holds.
    package func flush() { unsafe swr_free(&context) }

    /// Sets the converter up again when the sound's format has changed, as it may in the middle of a broadcast.
    private func prepare(for frame: UnsafePointer<AVFrame>) throws(AudioError) {
        var layout = unsafe AVChannelLayout()
        defer { unsafe av_channel_layout_uninit(&layout) }
        if unsafe frame.pointee.ch_layout.order == AV_CHANNEL_ORDER_UNSPEC {
            unsafe av_channel_layout_default(&layout, frame.pointee.ch_layout.nb_channels)
        } else {
            unsafe withUnsafePointer(to: frame.pointee.ch_layout) { _ = unsafe av_channel_layout_copy(&layout, $0) }
        }
        let rate = unsafe frame.pointee.sample_rate, format = unsafe AVSampleFormat(rawValue: frame.pointee.format)
        if unsafe context != nil, rate == inputRate, format == inputFormat, unsafe av_channel_layout_compare(&layout, &input) == 0 { return }
        unsafe swr_free(&context)
        var target = unsafe AVChannelLayout()
        defer { unsafe av_channel_layout_uninit(&target) }
        if let name = ChannelOrder.layoutName(channelCount) {
            unsafe av_channel_layout_from_string(&target, name)
        } else {
            unsafe av_channel_layout_default(&target, Int32(channelCount))
        }
        var result = unsafe swr_alloc_set_opts2(&context, &target, AV_SAMPLE_FMT_FLT, Int32(self.rate), &layout, format, rate, 0, nil)
        if result >= 0 { result = unsafe swr_init(context) }
        // Sets up the filter, which would begin in the middle of the sound otherwise.
        if result >= 0, isCorrectable { result = unsafe swr_set_compensation(context, 0, 0) }
        guard result >= 0 else {
            unsafe swr_free(&context)
            throw AudioError(.unsupportedFormat, "the sound cannot be converted for the audio device: \(describeAVError(result))", underlying: result)
        }
        inputRate = rate
        inputFormat = format
        unsafe av_channel_layout_uninit(&input)
        unsafe av_channel_layout_copy(&input, &layout)
    }
}
