internal import CAV
internal import Glibc
internal import Media
internal import SampleQueue
internal import SurfacePool

/// An open libavcodec decoder with the packet and the frame that are reused for every sample.
///
/// The corresponding C types are `AVCodecContext`, `AVPacket` and `AVFrame`. Thread-safety: one thread at a time.
@safe
final class Codec {
    let context: UnsafeMutablePointer<AVCodecContext>
    let packet: UnsafeMutablePointer<AVPacket>
    let frame: UnsafeMutablePointer<AVFrame>
    private let memory: Memory

    /// What the callbacks see: where frames go.
    private final class Memory: Sendable {
        let source: SurfaceSource
        let hardware: HardwareSurfaces?

        init(source: SurfaceSource, hardware: HardwareSurfaces?) {
            self.source = source
            self.hardware = hardware
        }
    }

    var hardware: HardwareSurfaces? { memory.hardware }

    /// Opens the decoder that libavcodec prefers for `format`, or with `hardware` its own, which can use hardware.
    ///
    /// - Parameter usesOwnMemory: Frames lie in libavcodec's memory and not in `source`.
    init(
        format: VideoFormat, options: DecoderOptions, threads: Int, source: SurfaceSource, hardware: HardwareSurfaces? = nil,
        usesOwnMemory: Bool = false
    ) throws(DecodingError) {
        guard let descriptor = unsafe avcodec_descriptor_get_by_name(format.codec.name),
            unsafe descriptor.pointee.type == AVMEDIA_TYPE_VIDEO,
            let decoder = unsafe hardware == nil ? avcodec_find_decoder(descriptor.pointee.id) : Self.hardwareDecoder(descriptor.pointee.id)
        else {
            throw DecodingError(.noDecoder, "this FFmpeg has no video decoder for \(format.codec.name)")
        }
        guard let context = unsafe avcodec_alloc_context3(decoder), let packet = unsafe av_packet_alloc(),
            let frame = unsafe av_frame_alloc()
        else {
            throw DecodingError(.decoder, "no memory for a decoder")
        }
        unsafe self.context = context
        unsafe self.packet = packet
        unsafe self.frame = frame
        memory = Memory(source: source, hardware: hardware)
        unsafe Self.describe(format, in: context)
        unsafe Self.configure(context, options: options, threads: threads)
        unsafe cav_context_keep_numbers(context)
        unsafe context.pointee.opaque = Unmanaged.passUnretained(memory).toOpaque()
        if usesOwnMemory { unsafe context.pointee.max_pixels = Int64(AlphaDecoder.mostPixels(options)) }
        if unsafe !usesOwnMemory && decoder.pointee.capabilities & AV_CODEC_CAP_DR1 != 0 {
            unsafe cav_set_thread_safe_callbacks(context)
            unsafe context.pointee.get_buffer2 = { context, frame, _ in
                guard let context = unsafe context, let frame = unsafe frame, let opaque = unsafe context.pointee.opaque
                else { return cav_error(EINVAL) }
                let memory = unsafe Unmanaged<Memory>.fromOpaque(opaque).takeUnretainedValue()
                if unsafe frame.pointee.format == AV_PIX_FMT_VAAPI.rawValue {
                    guard let hardware = memory.hardware else { return cav_error(EINVAL) }
                    defer { if hardware.isExhausted { memory.source.tellExhausted() } }
                    return unsafe hardware.fill(frame, for: context)
                }
                return unsafe memory.source.fill(frame, for: context)
            }
        }
        if hardware != nil {
            unsafe context.pointee.get_format = { context, formats in
                guard let context = unsafe context, let formats = unsafe formats, let opaque = unsafe context.pointee.opaque else {
                    return AV_PIX_FMT_NONE
                }
                let hardware = unsafe Unmanaged<Memory>.fromOpaque(opaque).takeUnretainedValue().hardware
                var index = 0
                while unsafe formats[index] != AV_PIX_FMT_NONE {
                    if unsafe formats[index] == AV_PIX_FMT_VAAPI, unsafe hardware?.prepare(context) == true { return AV_PIX_FMT_VAAPI }
                    index += 1
                }
                // Software decoding uses another codec context, with threads.
                return AV_PIX_FMT_NONE
            }
        }
        LibraryLog.silence()
        let status = unsafe avcodec_open2(context, decoder, nil)
        guard status >= 0 else {
            if [EAGAIN, ENOMEM].contains(-status) {
                throw DecodingError(
                    .outOfResources, "the \(format.codec.name) decoder gets no thread or memory: \(Self.reason(status))", status: status)
            }
            throw DecodingError(
                .cannotOpen, "the \(format.codec.name) decoder does not take the stream's set-up data: \(Self.reason(status))", status: status)
        }
    }

