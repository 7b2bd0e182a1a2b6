internal import CAV
internal import Media
public import SurfacePool

/// MD5 of a frame's visible pixels, plane after plane without padding: FFmpeg's definition of a frame's checksum.
///
/// Thread-safety: one thread at a time.
@safe
public final class FrameHash {
    private let context: OpaquePointer

    public init() {
        guard let context = unsafe av_md5_alloc() else { fatalError("out of memory") }
        unsafe self.context = context
    }

    deinit { unsafe av_free(UnsafeMutableRawPointer(context)) }

    /// 32 hexadecimal digits.
    public func digest(of frame: borrowing VideoFrame) -> String {
        unsafe av_md5_init(context)
        let layout = frame.surface.layout
        let planes = layout.format.description.planes
        let visible = frame.visible
        unsafe frame.surface.withUnsafeBytes { bytes in
            for (index, plane) in planes.enumerated() {
                let place = layout.plane(index)
                let rowBytes = plane.rowBytes(width: visible.width)
                let x = (visible.x >> plane.horizontalShift) * plane.bitsPerSample / 8
                let y = visible.y >> plane.verticalShift
                let rows = plane.rows(height: visible.height)
                if rowBytes == place.pitch {
                    let start = place.offset + y * place.pitch
                    unsafe add(UnsafeRawBufferPointer(rebasing: bytes[start..<(start + rows * rowBytes)]))
                    continue
                }
                for row in 0..<rows {
                    let start = place.offset + (y + row) * place.pitch + x
                    unsafe add(UnsafeRawBufferPointer(rebasing: bytes[start..<(start + rowBytes)]))
                }
            }
            // A palette belongs to the picture.
            for index in planes.count..<max(layout.planeCount, planes.count) {
                let place = layout.plane(index)
                unsafe add(UnsafeRawBufferPointer(rebasing: bytes[place.offset..<(place.offset + place.pitch)]))
            }
        }
        return unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 16) { digest in
            unsafe av_md5_final(context, digest.baseAddress)
            return unsafe digest.map { byte in String(byte >> 4, radix: 16) + String(byte & 15, radix: 16) }.joined()
        }
    }

    private func add(_ bytes: UnsafeRawBufferPointer) {
        unsafe av_md5_update(context, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), numericCast(bytes.count))
    }
}
