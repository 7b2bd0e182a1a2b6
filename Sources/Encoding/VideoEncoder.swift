internal import Bitstream
internal import CAV
internal import Glibc
internal import Media
internal import PixelConversion
internal import SampleQueue
internal import SurfacePool

/// An open libavcodec encoder with the frame that is reused for every call.
///
/// The corresponding C types are `AVCodecContext` and `AVFrame`. Thread-safety: one thread at a time.
@safe
final class VideoEncoder {
    let context: UnsafeMutablePointer<AVCodecContext>
    let frame: UnsafeMutablePointer<AVFrame>
    /// The device must be there until libavcodec has closed the encoder.
    private let device: DeviceSurfaces?
    private var isOpen = false
    /// libavcodec reads it as long as the encoder is open.
    private var statistics: UnsafeMutablePointer<CChar>?
    /// Frames that the encoder has taken.
    var framesSent = 0

    /// What an encoder is opened with.
    struct Setting: Sendable {
        var codec: VideoCodec
        var encoderName: String
        var size: PixelSize
        var pixelFormat: PixelFormat
        var attributes: FrameAttributes
        var frameRate: Ratio
        /// Of libavcodec and the encoder, by name.
        var options: [String: String]
        /// nil for one pass.
        var pass: Pass?
        /// The surfaces of the device that encodes; nil for software.
        var device: DeviceSurfaces?

        struct Pass: Sendable {
            /// `AV_CODEC_FLAG_PASS1` or `AV_CODEC_FLAG_PASS2`.
            var flags: Int32
            /// Of the pass before, as libavcodec handed them out.
            var statistics: String?
        }
    }

    /// - Throws: `.cannotOpen`, `.unsupportedProperty` for an option that the encoder does not have.
    init(_ setting: Setting) throws(EncodingError) {
        guard let encoder = unsafe avcodec_find_encoder_by_name(setting.encoderName), let context = unsafe avcodec_alloc_context3(encoder),
            let frame = unsafe av_frame_alloc()
        else { throw EncodingError(.encoder, "no memory for an encoder") }
        unsafe self.context = context
        unsafe self.frame = frame
        device = setting.device
        unsafe context.pointee.width = Int32(clamping: setting.size.width)
        unsafe context.pointee.height = Int32(clamping: setting.size.height)
        if let device = setting.device {
            unsafe context.pointee.pix_fmt = AV_PIX_FMT_VAAPI
            unsafe context.pointee.hw_frames_ctx = unsafe av_buffer_ref(device.framesContext)
        } else {
            unsafe context.pointee.pix_fmt = AVPixelFormat(PixelFormatTable.shared.number(of: setting.pixelFormat))
        }
        unsafe context.pointee.time_base = AVRational(num: setting.frameRate.denominator, den: setting.frameRate.numerator)
        unsafe context.pointee.framerate = AVRational(num: setting.frameRate.numerator, den: setting.frameRate.denominator)
        let aspect = setting.attributes.pixelAspect
        unsafe context.pointee.sample_aspect_ratio = AVRational(num: aspect.numerator, den: max(aspect.denominator, 1))
        let color = setting.attributes.color
        unsafe context.pointee.color_primaries = AVColorPrimaries(UInt32(color.primaries))
        unsafe context.pointee.color_trc = AVColorTransferCharacteristic(UInt32(color.transfer))
        unsafe context.pointee.colorspace = AVColorSpace(UInt32(color.matrix))
        unsafe context.pointee.color_range = AVColorRange(UInt32(color.range.rawValue))
        unsafe context.pointee.chroma_sample_location = AVChromaLocation(UInt32(color.chromaSiting.rawValue))
        // Parameter sets travel with the format, as containers want them.
        unsafe context.pointee.flags |= AV_CODEC_FLAG_GLOBAL_HEADER
        if let pass = setting.pass {
            unsafe context.pointee.flags |= pass.flags
            unsafe statistics = pass.statistics.flatMap { unsafe strdup($0) }
            unsafe context.pointee.stats_in = statistics
        }
        // A forced key frame lets decoding begin (an instantaneous refresh), not only intra slices.
        for name in ["forced-idr", "forced_idr"] { unsafe av_opt_set_int(context.pointee.priv_data, name, 1, 0) }
        LibraryLog.silence()
        var options: OpaquePointer?
        defer { unsafe av_dict_free(&options) }
        for (key, value) in setting.options { unsafe av_dict_set(&options, key, value, 0) }
        let status = OrdinaryPriority.kept { unsafe avcodec_open2(context, encoder, &options) }
        guard status >= 0 else {
            throw EncodingError(
                .cannotOpen,
                setting.device.map { "the device \($0.device.path) does not encode by \(setting.encoderName): \(Self.reason(status))" }
                    ?? "the encoder \(setting.encoderName) takes neither \(setting.size) in \(setting.pixelFormat.rawValue) with these properties: "
                    + Self.reason(status), status: status)
        }
        isOpen = true
        if let left = unsafe av_dict_get(options, "", nil, AV_DICT_IGNORE_SUFFIX) {
            throw EncodingError(
                .unsupportedProperty, "the encoder \(setting.encoderName) has no option \(unsafe String(cString: left.pointee.key))")
        }
    }

