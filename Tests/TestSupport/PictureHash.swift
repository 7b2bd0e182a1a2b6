internal import CAV
public import Media
public import SurfacePool

/// MD5 over the visible pixels of pictures: rows without padding, plane after plane, as FFmpeg's `framemd5` and most
/// publishers of test streams count them. A palette counts as 1024 bytes after the pixels.
@safe
public final class PictureHash {
    private let context: OpaquePointer

    public init() {
        unsafe context = av_md5_alloc()
        unsafe av_md5_init(context)
    }

    deinit { unsafe av_free(UnsafeMutableRawPointer(context)) }

    public func update(_ frame: borrowing VideoFrame) {
        update(frame.use.surface, visible: frame.visible)
    }

    public func update(_ surface: Surface, visible: PixelRect) {
        let layout = surface.layout
        unsafe surface.withUnsafeBytes { bytes in
            for (index, plane) in layout.format.description.planes.enumerated() {
                let place = layout.plane(index)
                let left = plane.rowBytes(width: visible.x), top = visible.y >> plane.verticalShift
                let length = plane.rowBytes(width: visible.width)
                for row in 0..<plane.rows(height: visible.height) {
                    let start = place.offset + (top + row) * place.pitch + left
                    unsafe update(UnsafeRawBufferPointer(rebasing: bytes[start..<start + length]))
                }
            }
            if layout.format == .pal8 {
                let start = layout.plane(1).offset
                unsafe update(UnsafeRawBufferPointer(rebasing: bytes[start..<start + SurfaceLayout.paletteByteCount]))
            }
        }
    }

    public func update(_ bytes: UnsafeRawBufferPointer) {
        unsafe av_md5_update(context, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count)
    }

    /// The hash so far in lower-case hexadecimal; afterwards a new one begins.
    public func finish() -> String {
        var digest = [UInt8](repeating: 0, count: 16)
        unsafe av_md5_final(context, &digest)
        unsafe av_md5_init(context)
        return digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// The hash of one frame.
    public static func md5(of frame: borrowing VideoFrame) -> String {
        let hash = PictureHash()
        hash.update(frame)
        return hash.finish()
    }
}
