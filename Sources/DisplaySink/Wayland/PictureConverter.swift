internal import CAV
internal import Media
internal import SurfacePool

/// Converts pictures that the compositor does not take into ones that every compositor takes.
///
/// libswscale does it, with the film's matrix and range, into a few buffers of shared memory that are used again when released.
///
/// Thread-safety: belongs to the connection's thread.
@safe
final class PictureConverter {
    /// Blue, green, red, unused: `WL_SHM_FORMAT_XRGB8888`, which is mandatory.
    static let target = PixelFormat.bgr0
    private static let targetCode: UInt32 = 1
    /// 4: on the glass, on its way there, being released, being written.
    private static let most = 4

    private let connection: WaylandConnection
    private var pictures: [(memory: SharedMemory, buffer: WaylandBuffer)] = []
    private var size = PixelSize(width: 0, height: 0)
    private var scaler: UnsafeMutableRawPointer?
    /// Where the planes of the picture in hand begin, and their pitches; kept to be used again.
    private var planes: [UnsafePointer<UInt8>?] = unsafe [nil, nil, nil, nil]
    private var pitches: [Int32] = [0, 0, 0, 0]
    /// Bytes written by conversions so far.
    private(set) var bytesCopied = 0

    init(_ connection: WaylandConnection) { self.connection = connection }

    deinit { unsafe cav_sws_free(scaler) }

    /// Destroys the buffers.
    func destroy() {
        for picture in pictures { picture.buffer.destroy() }
        pictures = []
    }

    /// The visible part of `frame` in a released buffer; nil when the compositor holds them all, or libswscale cannot do it.
    func convert(_ frame: borrowing VideoFrame) -> WaylandBuffers.Prepared? {
        let layout = frame.surface.layout
        let facts = layout.format.description
        // Pixels that share a byte or a chroma sample cannot be parted: begin at the one before, and crop the rest.
        let unitX = facts.planes[0].bitsPerSample < 8 ? 8 : 1 << max(facts.chromaShiftX, facts.planes.lazy.map(\.horizontalShift).max() ?? 0)
        let unitY = 1 << facts.chromaShiftY
        let left = frame.visible.x / unitX * unitX, top = frame.visible.y / unitY * unitY
        let part = PixelSize(width: frame.visible.x + frame.visible.width - left, height: frame.visible.y + frame.visible.height - top)
        let color = frame.attributes.color.resolved(for: layout.format, size: frame.visible.size)
        let full = color.range == .full
        let source = unsafe av_get_pix_fmt(layout.format.rawValue)
        unsafe scaler = cav_sws_get_display(
            scaler, Int32(part.width), Int32(part.height), source, av_get_pix_fmt(Self.target.rawValue), Self.scalerMatrix(color.matrix), full ? 1 : 0
        )
        let pitch = (part.width * 4 + 63) / 64 * 64
        guard unsafe scaler != nil, let picture = free(part, pitch) else { return nil }
        let rows = unsafe frame.surface.withUnsafeBytes { bytes in
            for index in 0..<layout.planeCount {
                let place = layout.plane(index)
                var offset = place.offset
                if index < facts.planes.count {
                    let plane = facts.planes[index]
                    offset += (top >> plane.verticalShift) * place.pitch + ((left >> plane.horizontalShift) * plane.bitsPerSample) / 8
                }
                unsafe planes[index] = unsafe bytes.baseAddress!.advanced(by: offset).assumingMemoryBound(to: UInt8.self)
                pitches[index] = Int32(place.pitch)
            }
            return unsafe cav_sws_convert(
                scaler, planes, pitches, Int32(part.height), picture.memory.base.assumingMemoryBound(to: UInt8.self), Int32(pitch))
        }
        guard rows == Int32(part.height) else { return nil }
        bytesCopied += part.width * part.height * 4
        let visible = PixelRect(
            x: frame.visible.x - left, y: frame.visible.y - top, width: frame.visible.width, height: frame.visible.height)
        return WaylandBuffers.Prepared(buffer: picture.buffer, size: part, visible: visible, isDirect: false)
    }

    private func free(_ size: PixelSize, _ pitch: Int) -> (memory: SharedMemory, buffer: WaylandBuffer)? {
        if size != self.size {
            // What the compositor still shows stays with it: it keeps the memory of a destroyed buffer that is on the glass.
            destroy()
            self.size = size
        }
        if let free = pictures.first(where: { !$0.buffer.isHeld }) { return free }
        guard pictures.count < Self.most, let memory = SharedMemory(connection, byteCount: pitch * size.height),
            let buffer = memory.buffer(size: size, pitch: pitch, format: Self.targetCode)
        else { return nil }
        pictures.append((memory, buffer))
        return (memory, buffer)
    }

    /// libswscale numbers matrices as H.273 does, with gaps.
    private static func scalerMatrix(_ matrix: UInt8) -> Int32 {
        switch matrix {
        case 1, 4, 5, 7, 9: Int32(matrix)
        case 10: 9
        default: 5
        }
    }
}
