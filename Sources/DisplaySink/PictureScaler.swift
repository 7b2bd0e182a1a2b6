internal import CAV
package import Media
package import SurfacePool

/// Converts pictures to RGB of any size with libswscale, by the film's own matrix and range.
///
/// Thread-safety: one thread at a time.
@safe
package final class PictureScaler {
    private var scaler: UnsafeMutableRawPointer?
    /// Where the planes of the picture in hand begin, and their pitches; kept to be used again.
    private var planes: [UnsafePointer<UInt8>?] = unsafe [nil, nil, nil, nil]
    private var pitches: [Int32] = [0, 0, 0, 0]

    package init() {}

    deinit { unsafe cav_sws_free(scaler) }

    /// The part of a picture that is converted: from the first pixel that can be parted from its neighbours.
    package struct Part {
        package var left, top: Int
        package var size: PixelSize
        /// What is meant to be seen of it.
        package var visible: PixelRect

        /// Pixels that share a byte or a chroma sample cannot be parted: begin at the one before.
        package init(of frame: borrowing VideoFrame) {
            let facts = frame.surface.layout.format.description
            let unitX = facts.planes[0].bitsPerSample < 8 ? 8 : 1 << max(facts.chromaShiftX, facts.planes.lazy.map(\.horizontalShift).max() ?? 0)
            let unitY = 1 << facts.chromaShiftY
            left = frame.visible.x / unitX * unitX
            top = frame.visible.y / unitY * unitY
            size = PixelSize(width: frame.visible.x + frame.visible.width - left, height: frame.visible.y + frame.visible.height - top)
            visible = PixelRect(
                x: frame.visible.x - left, y: frame.visible.y - top, width: frame.visible.width, height: frame.visible.height)
        }
    }

    /// Writes `part` of `frame`, made `size` big, as blue, green, red, unused. False when libswscale cannot do it.
    package func convert(
        _ frame: borrowing VideoFrame, _ part: Part, to size: PixelSize, at base: UnsafeMutableRawPointer, pitch: Int
    ) -> Bool {
        let layout = frame.surface.layout
        let facts = layout.format.description
        let color = frame.attributes.color.resolved(for: layout.format, size: frame.visible.size)
        let source = unsafe av_get_pix_fmt(layout.format.rawValue), target = unsafe av_get_pix_fmt(PixelFormat.bgr0.rawValue)
        unsafe scaler = cav_sws_get_display(
            scaler, Int32(part.size.width), Int32(part.size.height), source, Int32(size.width), Int32(size.height), target,
            Self.matrix(color.matrix), color.range == .full ? 1 : 0)
        guard unsafe scaler != nil else { return false }
        let rows = unsafe frame.surface.withUnsafeBytes { bytes in
            for index in 0..<layout.planeCount {
                let place = layout.plane(index)
                var offset = place.offset
                if index < facts.planes.count {
                    let plane = facts.planes[index]
                    offset += (part.top >> plane.verticalShift) * place.pitch + ((part.left >> plane.horizontalShift) * plane.bitsPerSample) / 8
                }
                unsafe planes[index] = unsafe bytes.baseAddress!.advanced(by: offset).assumingMemoryBound(to: UInt8.self)
                pitches[index] = Int32(place.pitch)
            }
            return unsafe cav_sws_convert(
                scaler, planes, pitches, Int32(part.size.height), base.assumingMemoryBound(to: UInt8.self), Int32(pitch))
        }
        return rows == Int32(size.height)
    }

    /// libswscale numbers matrices as H.273 does, with gaps.
    private static func matrix(_ matrix: UInt8) -> Int32 {
        switch matrix {
        case 1, 4, 5, 7, 9: Int32(matrix)
        case 10: 9
        default: 5
        }
    }
}
