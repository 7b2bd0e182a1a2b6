internal import CAV
internal import Media
internal import PixelConversion
internal import SurfacePool

/// Moves frames that a decoder made in memory of its own into pool surfaces: a plain copy, or a conversion where `PixelFormat` has no name
/// for the decoder's layout. The bytes are counted as copied.
///
/// Thread-safety: one thread at a time.
@safe
struct FrameCopier {
    private let scaler = Swscaler()

    /// A reader's use of a surface that now holds `frame`.
    func copy(_ frame: UnsafePointer<AVFrame>, to target: SurfaceSource, statistics: FrameStatistics) throws(DecodingError) -> SurfaceUse {
        let width = unsafe frame.pointee.width, height = unsafe frame.pointee.height
        let size = PixelSize(width: Int(width), height: Int(height))
        let number = unsafe frame.pointee.format, table = PixelFormatTable.shared
        let exact = table.format(of: number)
        guard let format = exact ?? table.nearest(to: number) else {
            throw DecodingError(.unsupportedPixelFormat, "the decoder makes \(table.name(of: number)), which can be neither shown nor converted")
        }
        guard let writer = target.writer(format: format, width: width, height: height) else {
            throw target.takeRefusal() ?? DecodingError(.outOfSurfaces, "there is no surface for a decoded frame")
        }
        let source = unsafe ImagePlanes(
            planes: (0..<4).compactMap { unsafe cav_frame_plane(frame, Int32($0)).map { UnsafeMutableRawPointer($0) } },
            pitches: (0..<4).map { unsafe Int(cav_frame_linesize(frame, Int32($0))) })
        let layout = writer.surface.layout
        let planes = unsafe ImagePlanes(
            planes: (0..<layout.planeCount).map { unsafe writer.surface.address(ofPlane: $0) },
            pitches: (0..<layout.planeCount).map { layout.plane($0).pitch })
        if exact != nil {
            Swscaler.copy(number, size: size, from: source, to: planes)
        } else if !scaler.convertFormat(size: size, from: number, source, to: table.number(of: format), planes) {
            throw DecodingError(.unsupportedPixelFormat, "there is no conversion from \(table.name(of: number)) to \(format.rawValue)")
        }
        statistics.addCopied(format.byteCount(width: size.width, height: size.height))
        return writer.finish()
    }
}