    deinit {
        var context: UnsafeMutablePointer<AVCodecContext>? = unsafe context
        var packet: UnsafeMutablePointer<AVPacket>? = unsafe packet
        var frame: UnsafeMutablePointer<AVFrame>? = unsafe frame
        unsafe av_frame_free(&frame)
        unsafe av_packet_free(&packet)
        unsafe avcodec_free_context(&context)
    }

    private static func describe(_ format: VideoFormat, in context: UnsafeMutablePointer<AVCodecContext>) {
        unsafe context.pointee.codec_tag = format.codecTag
        unsafe context.pointee.profile = format.profile
        unsafe context.pointee.level = format.level
        unsafe context.pointee.width = Int32(clamping: format.codedSize.width)
        unsafe context.pointee.height = Int32(clamping: format.codedSize.height)
        unsafe context.pointee.bits_per_coded_sample = format.bitsPerCodedSample
        unsafe context.pointee.has_b_frames = format.reorderDepth
        unsafe context.pointee.framerate = AVRational(num: format.frameRate.numerator, den: max(format.frameRate.denominator, 1))
        let aspect = format.attributes.pixelAspect
        unsafe context.pointee.sample_aspect_ratio = AVRational(num: aspect.numerator, den: max(aspect.denominator, 1))
        let color = format.attributes.color
        unsafe context.pointee.color_primaries = AVColorPrimaries(UInt32(color.primaries))
        unsafe context.pointee.color_trc = AVColorTransferCharacteristic(UInt32(color.transfer))
        unsafe context.pointee.colorspace = AVColorSpace(UInt32(color.matrix))
        unsafe context.pointee.color_range = AVColorRange(UInt32(color.range.rawValue))
        unsafe context.pointee.chroma_sample_location = AVChromaLocation(UInt32(color.chromaSiting.rawValue))
        guard !format.configuration.isEmpty else { return }
        let count = format.configuration.count
        guard let bytes = unsafe av_mallocz(count + Int(AV_INPUT_BUFFER_PADDING_SIZE)) else { return }
        unsafe format.configuration.withUnsafeBytes { unsafe bytes.copyMemory(from: $0.baseAddress!, byteCount: count) }
        unsafe context.pointee.extradata = bytes.assumingMemoryBound(to: UInt8.self)
        unsafe context.pointee.extradata_size = Int32(count)
    }

    private static func configure(_ context: UnsafeMutablePointer<AVCodecContext>, options: DecoderOptions, threads: Int) {
        unsafe context.pointee.thread_count = Int32(threads)
        unsafe context.pointee.thread_type = options.lowDelay ? FF_THREAD_SLICE : FF_THREAD_FRAME | FF_THREAD_SLICE
        if options.lowDelay { unsafe context.pointee.flags |= AV_CODEC_FLAG_LOW_DELAY }
        // The crop travels beside the frame, exact to the pixel, instead of moving its pointers to the nearest aligned place.
        unsafe context.pointee.apply_cropping = 0
        // Four frames of 4:2:0 must fit; otherwise libavcodec refuses before it allocates anything. It measures its
        // scratch memory by the same limit, hence a megapixel in any case.
        unsafe context.pointee.max_pixels = max(Int64(options.maximumSurfaceBytes / 6), 1 << 20)
    }

    /// libavcodec's own decoder of a codec, if it can use VA-API; libraries such as libdav1d cannot.
    private static func hardwareDecoder(_ id: AVCodecID) -> UnsafePointer<AVCodec>? {
        var state: UnsafeMutableRawPointer?
        while let codec = unsafe av_codec_iterate(&state) {
            guard unsafe codec.pointee.id == id, unsafe av_codec_is_decoder(codec) != 0 else { continue }
            var index: Int32 = 0
            while let config = unsafe avcodec_get_hw_config(codec, index) {
                let isFitting = unsafe config.pointee.pix_fmt == AV_PIX_FMT_VAAPI
                if isFitting, unsafe Int(config.pointee.methods) & Int(AV_CODEC_HW_CONFIG_METHOD_HW_FRAMES_CTX) != 0 { return unsafe codec }
                index += 1
            }
        }
        return nil
    }

    /// Samples that the decoder has taken before it reports what became of the first of them: those in its frame threads.
    var reportDelay: UInt64 {
        unsafe context.pointee.active_thread_type & FF_THREAD_FRAME != 0 ? UInt64(max(context.pointee.thread_count - 1, 0)) : 0
    }

    var name: String { unsafe String(cString: context.pointee.codec.pointee.name) }

    /// What libavutil says about an `AVERROR`.
    static func reason(_ status: Int32) -> String {
        unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { text in
            unsafe av_strerror(status, text.baseAddress, text.count)
            return unsafe String(cString: text.baseAddress!)
        }
    }
}
