internal import CAV
internal import Media
internal import SurfacePool

/// Brings pictures into pool surfaces that a decoder made elsewhere: a plain copy, or a conversion where `PixelFormat` has no word
/// for the decoder's layout. The bytes are counted as copied.
///
/// Thread-safety: one thread at a time.
@safe
struct PictureTransfer: ~Copyable {
    private var scaler: UnsafeMutableRawPointer?

    init() { unsafe scaler = nil }

    deinit { unsafe cav_sws_free(scaler) }

    /// A reader's use of a surface that now holds the picture of `frame`.
    mutating func transfer(
        _ frame: UnsafePointer<AVFrame>, from source: SurfaceSource, statistics: FrameStatistics
    ) throws(DecodingError) -> SurfaceUse {
        let width = unsafe frame.pointee.width, height = unsafe frame.pointee.height
        let number = unsafe frame.pointee.format
        let exact = PixelFormatTable.shared.format(of: number)
        guard let format = exact ?? PixelFormatTable.shared.nearest(to: number) else {
            throw DecodingError(.unsupportedPixelFormat, "the decoder puts out \(Self.name(number)), which cannot be shown or converted")
        }
        guard let writer = source.writer(format: format, width: width, height: height) else {
            throw source.takeRefusal() ?? DecodingError(.outOfSurfaces, "no surface for a decoded picture")
        }
        if exact != nil {
            unsafe Self.copy(frame, to: writer.surface, format: format)
        } else {
            unsafe try convert(frame, to: writer.surface, format: format)
        }
        statistics.addCopied(format.byteCount(width: Int(width), height: Int(height)))
        return writer.finish()
    }

    private static func copy(_ frame: UnsafePointer<AVFrame>, to surface: Surface, format: PixelFormat) {
        unsafe withPlanes(of: surface) { planes, pitches in
            unsafe cav_image_copy(
                planes, pitches, frame, PixelFormatTable.shared.number(of: format), frame.pointee.width, frame.pointee.height)
        }
    }

    private mutating func convert(_ frame: UnsafePointer<AVFrame>, to surface: Surface, format: PixelFormat) throws(DecodingError) {
        let width = unsafe frame.pointee.width, height = unsafe frame.pointee.height
        unsafe scaler = cav_sws_get_exact(scaler, width, height, AVPixelFormat(frame.pointee.format), PixelFormatTable.shared.number(of: format))
        guard let scaler = unsafe scaler else {
            throw unsafe DecodingError(.unsupportedPixelFormat, "no conversion from \(Self.name(frame.pointee.format)) to \(format.rawValue)")
        }
        unsafe Self.withPlanes(of: surface) { planes, pitches in
            _ = unsafe cav_sws_scale_frame(scaler, frame, planes, pitches)
        }
    }

    private static func withPlanes(
        of surface: Surface,
        _ body: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>, UnsafeMutablePointer<Int32>) -> Void
    ) {
        unsafe withUnsafeTemporaryAllocation(of: UnsafeMutablePointer<UInt8>?.self, capacity: 4) { planes in
            unsafe withUnsafeTemporaryAllocation(of: Int32.self, capacity: 4) { pitches in
                for plane in 0..<4 {
                    let exists = plane < surface.layout.planeCount
                    unsafe planes[plane] = exists ? surface.address(ofPlane: plane).assumingMemoryBound(to: UInt8.self) : nil
                    unsafe pitches[plane] = exists ? Int32(surface.layout.plane(plane).pitch) : 0
                }
                unsafe body(planes.baseAddress!, pitches.baseAddress!)
            }
        }
    }

    private static func name(_ number: Int32) -> String {
        unsafe av_get_pix_fmt_name(AVPixelFormat(number)).map { unsafe String(cString: $0) } ?? "pixel format \(number)"
    }
}
