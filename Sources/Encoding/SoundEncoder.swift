internal import CAV
internal import Media
internal import SampleQueue

/// An open libavcodec encoder of sound, in the first form of samples that it takes.
///
/// Thread-safety: one thread at a time.
@safe
final class SoundEncoder {
    let name: String
    /// What the samples are.
    private(set) var format: AudioFormat
    /// Whether decoding gives the last sample's padding back: every codec but the lossless ones, whose last sample is shorter.
    let padsLastSample: Bool
    private let context: UnsafeMutablePointer<AVCodecContext>
    private let frame: UnsafeMutablePointer<AVFrame>

    /// In order of preference: floats need no rounding. (The list of an encoder's own is deprecated in FFmpeg 7.1, its successor not in 5.1.)
    private static let forms = [
        AV_SAMPLE_FMT_FLTP, AV_SAMPLE_FMT_FLT, AV_SAMPLE_FMT_S32, AV_SAMPLE_FMT_S32P, AV_SAMPLE_FMT_S16, AV_SAMPLE_FMT_S16P,
    ]

    /// - Parameter layout: FFmpeg's name of the speakers; empty takes the usual ones.
    /// - Throws: `.cannotOpen`.
    init(
        _ encoder: UnsafePointer<AVCodec>, _ wanted: AudioFormat, rate: Int32, channelCount: Int32, layout: String
    ) throws(EncodingError) {
        LibraryLog.silence()
        var opened: UnsafeMutablePointer<AVCodecContext>?, status: Int32 = 0
        for form in Self.forms {
            var context = unsafe avcodec_alloc_context3(encoder)
            guard let made = unsafe context else { break }
            unsafe made.pointee.sample_rate = rate
            unsafe Self.setLayout(layout, channelCount, made)
            unsafe Self.describe(wanted, form, in: made)
            status = unsafe avcodec_open2(made, encoder, nil)
            if status >= 0 {
                unsafe opened = unsafe made
                break
            }
            unsafe avcodec_free_context(&context)
        }
        let label = unsafe String(cString: encoder.pointee.name)
        guard let context = unsafe opened, let frame = unsafe av_frame_alloc() else {
            throw EncodingError(
                .cannotOpen, "the encoder \(label) does not take \(rate) Hz and \(channelCount) channels: \(VideoEncoder.reason(status))",
                status: status)
        }
        unsafe self.context = context
        unsafe self.frame = frame
        name = label
        let properties = unsafe avcodec_descriptor_get(encoder.pointee.id)?.pointee.props ?? 0
        // Vorbis' samples have lengths of their own.
        padsLastSample = unsafe properties & AV_CODEC_PROP_LOSSLESS == 0 && encoder.pointee.id != AV_CODEC_ID_VORBIS
        format = AudioFormat(
            codecName: wanted.codecName, sampleRate: rate, channelCount: channelCount, channelLayout: layout,
            encoderDelay: unsafe context.pointee.initial_padding, bitsPerCodedSample: unsafe context.pointee.bits_per_coded_sample,
            blockAlign: unsafe context.pointee.block_align, bitRate: unsafe context.pointee.bit_rate, profile: unsafe context.pointee.profile,
            codecTag: unsafe context.pointee.codec_tag, frameSize: unsafe context.pointee.frame_size)
        if let bytes = unsafe context.pointee.extradata {
            format.configuration = unsafe Array(UnsafeBufferPointer(start: bytes, count: Int(context.pointee.extradata_size)))
        }
    }

    deinit {
        var context: UnsafeMutablePointer<AVCodecContext>? = unsafe context
        var frame: UnsafeMutablePointer<AVFrame>? = unsafe frame
        unsafe av_frame_free(&frame)
        unsafe avcodec_free_context(&context)
    }

    private static func setLayout(_ layout: String, _ count: Int32, _ context: UnsafeMutablePointer<AVCodecContext>) {
        let isNamed = unsafe !layout.isEmpty && av_channel_layout_from_string(&context.pointee.ch_layout, layout) >= 0
        if !isNamed { unsafe av_channel_layout_default(&context.pointee.ch_layout, count) }
    }

