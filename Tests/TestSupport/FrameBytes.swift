public import Media
public import SurfacePool

/// The visible pixels of a frame: rows without padding, plane after plane, as FFmpeg's `framemd5` and most publishers of
/// test streams count them. A palette counts as 1024 bytes after the pixels.
public struct FrameBytes: Sendable, Hashable {
    public var format: PixelFormat
    public var size: PixelSize
    public var bytes: [UInt8]

    public init(_ frame: borrowing VideoFrame) { self.init(frame.use.surface, visible: frame.visible) }

    public init(_ surface: Surface, visible: PixelRect) {
        self = unsafe surface.withUnsafeBytes { unsafe FrameBytes(layout: surface.layout, visible: visible, memory: $0) }
    }

    /// A frame in memory of any kind.
    public init(layout: SurfaceLayout, visible: PixelRect, memory: UnsafeRawBufferPointer) {
        format = layout.format
        size = visible.size
        var all: [UInt8] = []
        all.reserveCapacity(layout.format.byteCount(width: visible.width, height: visible.height))
        for (index, plane) in layout.format.description.planes.enumerated() {
            let place = layout.plane(index)
            let left = plane.rowBytes(width: visible.x), top = visible.y >> plane.verticalShift
            let length = plane.rowBytes(width: visible.width)
            for row in 0..<plane.rows(height: visible.height) {
                let start = place.offset + (top + row) * place.pitch + left
                unsafe all.append(contentsOf: UnsafeRawBufferPointer(rebasing: memory[start..<start + length]))
            }
        }
        if layout.format == .pal8 {
            let start = layout.plane(1).offset
            unsafe all.append(contentsOf: UnsafeRawBufferPointer(rebasing: memory[start..<start + SurfaceLayout.paletteByteCount]))
        }
        bytes = all
    }

    /// 4:2:0 of 8 bits with the two chroma planes woven into one, as hardware decoders put it out; nil for other formats.
    public var nv12: [UInt8]? {
        guard format == .yuv420p || format == .yuvj420p else { return nil }
        let luma = size.width * size.height
        let chroma = (bytes.count - luma) / 2
        var result = Array(bytes[..<luma])
        result.reserveCapacity(bytes.count)
        for index in luma..<luma + chroma {
            result.append(bytes[index])
            result.append(bytes[index + chroma])
        }
        return result
    }

    public var md5: String { Checksum.md5(bytes) }
}
