internal import CAV
internal import Media
public import PixelConversion
public import SurfacePool

/// Writes single frames as PNG or JPEG, with libavcodec's encoders.
///
///     let file = try StillImageEncoder(.png).encode(frame)
///
/// Frames in high dynamic range are mapped to standard dynamic range, because most programs that show images know nothing of PQ and HLG. The
/// orientation is not applied (`PixelRotationSession`).
///
/// Thread-safety: one thread at a time.
@safe
public final class StillImageEncoder {
    /// The format of a file.
    public enum Format: Sendable, Hashable {
        /// PNG (ISO/IEC 15948) with 8 bits a component: without loss.
        case png
        /// JPEG (ITU-T T.81) of a quality from 1 to 100.
        case jpeg(quality: Int)

        /// The usual ending of a file's name, without a point.
        public var fileExtension: String { self == .png ? "png" : "jpg" }
    }

    /// As given to `init`.
    public let format: Format
    /// Whether PNG files of frames with alpha have alpha.
    private let keepsAlpha: Bool
    private let toRGBA: PixelTransferSession
    /// By way of RGB, where the visible part can begin at any pixel.
    private let toRGB: PixelTransferSession
    /// JPEG files hold YUV by BT.601 with full range (JFIF).
    private let toJPEG = PixelTransferSession(to: ConversionTarget(format: .yuvj420p, matrix: 6), holdCount: 1)

    /// Makes an encoder. Nothing is opened before the first frame.
    ///
    /// - Parameters:
    ///   - toneMapping: For frames in high dynamic range; nil keeps their code values.
    ///   - keepsAlpha: PNG files of frames with alpha have alpha, which is straight. Else, and in JPEG files, it is left out. Frames of cameras are
    ///     best written without: what they call alpha seldom means anything.
    public init(_ format: Format, toneMapping: ToneMapping? = ToneMapping(), keepsAlpha: Bool = false) {
        self.format = format
        self.keepsAlpha = keepsAlpha && format == .png
        toRGBA = PixelTransferSession(to: ConversionTarget(format: .rgba, toneMapping: toneMapping), holdCount: 1)
        toRGB = PixelTransferSession(to: ConversionTarget(format: .rgb24, toneMapping: toneMapping), holdCount: 1)
    }

    /// The bytes of a file with the visible part of `frame`.
    ///
    /// - Throws: `.conversion` when the frame cannot be converted, or the installed libavcodec has no such encoder;
    ///   `.decoding(.outOfSurfaces)` when the system has no memory or descriptor for it.
    public func encode(_ frame: borrowing VideoFrame) throws(ReadingError) -> [UInt8] {
        do throws(PixelConversionError) {
            let facts = frame.pixelFormat.description, hasAlpha = keepsAlpha && facts.hasAlpha && facts.model != .palette
            let isFit = frame.pixelFormat == (hasAlpha ? .rgba : .rgb24) && !ToneMapping.applies(to: frame.attributes.color)
            var image = isFit ? frame.copy() : try (hasAlpha ? toRGBA : toRGB).convert(frame)
            if format != .png { image = try toJPEG.convert(image) }
            return try write(image)
        } catch {
            throw ReadingError(ReadingError.code(error), "the frame cannot be written as \(format.fileExtension): \(error.description)")
        }
    }

    /// One image in one packet, as libavcodec writes it.
    private func write(_ image: borrowing VideoFrame) throws(PixelConversionError) -> [UInt8] {
        guard let codec = unsafe avcodec_find_encoder(format == .png ? AV_CODEC_ID_PNG : AV_CODEC_ID_MJPEG) else {
            throw PixelConversionError(.unsupportedFormat, "the installed libavcodec has no encoder for it")
        }
        var context = unsafe avcodec_alloc_context3(codec), frame = unsafe av_frame_alloc(), packet = unsafe av_packet_alloc()
        defer {
            unsafe avcodec_free_context(&context)
            unsafe av_frame_free(&frame)
            unsafe av_packet_free(&packet)
        }
        guard let context = unsafe context, let frame = unsafe frame, let packet = unsafe packet else {
            throw PixelConversionError(.outOfSurfaces, "there is no memory")
        }
        let size = image.visible.size, layout = image.surface.layout
        let hasAlpha = layout.format == .rgba
        let pixelFormat = format != .png ? AV_PIX_FMT_YUVJ420P : hasAlpha ? AV_PIX_FMT_RGBA : AV_PIX_FMT_RGB24
        unsafe context.pointee.width = Int32(clamping: size.width)
        unsafe context.pointee.height = Int32(clamping: size.height)
        unsafe context.pointee.pix_fmt = pixelFormat
        unsafe context.pointee.time_base = AVRational(num: 1, den: 1)
        unsafe context.pointee.color_range = AVCOL_RANGE_JPEG
        unsafe context.pointee.thread_count = 1
        unsafe frame.pointee.width = context.pointee.width
        unsafe frame.pointee.height = context.pointee.height
        unsafe frame.pointee.format = pixelFormat.rawValue
        if case .jpeg(let quality) = format {
            // libavcodec counts from 2, the best, to 31.
            let scale = 31 - Int32(min(max(quality, 1), 100) - 1) * 29 / 99
            unsafe context.pointee.flags |= AV_CODEC_FLAG_QSCALE
            unsafe context.pointee.global_quality = scale * FF_QP2LAMBDA
            unsafe frame.pointee.quality = scale * FF_QP2LAMBDA
        }
        var status = unsafe avcodec_open2(context, codec, nil)
        if status >= 0 {
            status = unsafe image.surface.withUnsafeBytes { bytes in
                let first = layout.plane(0)
                let place = first.offset + image.visible.y * first.pitch + image.visible.x * (hasAlpha ? 4 : 3)
                unsafe Self.point(frame, to: bytes, layout, firstPlane: format == .png ? place : first.offset)
                // The frame is lent: libavcodec copies what it keeps.
                return unsafe avcodec_send_frame(context, frame)
            }
        }
        if status >= 0 { status = unsafe avcodec_send_frame(context, nil) }
        if status >= 0 { status = unsafe avcodec_receive_packet(context, packet) }
        guard status >= 0 else { throw PixelConversionError(.unsupportedFormat, "libavcodec's encoder failed (\(status))") }
        return unsafe Array(UnsafeBufferPointer(start: packet.pointee.data, count: Int(packet.pointee.size)))
    }

    private static func point(
        _ frame: UnsafeMutablePointer<AVFrame>, to bytes: UnsafeRawBufferPointer, _ layout: SurfaceLayout, firstPlane: Int
    ) {
        let base = unsafe UnsafeMutableRawPointer(mutating: bytes.baseAddress!).assumingMemoryBound(to: UInt8.self)
        unsafe frame.pointee.data.0 = base + firstPlane
        unsafe frame.pointee.linesize.0 = Int32(layout.plane(0).pitch)
        guard layout.planeCount == 3 else { return }
        unsafe frame.pointee.data.1 = base + layout.plane(1).offset
        unsafe frame.pointee.linesize.1 = Int32(layout.plane(1).pitch)
        unsafe frame.pointee.data.2 = base + layout.plane(2).offset
        unsafe frame.pointee.linesize.2 = Int32(layout.plane(2).pitch)
    }
}
