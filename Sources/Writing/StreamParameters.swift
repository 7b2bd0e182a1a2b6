internal import CAV
internal import CAVFormat
internal import Demuxing
internal import Glibc
internal import Media
internal import SampleQueue

/// Describes our formats to libavformat: the counterpart of `StreamDescription`.
enum StreamParameters {
    /// Makes a stream; nil when there is no memory.
    static func add(_ track: TrackDescription, to context: UnsafeMutablePointer<AVFormatContext>) -> UnsafeMutablePointer<AVStream>? {
        guard let stream = unsafe avformat_new_stream(context, nil) else { return nil }
        let parameters = unsafe stream.pointee.codecpar!
        let base = track.timeBase.isKnown ? track.timeBase : Ratio(1, 90_000)
        unsafe stream.pointee.time_base = AVRational(num: base.numerator, den: base.denominator)
        switch track.format {
        case .video(let format):
            unsafe set(format, parameters)
            if format.attributes.pixelAspect.isKnown {
                unsafe stream.pointee.sample_aspect_ratio = parameters.pointee.sample_aspect_ratio
            }
            if format.frameRate.isKnown { unsafe stream.pointee.avg_frame_rate = rational(format.frameRate) }
            unsafe addSideData(format.attributes, stream)
            unsafe keepTag(format.codecTag, context, parameters)
        case .audio(let format):
            unsafe set(format, parameters)
            unsafe keepTag(format.codecTag, context, parameters)
        case .other(let name):
            guard let descriptor = unsafe avcodec_descriptor_get_by_name(name) else { return nil }
            unsafe parameters.pointee.codec_id = descriptor.pointee.id
            unsafe parameters.pointee.codec_type = descriptor.pointee.type
        }
        if let language = track.language { unsafe av_dict_set(&stream.pointee.metadata, "language", language, 0) }
        if let title = track.title { unsafe av_dict_set(&stream.pointee.metadata, "title", title, 0) }
        // The alpha goes along beside the samples; this says so.
        if case .video(let format) = track.format, format.hasAlpha { unsafe av_dict_set(&stream.pointee.metadata, "alpha_mode", "1", 0) }
        if track.isDefault { unsafe stream.pointee.disposition |= AV_DISPOSITION_DEFAULT }
        if track.kind == .attachedPicture { unsafe stream.pointee.disposition |= AV_DISPOSITION_ATTACHED_PIC }
        return unsafe stream
    }

    private static func rational(_ ratio: Ratio) -> AVRational { AVRational(num: ratio.numerator, den: ratio.denominator) }

    private static func set(_ format: VideoFormat, _ parameters: UnsafeMutablePointer<AVCodecParameters>) {
        unsafe parameters.pointee.codec_type = AVMEDIA_TYPE_VIDEO
        unsafe parameters.pointee.codec_id = avcodec_descriptor_get_by_name(format.codec.name)?.pointee.id ?? AV_CODEC_ID_NONE
        unsafe parameters.pointee.width = Int32(clamping: format.codedSize.width)
        unsafe parameters.pointee.height = Int32(clamping: format.codedSize.height)
        // An untrusted process may have read it.
        if unsafe av_pix_fmt_desc_get(AVPixelFormat(format.libraryPixelFormat)) != nil {
            unsafe parameters.pointee.format = format.libraryPixelFormat
        }
        unsafe parameters.pointee.profile = format.profile
        unsafe parameters.pointee.level = format.level
        unsafe parameters.pointee.bits_per_coded_sample = format.bitsPerCodedSample
        unsafe parameters.pointee.video_delay = format.reorderDepth
        let color = format.attributes.color
        unsafe parameters.pointee.color_primaries = AVColorPrimaries(UInt32(color.primaries))
        unsafe parameters.pointee.color_trc = AVColorTransferCharacteristic(UInt32(color.transfer))
        unsafe parameters.pointee.color_space = AVColorSpace(UInt32(color.matrix))
        unsafe parameters.pointee.color_range = AVColorRange(UInt32(color.range.rawValue))
        unsafe parameters.pointee.chroma_location = AVChromaLocation(UInt32(color.chromaSiting.rawValue))
        if format.attributes.pixelAspect.isKnown { unsafe parameters.pointee.sample_aspect_ratio = rational(format.attributes.pixelAspect) }
        unsafe setConfiguration(format.configuration, parameters)
    }

