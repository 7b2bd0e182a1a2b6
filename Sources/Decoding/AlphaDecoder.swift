internal import CAV
internal import Glibc
internal import Media
internal import PixelConversion
internal import SurfacePool

/// Decodes the alpha of VP8 and VP9 in Matroska and WebM, and joins it with the frames.
///
/// The alpha is a stream of its own, of the same codec, beside the samples (`BlockAdditional` 1): the luma of its frames is the alpha of the
/// frames, with full range. Each piece is decoded when the frame that it belongs to comes out of the decoder of the colours, which may work on
/// several samples ahead. A frame without alpha, or whose alpha cannot be decoded or has another size, is opaque.
///
/// Thread-safety: one thread at a time.
@safe
final class AlphaDecoder {
    private let codec: Codec
    private let source: SurfaceSource
    private unowned let colors: Codec
    /// Alpha that has not been decoded, by the number of its sample, in the order of the samples.
    private var waiting: [(number: UInt64, packet: AlphaPacket)] = []
    /// The alpha of the frame joined last was damaged, or had another size.
    private(set) var isDamaged = false

    /// - Parameters:
    ///   - source: Where joined frames go.
    ///   - colors: The decoder of the colours, which outlives this.
    init(_ format: VideoFormat, _ options: DecoderOptions, _ source: SurfaceSource, behind colors: Codec) throws(DecodingError) {
        self.source = source
        self.colors = colors
        // One thread: a frame comes out with the piece that it is made of.
        codec = try Codec(format: format, options: options, threads: 1, source: source, usesOwnMemory: true)
    }

    /// Pixels of the largest frame that is decoded with its alpha. 16 references of both decoders and a frame for each of 8 threads, which all lie in
    /// libavcodec's memory, then take no more than the joined frames may.
    static func mostPixels(_ options: DecoderOptions) -> Int { max(options.maximumSurfaceBytes / 36, 1 << 20) }

    /// Keeps the alpha of a sample.
    func take(_ packet: UnsafeMutablePointer<AVPacket>, number: UInt64) {
        guard let piece = unsafe AlphaPacket(beside: packet) else { return }
        waiting.append((number, piece))
        // Samples without a frame leave theirs behind.
        while waiting.count > Int(colors.reportDelay) + Self.mostBehind { decode(waiting.removeFirst().packet) }
    }

    /// Samples that the decoder of the colours may hold besides those in its threads.
    private static let mostBehind = 16

    /// Forgets everything, as the decoder of the colours does.
    func flush() {
        waiting = []
        unsafe avcodec_flush_buffers(codec.context)
    }

    /// A reader's use of a surface with a frame and its alpha.
    ///
    /// - Parameter number: The sample that the frame comes from.
    func join(_ frame: UnsafePointer<AVFrame>, number: UInt64?, statistics: FrameStatistics) throws(DecodingError) -> SurfaceUse {
        isDamaged = false
        unsafe av_frame_unref(codec.frame)
        while let first = waiting.first, let number, first.number <= number {
            waiting.removeFirst()
            let isDecoded = decode(first.packet)
            if first.number == number { isDamaged = !isDecoded } else { unsafe av_frame_unref(codec.frame) }
        }
        let table = PixelFormatTable.shared, width = unsafe frame.pointee.width, height = unsafe frame.pointee.height
        let made = unsafe table.format(of: frame.pointee.format)
        guard let made, let format = made.withAlpha else {
            return try unsafe FrameCopier().copy(frame, to: source, statistics: statistics)
        }
        guard let writer = source.writer(format: format, width: width, height: height) else {
            throw source.takeRefusal() ?? DecodingError(.outOfSurfaces, "there is no surface for a decoded frame")
        }
        let layout = writer.surface.layout, size = PixelSize(width: Int(width), height: Int(height))
        let surface = writer.surface
        let colors = unsafe ImagePlanes(
            planes: (0..<3).map { unsafe surface.address(ofPlane: $0) }, pitches: (0..<3).map { layout.plane($0).pitch })
        unsafe Swscaler.copy(table.number(of: made), size: size, from: Self.planes(of: frame, 3), to: colors)
        let depth = made.description.bitDepth, target = unsafe surface.address(ofPlane: 3), pitch = layout.plane(3).pitch
        if unsafe fits(frame, depth) {
            let plane = unsafe ImagePlanes(planes: [target], pitches: [pitch]), gray = table.number(of: depth > 8 ? .gray16le : .gray)
            unsafe Swscaler.copy(gray, size: size, from: Self.planes(of: UnsafePointer(codec.frame), 1), to: plane)
            unsafe isDamaged = isDamaged || cav_frame_is_damaged(codec.frame) != 0
        } else {
            isDamaged = unsafe isDamaged || codec.frame.pointee.width > 0
            for row in 0..<size.height { unsafe Self.fill(target + row * pitch, size.width, depth) }
        }
        statistics.addCopied(format.byteCount(width: size.width, height: size.height))
        return writer.finish()
    }