    deinit {
        finish()
        var context: UnsafeMutablePointer<AVCodecContext>? = unsafe context
        var frame: UnsafeMutablePointer<AVFrame>? = unsafe frame
        unsafe av_frame_free(&frame)
        unsafe context?.pointee.stats_in = nil
        unsafe avcodec_free_context(&context)
        unsafe free(statistics)
    }

    /// SVT-AV1 1.4 waits for ever, or complains, when it is closed without the end of a stream of at least one frame.
    private func finish() {
        guard isOpen, unsafe strcmp(context.pointee.codec.pointee.name, "libsvtav1") == 0 else { return }
        unsafe av_frame_unref(frame)
        if framesSent == 0 {
            unsafe frame.pointee.width = context.pointee.width
            unsafe frame.pointee.height = context.pointee.height
            unsafe frame.pointee.format = context.pointee.pix_fmt.rawValue
            guard unsafe av_frame_get_buffer(frame, 0) >= 0 else { return }
            unsafe frame.pointee.pts = 0
            _ = unsafe avcodec_send_frame(context, frame)
        }
        _ = unsafe avcodec_send_frame(context, nil)
        var packet = unsafe av_packet_alloc()
        while unsafe avcodec_receive_packet(context, packet) >= 0 {}
        unsafe av_packet_free(&packet)
    }

    /// Frames of the caller's that the encoder may hold at once.
    var heldFrameCount: Int {
        if unsafe context.pointee.hw_frames_ctx != nil {
            // Those that the device works at, and those that wait for the frame after them.
            var depth: Int64 = 0
            unsafe av_opt_get_int(context.pointee.priv_data, "async_depth", 0, &depth)
            return unsafe 2 + Int(max(depth, 1)) + Int(max(context.pointee.max_b_frames, 0))
        }
        let isByFrames = unsafe context.pointee.active_thread_type & FF_THREAD_FRAME != 0
        return unsafe 2 + (isByFrames ? Int(context.pointee.thread_count) : 0)
    }

    /// What a decoder and a container must know of the samples.
    func format(_ setting: Setting) -> VideoFormat {
        var configuration: [UInt8] = []
        if let bytes = unsafe context.pointee.extradata {
            configuration = unsafe Array(UnsafeBufferPointer(start: bytes, count: Int(context.pointee.extradata_size)))
        }
        var format = VideoFormat(
            codec: setting.codec, codedSize: setting.size, configuration: configuration, profile: unsafe context.pointee.profile,
            level: unsafe context.pointee.level)
        if let sets = ParameterSets(format), let stated = VideoFormat(sets) {
            format = stated
            format.configuration = configuration
        }
        format.attributes = setting.attributes
        format.frameRate = setting.frameRate
        // libvpx puts it beside the samples; other codecs have it in them.
        format.hasAlpha = setting.pixelFormat.description.hasColorAndAlpha && [.vp8, .vp9].contains(setting.codec)
        format.codecTag = unsafe context.pointee.codec_tag
        format.bitsPerCodedSample = unsafe context.pointee.bits_per_coded_sample
        format.reorderDepth = max(format.reorderDepth, unsafe context.pointee.has_b_frames)
        return format
    }

    /// What libavutil says about an `AVERROR`.
    static func reason(_ status: Int32) -> String {
        var text = [CChar](repeating: 0, count: 128)
        unsafe av_strerror(status, &text, text.count)
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
