import CAV
import Media
import SampleQueue
import TestSupport

/// A stream made on the spot: frames of noise in one pixel format, compressed without loss by one of libavcodec's encoders, and the
/// hashes of what went in.
struct SyntheticStream {
    var format: VideoFormat
    var samples: [SampleBuffer] = []
    /// MD5 of every frame's visible bytes, as `FrameBytes` counts them.
    var hashes: [String] = []

    enum Failure: Error { case noEncoder, encoder(Int32) }

    /// Encoders that lose nothing, with the way they are told so.
    static let losslessEncoders = ["ffv1", "ffvhuff", "utvideo", "png", "qtrle", "rawvideo", "libx264", "targa", "bmp", "zlib"]

    /// Whether this build of FFmpeg has `encoder` and it takes `pixelFormat`.
    static func canEncode(_ pixelFormat: PixelFormat, with encoder: String) -> Bool {
        guard let codec = unsafe avcodec_find_encoder_by_name(encoder) else { return false }
        let answer = unsafe cav_encoder_takes(codec, av_get_pix_fmt(pixelFormat.rawValue))
        // rawvideo takes everything and says nothing.
        return answer == 1 || (answer == -1 && encoder == "rawvideo")
    }

    init(encoder: String, pixelFormat: PixelFormat, size: PixelSize, frames: Int, seed: UInt64 = 1, options: [String: String] = [:]) throws {
        guard let codec = unsafe avcodec_find_encoder_by_name(encoder) else { throw Failure.noEncoder }
        var context = unsafe avcodec_alloc_context3(codec)
        defer { unsafe avcodec_free_context(&context) }
        guard let context = unsafe context else { throw Failure.noEncoder }
        unsafe context.pointee.width = Int32(size.width)
        unsafe context.pointee.height = Int32(size.height)
        unsafe context.pointee.pix_fmt = av_get_pix_fmt(pixelFormat.rawValue)
        unsafe context.pointee.time_base = AVRational(num: 1, den: 25)
        unsafe context.pointee.strict_std_compliance = FF_COMPLIANCE_EXPERIMENTAL
        unsafe context.pointee.thread_count = 1
        for (key, value) in options { unsafe av_opt_set(context, key, value, AV_OPT_SEARCH_CHILDREN) }
        let status = unsafe avcodec_open2(context, codec, nil)
        guard status >= 0 else { throw Failure.encoder(status) }
        let name = unsafe String(cString: avcodec_get_name(codec.pointee.id))
        format = VideoFormat(codec: VideoCodec(name: name), codedSize: size)
        if let bytes = unsafe context.pointee.extradata {
            format.configuration = unsafe Array(UnsafeBufferPointer(start: bytes, count: Int(context.pointee.extradata_size)))
        }
        format.codecTag = encoder == "rawvideo" ? unsafe avcodec_pix_fmt_to_codec_tag(context.pointee.pix_fmt) : unsafe context.pointee.codec_tag
        unsafe format.bitsPerCodedSample = context.pointee.bits_per_coded_sample

        var random = Noise(state: seed)
        for number in 0..<frames {
            var frame = unsafe av_frame_alloc()
            defer { unsafe av_frame_free(&frame) }
            guard let frame = unsafe frame else { throw Failure.noEncoder }
            unsafe frame.pointee.width = Int32(size.width)
            unsafe frame.pointee.height = Int32(size.height)
            unsafe frame.pointee.format = context.pointee.pix_fmt.rawValue
            unsafe av_frame_get_buffer(frame, 0)
            unsafe frame.pointee.pts = Int64(number)
            hashes.append(unsafe Self.fill(frame, pixelFormat, size, &random))
            try unsafe send(frame, to: context)
        }
        try unsafe send(nil, to: context)
    }

    private mutating func send(_ frame: UnsafeMutablePointer<AVFrame>?, to context: UnsafeMutablePointer<AVCodecContext>) throws {
        let status = unsafe avcodec_send_frame(context, frame)
        guard status >= 0 else { throw Failure.encoder(status) }
        while true {
            guard let packet = unsafe av_packet_alloc() else { return }
            guard unsafe avcodec_receive_packet(context, packet) >= 0 else {
                var spent: UnsafeMutablePointer<AVPacket>? = unsafe packet
                unsafe av_packet_free(&spent)
                return
            }
            let time = unsafe MediaTime(value: packet.pointee.pts, timescale: 25)
            samples.append(
                unsafe SampleBuffer(
                    content: .compressed(BlockBuffer(moving: packet), .video(format)), presentationTime: time, decodeTime: time))
        }
    }

    /// Writes noise into the significant bits of every component and hashes the rows.
    private static func fill(
        _ frame: UnsafeMutablePointer<AVFrame>, _ format: PixelFormat, _ size: PixelSize, _ random: inout Noise
    ) -> String {
        var all: [UInt8] = []
        let facts = format.description
        let isWide = facts.planes[0].bitsPerSample >= 16 && facts.bitDepth > 8
        let mask = UInt16(truncatingIfNeeded: (1 << facts.bitDepth) - 1)
        for (index, plane) in facts.planes.enumerated() {
            let data = unsafe UnsafeMutableRawPointer(cav_frame_plane(frame, Int32(index))!)
            let pitch = unsafe Int(cav_frame_linesize(frame, Int32(index)))
            let length = plane.rowBytes(width: size.width)
            for row in 0..<plane.rows(height: size.height) {
                let bytes = unsafe UnsafeMutableRawBufferPointer(start: data + row * pitch, count: length)
                if isWide {
                    for offset in stride(from: 0, to: length - 1, by: 2) {
                        var value = random.next() & mask
                        if format == .p010le { value <<= 6 }
                        unsafe bytes.storeBytes(of: value.littleEndian, toByteOffset: offset, as: UInt16.self)
                    }
                } else {
                    for offset in 0..<length {
                        var value = UInt8(truncatingIfNeeded: random.next())
                        // The bits past the last pixel of a bitmap's row, and the one that RGB555 does not use, mean nothing.
                        if format == .monowhite || format == .monoblack, offset == length - 1, size.width % 8 != 0 {
                            value &= 0xff << UInt8(8 - size.width % 8)
                        }
                        if format == .rgb555le, offset % 2 == 1 { value &= 0x7f }
                        unsafe bytes[offset] = value
                    }
                }
                unsafe all.append(contentsOf: bytes)
            }
        }
        if format == .pal8 {
            let palette = unsafe UnsafeMutableRawBufferPointer(start: cav_frame_plane(frame, 1), count: 1024)
            for entry in 0..<256 {
                unsafe palette.storeBytes(of: 0xff00_0000 | UInt32(random.next()) << 8 | UInt32(entry), toByteOffset: entry * 4, as: UInt32.self)
            }
            unsafe all.append(contentsOf: palette)
        }
        return Checksum.md5(all)
    }

    /// Numbers without a pattern, the same for the same seed.
    struct Noise {
        var state: UInt64
        mutating func next() -> UInt16 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt16(truncatingIfNeeded: state >> 40)
        }
    }
}
