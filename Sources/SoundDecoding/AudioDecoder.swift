package import CAV
package import Media

/// Decodes a track's packets to frames of sound with libavcodec, and removes the encoder's padding.
///
/// Side data in the packets marks priming samples and the padding at the end
/// (`AV_PKT_DATA_SKIP_SAMPLES`); libavcodec cuts them and moves the time stamps accordingly, because the decoder is told
/// the packets' time base.
///
/// Thread-safety: none; one thread.
@safe
package final class AudioDecoder: SoundDecoder {
    package let format: AudioFormat
    private var context: UnsafeMutablePointer<AVCodecContext>?
    private var frame: UnsafeMutablePointer<AVFrame>?
    private var packet: UnsafeMutablePointer<AVPacket>?
    /// Packets that the decoder refused; playback goes on after them.
    package private(set) var damagedPackets = 0

    /// Opens libavcodec's decoder for the track. The corresponding C function is `avcodec_open2`.
    package init(format: AudioFormat) throws(AudioError) {
        self.format = format
        let name = format.codecName
        let codec = try unsafe Self.codec(for: format)
        unsafe context = avcodec_alloc_context3(codec)
        unsafe frame = av_frame_alloc()
        unsafe packet = av_packet_alloc()
        guard let context = unsafe context else { throw AudioError(.system, "no memory for a sound decoder") }
        unsafe context.pointee.sample_rate = format.sampleRate
        unsafe context.pointee.bits_per_coded_sample = format.bitsPerCodedSample
        unsafe context.pointee.block_align = format.blockAlign
        unsafe context.pointee.bit_rate = format.bitRate
        unsafe context.pointee.profile = format.profile
        unsafe context.pointee.codec_tag = format.codecTag
        unsafe context.pointee.frame_size = format.frameSize
        // Nanoseconds: samples carry media times, which are no longer in the container's units.
        unsafe context.pointee.pkt_timebase = AVRational(num: 1, den: 1_000_000_000)
        let isNamed = unsafe !format.channelLayout.isEmpty && av_channel_layout_from_string(&context.pointee.ch_layout, format.channelLayout) >= 0
        // The layout's name may count other channels than the track says that it has.
        let namedCount = unsafe context.pointee.ch_layout.nb_channels
        if !isNamed || namedCount != format.channelCount {
            unsafe av_channel_layout_uninit(&context.pointee.ch_layout)
            unsafe av_channel_layout_default(&context.pointee.ch_layout, format.channelCount)
        }
        if !format.configuration.isEmpty {
            let padding = Int(AV_INPUT_BUFFER_PADDING_SIZE)
            guard let memory = unsafe av_mallocz(format.configuration.count + padding) else {
                throw AudioError(.system, "no memory for a sound decoder")
            }
            unsafe format.configuration.withUnsafeBytes { unsafe memory.copyMemory(from: $0.baseAddress!, byteCount: $0.count) }
            unsafe context.pointee.extradata = unsafe memory.assumingMemoryBound(to: UInt8.self)
            unsafe context.pointee.extradata_size = Int32(format.configuration.count)
        }
        let result = unsafe avcodec_open2(context, codec, nil)
        guard result >= 0 else {
            throw AudioError(.noDecoder, "the decoder '\(name)' refused the sound track: \(describeAVError(result))", underlying: result)
        }
    }

    /// Whether libavcodec knows the format, and it is one that is played; cheaper than opening the decoder.
    package static func check(_ format: AudioFormat) throws(AudioError) {
        try SoundBounds.check(rate: Int(format.sampleRate), channelCount: Int(format.channelCount))
        _ = try unsafe codec(for: format)
    }

    private static func codec(for format: AudioFormat) throws(AudioError) -> UnsafePointer<AVCodec> {
        // A track of sound may name any decoder of libavcodec's, also one for frames.
        guard let descriptor = unsafe avcodec_descriptor_get_by_name(format.codecName), unsafe descriptor.pointee.type == AVMEDIA_TYPE_AUDIO,
            let codec = unsafe avcodec_find_decoder(descriptor.pointee.id)
        else { throw AudioError(.noDecoder, "no decoder for the sound's format '\(format.codecName)'") }
        return unsafe codec
    }

    deinit {
        unsafe avcodec_free_context(&context)
        unsafe av_frame_free(&frame)
        unsafe av_packet_free(&packet)
    }

    /// Decodes one packet, sharing its data without a copy, and passes each frame to `output`, which borrows it.
    package func decode(_ source: UnsafePointer<AVPacket>, presentationTime: MediaTime, _ output: (UnsafePointer<AVFrame>) -> Bool) {
        guard let packet = unsafe packet, unsafe av_packet_ref(packet, source) >= 0 else { return }
        unsafe packet.pointee.pts = presentationTime.nanoseconds() ?? cav_nopts_value
        unsafe packet.pointee.dts = cav_nopts_value
        unsafe packet.pointee.time_base = AVRational(num: 1, den: 1_000_000_000)
        unsafe packet.pointee.duration = 0
        unsafe send(packet, output)
        unsafe av_packet_unref(packet)
    }

    /// Nothing is held back: the sound of a packet comes with it.
    package func settle(_ output: (UnsafePointer<AVFrame>) -> Bool) {}

    /// Puts out what the decoder still holds; it then takes packets again.
    package func drain(_ output: (UnsafePointer<AVFrame>) -> Bool) {
        unsafe send(nil, output)
        flush()
    }

    /// Discards what the decoder holds, before packets from elsewhere in the track.
    package func flush() { unsafe avcodec_flush_buffers(context) }

    /// `output` answers whether to go on.
    private func send(_ packet: UnsafeMutablePointer<AVPacket>?, _ output: (UnsafePointer<AVFrame>) -> Bool) {
        guard let context = unsafe context, let frame = unsafe frame else { return }
        var result = unsafe avcodec_send_packet(context, packet)
        // Every frame is fetched after every packet, so the decoder is never full.
        if result < 0, result != cav_error_eof { damagedPackets += 1 }
        while true {
            result = unsafe avcodec_receive_frame(context, frame)
            guard result >= 0 else { break }
            defer { unsafe av_frame_unref(frame) }
            // A damaged track may say neither how fast its samples follow each other nor of which channels they are.
            guard unsafe frame.pointee.sample_rate > 0, unsafe frame.pointee.ch_layout.nb_channels > 0 else {
                damagedPackets += 1
                continue
            }
            let goOn = unsafe output(frame)
            if !goOn { break }
        }
    }
}

package func describeAVError(_ code: Int32) -> String {
    var text = [CChar](repeating: 0, count: 128)
    unsafe av_strerror(code, &text, text.count)
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
}
