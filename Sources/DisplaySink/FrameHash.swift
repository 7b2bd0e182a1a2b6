internal import CAV
internal import Media
public import SurfacePool

/// Computes the MD5 of a frame's visible pixels, plane by plane without padding, as FFmpeg's `framemd5` does.
///
/// A hardware decoder's NV12 or P010 frame is hashed as the planar frame that a software decoder would have made, so that both give the same hash.
///
/// Thread-safety: one thread at a time.
@safe
public final class FrameHash {
    private let context: OpaquePointer

    /// Allocates the MD5 state (`av_md5_alloc`). The process ends when there is no memory for it.
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
            // The palette is part of the frame.
            for index in planes.count..<max(layout.planeCount, planes.count) {
                let place = layout.plane(index)
                unsafe add(UnsafeRawBufferPointer(rebasing: bytes[place.offset..<(place.offset + place.pitch)]))
            }
        }
        return finish()
    }

    /// NV12 as yuv420p, P010 as yuv420p10le.
    private func addUnwoven(_ bytes: UnsafeRawBufferPointer, _ layout: SurfaceLayout, _ visible: PixelRect) {
        let luma = layout.plane(0), chroma = layout.plane(1)
        if layout.format == .nv12 {
            for y in visible.y..<(visible.y + visible.height) {
                let start = luma.offset + y * luma.pitch + visible.x
                unsafe add(UnsafeRawBufferPointer(rebasing: bytes[start..<(start + visible.width)]))
            }
            unsafe addEverySecond(bytes, chroma, visible, of: UInt8.self) { $0 }
        } else {
            unsafe withUnsafeTemporaryAllocation(of: UInt16.self, capacity: visible.width) { line in
                for y in visible.y..<(visible.y + visible.height) {
                    let start = luma.offset + y * luma.pitch + visible.x * 2
                    let row = unsafe bytes[start..<(start + visible.width * 2)]
                    let source = unsafe UnsafeRawBufferPointer(rebasing: row).assumingMemoryBound(to: UInt16.self)
                    var x = 0
                    while x < visible.width {
                        unsafe line[x] = source[x] >> 6
                        x += 1
                    }
                    unsafe add(UnsafeRawBufferPointer(line))
                }
            }
            unsafe addEverySecond(bytes, chroma, visible, of: UInt16.self) { $0 >> 6 }
        }
    }

    /// The two components of an interleaved chroma plane, one after the other.
    private func addEverySecond<T: FixedWidthInteger>(
        _ bytes: UnsafeRawBufferPointer, _ plane: SurfaceLayout.Plane, _ visible: PixelRect, of type: T.Type, _ value: (T) -> T
    ) {
        let width = (visible.width + 1) / 2, height = (visible.height + 1) / 2
        unsafe withUnsafeTemporaryAllocation(of: T.self, capacity: width) { line in
            for component in 0..<2 {
                for y in (visible.y / 2)..<(visible.y / 2 + height) {
                    let start = plane.offset + y * plane.pitch + visible.x / 2 * 2 * T.bitWidth / 8
                    let row = unsafe bytes[start..<(start + width * 2 * T.bitWidth / 8)]
                    let source = unsafe UnsafeRawBufferPointer(rebasing: row).assumingMemoryBound(to: T.self)
                    var x = 0
                    while x < width {
                        unsafe line[x] = value(source[2 * x + component])
                        x += 1
                    }
                    unsafe add(UnsafeRawBufferPointer(line))
                }
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