    private static func set(_ format: AudioFormat, _ parameters: UnsafeMutablePointer<AVCodecParameters>) {
        unsafe parameters.pointee.codec_type = AVMEDIA_TYPE_AUDIO
        unsafe parameters.pointee.codec_id = avcodec_descriptor_get_by_name(format.codecName)?.pointee.id ?? AV_CODEC_ID_NONE
        unsafe parameters.pointee.sample_rate = format.sampleRate
        let isNamed = unsafe !format.channelLayout.isEmpty && av_channel_layout_from_string(&parameters.pointee.ch_layout, format.channelLayout) == 0
        if !isNamed { unsafe av_channel_layout_default(&parameters.pointee.ch_layout, format.channelCount) }
        unsafe parameters.pointee.frame_size = format.frameSize
        unsafe parameters.pointee.initial_padding = format.encoderDelay
        unsafe parameters.pointee.bits_per_coded_sample = format.bitsPerCodedSample
        unsafe parameters.pointee.block_align = format.blockAlign
        unsafe parameters.pointee.bit_rate = format.bitRate
        unsafe parameters.pointee.profile = format.profile
        unsafe setConfiguration(format.configuration, parameters)
    }

    static func setConfiguration(_ bytes: [UInt8], _ parameters: UnsafeMutablePointer<AVCodecParameters>) {
        guard !bytes.isEmpty, let copy = unsafe av_mallocz(bytes.count + BlockBuffer.paddingByteCount) else { return }
        unsafe bytes.withUnsafeBytes { unsafe copy.copyMemory(from: $0.baseAddress!, byteCount: bytes.count) }
        unsafe parameters.pointee.extradata = copy.assumingMemoryBound(to: UInt8.self)
        unsafe parameters.pointee.extradata_size = Int32(bytes.count)
    }

    /// Keeps the source's four bytes where they mean the same codec in this container (`hev1` and `hvc1`), or where it has none.
    private static func keepTag(
        _ tag: UInt32, _ context: UnsafeMutablePointer<AVFormatContext>, _ parameters: UnsafeMutablePointer<AVCodecParameters>
    ) {
        guard tag != 0, let tags = unsafe context.pointee.oformat.pointee.codec_tag else { return }
        if unsafe av_codec_get_id(tags, tag) == parameters.pointee.codec_id { unsafe parameters.pointee.codec_tag = tag }
    }

    private static func addSideData(_ attributes: FrameAttributes, _ stream: UnsafeMutablePointer<AVStream>) {
        if attributes.orientation != .upright {
            let matrix = displayMatrix(attributes.orientation)
            unsafe matrix.withUnsafeBytes { unsafe _ = cav_stream_add_side_data(stream, AV_PKT_DATA_DISPLAYMATRIX, $0.baseAddress!, $0.count) }
        }
        guard let hdr = attributes.hdr else { return }
        if hdr.maximumLuminance > 0 || hdr.white.x > 0 {
            var display = AVMasteringDisplayMetadata(hdr)
            unsafe _ = withUnsafeBytes(of: &display) {
                unsafe cav_stream_add_side_data(stream, AV_PKT_DATA_MASTERING_DISPLAY_METADATA, $0.baseAddress!, $0.count)
            }
        }
        if hdr.maximumContentLightLevel > 0 || hdr.maximumFrameAverageLightLevel > 0 {
            var light = AVContentLightMetadata(
                MaxCLL: UInt32(hdr.maximumContentLightLevel), MaxFALL: UInt32(hdr.maximumFrameAverageLightLevel))
            unsafe _ = withUnsafeBytes(of: &light) {
                unsafe cav_stream_add_side_data(stream, AV_PKT_DATA_CONTENT_LIGHT_LEVEL, $0.baseAddress!, $0.count)
            }
        }
    }

    /// The matrix of ISO/IEC 14496-12, 8.3.2, which a row of `x y 1` is multiplied by: 16.16 fixed point, the last column 2.30.
    static func displayMatrix(_ orientation: FrameOrientation) -> [Int32] {
        let one: Int32 = 1 << 16
        var (a, b, c, d): (Int32, Int32, Int32, Int32) =
            switch orientation.rotation {
            case .none: (one, 0, 0, one)
            case .clockwise90: (0, one, -one, 0)
            case .clockwise180: (-one, 0, 0, -one)
            case .clockwise270: (0, -one, one, 0)
            }
        if orientation.isMirrored { (a, c) = (-a, -c) }
        return [a, b, 0, c, d, 0, 0, 0, 1 << 30]
    }
}

extension AVMasteringDisplayMetadata {
    /// The reverse of `HDRStaticMetadata(mastering:light:)`.
    fileprivate init(_ hdr: HDRStaticMetadata) {
        func point(_ place: HDRStaticMetadata.Chromaticity) -> (AVRational, AVRational) {
            (AVRational(num: Int32(place.x), den: 50_000), AVRational(num: Int32(place.y), den: 50_000))
        }
        self.init()
        display_primaries = (point(hdr.red), point(hdr.green), point(hdr.blue))
        white_point = point(hdr.white)
        min_luminance = AVRational(num: Int32(clamping: hdr.minimumLuminance), den: 10_000)
        max_luminance = AVRational(num: Int32(clamping: hdr.maximumLuminance), den: 10_000)
        has_primaries = hdr.white.x > 0 ? 1 : 0
        has_luminance = hdr.maximumLuminance > 0 ? 1 : 0
    }
}