    /// Whether the alpha that was decoded last belongs to the frame.
    private func fits(_ frame: UnsafePointer<AVFrame>, _ depth: Int) -> Bool {
        guard let format = unsafe PixelFormatTable.shared.format(of: codec.frame.pointee.format) else { return false }
        return unsafe codec.frame.pointee.width == frame.pointee.width && codec.frame.pointee.height == frame.pointee.height
            && format.description.bitDepth == depth
    }

    /// Decodes a piece to `codec.frame`. False when it cannot be decoded; a piece may also be decodable and give no frame.
    @discardableResult
    private func decode(_ piece: AlphaPacket) -> Bool {
        var status = unsafe avcodec_send_packet(codec.context, piece.packet)
        if status == cav_error_again {
            // A second frame of the piece before.
            while unsafe avcodec_receive_frame(codec.context, codec.frame) >= 0 {}
            status = unsafe avcodec_send_packet(codec.context, piece.packet)
        }
        if status >= 0 { status = unsafe avcodec_receive_frame(codec.context, codec.frame) }
        if status < 0 { unsafe av_frame_unref(codec.frame) }
        return status >= 0 || status == cav_error_again
    }

    private static func planes(of frame: UnsafePointer<AVFrame>, _ count: Int) -> ImagePlanes {
        unsafe ImagePlanes(
            planes: (0..<count).compactMap { unsafe cav_frame_plane(frame, Int32($0)).map { UnsafeMutableRawPointer($0) } },
            pitches: (0..<count).map { unsafe Int(cav_frame_linesize(frame, Int32($0))) })
    }

    private static func fill(_ row: UnsafeMutableRawPointer, _ width: Int, _ depth: Int) {
        if depth <= 8 {
            _ = unsafe row.initializeMemory(as: UInt8.self, repeating: 0xff, count: width)
        } else {
            _ = unsafe row.initializeMemory(as: UInt16.self, repeating: UInt16(1 << depth - 1), count: width)
        }
    }
}

/// The alpha beside a sample, as a packet of its own.
///
/// The corresponding C type is `AVPacket`.
@safe
private final class AlphaPacket {
    let packet: UnsafeMutablePointer<AVPacket>

    /// nil where the sample has none.
    init?(beside sample: UnsafeMutablePointer<AVPacket>) {
        var size = 0
        guard let data = unsafe av_packet_get_side_data(sample, AV_PKT_DATA_MATROSKA_BLOCKADDITIONAL, &size), size > Self.head,
            // BlockAddID, with the highest byte first.
            unsafe UnsafeRawPointer(data).loadUnaligned(as: UInt64.self).bigEndian == 1,
            let packet = unsafe av_packet_alloc()
        else { return nil }
        unsafe self.packet = packet
        guard unsafe av_new_packet(packet, Int32(clamping: size - Self.head)) >= 0 else { return nil }
        unsafe packet.pointee.data.update(from: data + Self.head, count: size - Self.head)
    }

    private static let head = 8

    deinit {
        var packet: UnsafeMutablePointer<AVPacket>? = unsafe packet
        unsafe av_packet_free(&packet)
    }
}

extension PixelFormat {
    /// The same with a plane of alpha; nil where there is no such format.
    var withAlpha: PixelFormat? { rawValue.hasPrefix("yuv4") ? PixelFormat(rawValue: "yuva" + rawValue.dropFirst(3)) : nil }
}

extension VideoFormat {
    /// The format as a session with these options decodes it: without the alpha that no consumer takes, and that of frames which are too large.
    func decoded(by options: DecoderOptions) -> VideoFormat {
        guard hasAlpha, !options.requirements.keepAlpha || isTooLargeForAlpha(options) else { return self }
        var format = self
        format.hasAlpha = false
        return format
    }

    private func isTooLargeForAlpha(_ options: DecoderOptions) -> Bool { codedSize.width * codedSize.height > AlphaDecoder.mostPixels(options) }

    /// Says that frames come without the alpha that the film has; nil when it has none, or they come with it.
    func alphaNotice(_ options: DecoderOptions) -> String? {
        guard hasAlpha, !decoded(by: options).hasAlpha else { return nil }
        guard options.requirements.keepAlpha else {
            let names = options.requirements.formats.map(\.rawValue).sorted().joined(separator: " or ")
            return "The film has alpha, which is left out: frames in \(names) have none."
        }
        return "The film has alpha, which is left out: frames of \(codedSize) with alpha take more memory than the decoder may use."
    }
}
