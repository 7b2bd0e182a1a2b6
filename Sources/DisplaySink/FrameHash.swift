internal import CAV
internal import Media
public import SurfacePool

/// MD5 of a frame's visible pixels, plane after plane without padding: FFmpeg's definition of a frame's checksum.
///
/// A hardware decoder's picture has its two chroma planes woven into one (and 10 bits at the upper end of 16): it is hashed as the picture
/// that a software decoder would have made, so that both give the same sum.
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
        if frame.surface.memoryKind == .va, layout.format == .nv12 || layout.format == .p010le {
            unsafe frame.surface.withUnsafeBytes { unsafe addUnwoven($0, layout, visible) }
            return finish()
        }
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
        return finish()
    }

    /// NV12 as yuv420p, P010 as yuv420p10le.
    private func addUnwoven(_ bytes: UnsafeRawBufferPointer, _ layout: SurfaceLayout, _ visible: PixelRect) {
        let width = layout.format == .p010le ? 2 : 1, shift = layout.format == .p010le ? 6 : 0
        func row(_ plane: Int, _ y: Int, from x: Int, count: Int, stride: Int) {
            let start = layout.plane(plane).offset + y * layout.plane(plane).pitch + x * width
            unsafe withUnsafeTemporaryAllocation(byteCount: count * width, alignment: 2) { line in
                for index in 0..<count {
                    let place = start + index * stride * width
                    if width == 1 {
                        unsafe line[index] = bytes[place]
                    } else {
                        let value = unsafe bytes.loadUnaligned(fromByteOffset: place, as: UInt16.self) >> UInt16(shift)
                        unsafe line.storeBytes(of: value, toByteOffset: index * 2, as: UInt16.self)
                    }
                }
                unsafe add(UnsafeRawBufferPointer(line))
            }
        }
        for y in 0..<visible.height { row(0, visible.y + y, from: visible.x, count: visible.width, stride: 1) }
        for component in 0..<2 {
            for y in 0..<(visible.height + 1) / 2 {
                row(1, visible.y / 2 + y, from: visible.x / 2 * 2 + component, count: (visible.width + 1) / 2, stride: 2)
            }
        }
    }

    private func finish() -> String {
        unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 16) { digest in
            unsafe av_md5_final(context, digest.baseAddress)
            return unsafe digest.map { byte in String(byte >> 4, radix: 16) + String(byte & 15, radix: 16) }.joined()
        }
    }

    private func add(_ bytes: UnsafeRawBufferPointer) {
        unsafe av_md5_update(context, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), numericCast(bytes.count))
    }
}