    private static func describe(_ wanted: AudioFormat, _ form: AVSampleFormat, in context: UnsafeMutablePointer<AVCodecContext>) {
        unsafe context.pointee.sample_fmt = form
        unsafe context.pointee.time_base = AVRational(num: 1, den: context.pointee.sample_rate)
        if wanted.bitRate > 0 { unsafe context.pointee.bit_rate = wanted.bitRate }
        unsafe context.pointee.flags |= AV_CODEC_FLAG_GLOBAL_HEADER
        // FLAC keeps 24 of the 32 bits.
        if form == AV_SAMPLE_FMT_S32 { unsafe context.pointee.bits_per_raw_sample = 24 }
    }

    /// Frames of sound that the encoder takes at once, of `count` that there are.
    func stretch(for count: Int) -> Int { unsafe context.pointee.frame_size > 0 ? Int(context.pointee.frame_size) : count }

    /// Encodes a stretch, or at the end less.
    func encode(
        _ samples: ArraySlice<Float>, at position: Int64, _ body: (UnsafeMutablePointer<AVPacket>) -> Void
    ) throws(EncodingError) {
        let channels = Int(format.channelCount), count = samples.count / channels
        unsafe av_frame_unref(frame)
        unsafe frame.pointee.nb_samples = Int32(count)
        unsafe frame.pointee.format = context.pointee.sample_fmt.rawValue
        unsafe frame.pointee.sample_rate = format.sampleRate
        unsafe av_channel_layout_copy(&frame.pointee.ch_layout, &context.pointee.ch_layout)
        guard unsafe av_frame_get_buffer(frame, 0) >= 0 else { throw EncodingError(.encoder, "no memory for sound") }
        unsafe frame.pointee.pts = position
        let form = unsafe context.pointee.sample_fmt, isPlanar = av_sample_fmt_is_planar(form) != 0
        for channel in 0..<channels {
            let plane = unsafe UnsafeMutableRawPointer(frame.pointee.extended_data[isPlanar ? channel : 0]!)
            var place = isPlanar ? 0 : channel
            for index in stride(from: samples.startIndex + channel, to: samples.endIndex, by: channels) {
                unsafe Self.store(samples[index], at: place, in: plane, form)
                place += isPlanar ? 1 : channels
            }
        }
        try unsafe send(frame, body)
        unsafe av_frame_unref(frame)
    }

    /// Takes out what the encoder holds back.
    func finish(_ body: (UnsafeMutablePointer<AVPacket>) -> Void) throws(EncodingError) { try unsafe send(nil, body) }

    /// FLAC's encoder knows the number of frames and the checksum of them all when it has them.
    func replaceConfiguration(_ bytes: [UInt8]) { format.configuration = bytes }

    private static func store(_ value: Float, at place: Int, in plane: UnsafeMutableRawPointer, _ form: AVSampleFormat) {
        switch form {
        case AV_SAMPLE_FMT_S16, AV_SAMPLE_FMT_S16P:
            unsafe plane.storeBytes(of: Int16(max(-32_768, min(32_767, (value * 32_768).rounded()))), toByteOffset: place * 2, as: Int16.self)
        case AV_SAMPLE_FMT_S32, AV_SAMPLE_FMT_S32P:
            let wide = max(-8_388_608, min(8_388_607, (Double(value) * 8_388_608).rounded()))
            unsafe plane.storeBytes(of: Int32(wide) << 8, toByteOffset: place * 4, as: Int32.self)
        default:
            unsafe plane.storeBytes(of: value, toByteOffset: place * 4, as: Float.self)
        }
    }

    private func send(
        _ frame: UnsafeMutablePointer<AVFrame>?, _ body: (UnsafeMutablePointer<AVPacket>) -> Void
    ) throws(EncodingError) {
        var status = unsafe avcodec_send_frame(context, frame)
        while status >= 0, let packet = unsafe av_packet_alloc() {
            status = unsafe avcodec_receive_packet(context, packet)
            if status >= 0 {
                unsafe body(packet)
            } else {
                var spent: UnsafeMutablePointer<AVPacket>? = unsafe packet
                unsafe av_packet_free(&spent)
            }
        }
        if status < 0, status != cav_error_again, status != cav_error_eof {
            throw EncodingError(.encoder, "the encoder \(name) failed: \(VideoEncoder.reason(status))", status: status)
        }
    }
}
