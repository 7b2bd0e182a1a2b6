internal import Media

/// The alpha of a frame that is laid over black, for a target without alpha: each component becomes its share of itself.
///
/// In the code values of the target, not in light.
///
/// Thread-safety: `layOverBlack` on several threads for different rows; the rest on one thread at a time.
@safe
final class AlphaCover: @unchecked Sendable {
    /// Where the alpha is written: one plane, of the target's depth, with full range.
    let planes: ImagePlanes
    private let target: ComponentMap
    private let width: Int

    /// - Parameter target: RGB.
    init(_ target: ComponentMap, size: PixelSize) {
        let pitch = size.width * target.bytesPerSample
        self.target = target
        width = size.width
        unsafe planes = ImagePlanes(planes: [.allocate(byteCount: max(pitch * size.height, 1), alignment: 64)], pitches: [pitch])
    }

    deinit { unsafe planes.planes[0].deallocate() }

    /// Dims the pixels of some rows, whose alpha has been written.
    func layOverBlack(_ image: ImagePlanes, rows: Range<Int>) {
        for row in rows {
            let alpha = unsafe planes.planes[0] + row * planes.pitches[0]
            for component in target.components {
                let start = unsafe image.planes[component.plane] + row * image.pitches[component.plane] + component.offset
                if target.bytesPerSample == 1 {
                    unsafe Self.dim(start.assumingMemoryBound(to: UInt8.self), component.step, alpha.assumingMemoryBound(to: UInt8.self), width, 255)
                } else {
                    unsafe Self.dim(
                        start.assumingMemoryBound(to: UInt16.self), component.step / 2, alpha.assumingMemoryBound(to: UInt16.self), width,
                        UInt32(1) << UInt32(target.depth) - 1)
                }
            }
        }
    }

    /// - Parameter most: The alpha of an opaque pixel.
    private static func dim<Value: FixedWidthInteger>(
        _ pixels: UnsafeMutablePointer<Value>, _ step: Int, _ alpha: UnsafePointer<Value>, _ width: Int, _ most: UInt32
    ) {
        for x in 0..<width {
            let product = unsafe UInt32(truncatingIfNeeded: pixels[x &* step]) &* UInt32(truncatingIfNeeded: alpha[x])
            unsafe pixels[x &* step] = Value(truncatingIfNeeded: (product &+ most / 2) / most)
        }
    }
}

extension ConversionPlan {
    /// The plan for the alpha alone, which has full range in every format.
    var ofAlpha: ConversionPlan {
        func side(_ side: Side) -> Side { Side(format: .gray, color: ColorDescription(range: .full), size: side.size) }
        return ConversionPlan(source: side(source), target: side(target), filter: filter)
    }
}
