internal import Media
internal import SurfacePool

/// The alpha of a layer's frame, and where it lies in a plane of the result.
///
/// A sample of chroma is as opaque as the four pixels that it colours are on average.
@safe
struct LayerAlpha {
    /// The alpha of the pixel that falls on the first column and row of the result.
    private let base: UnsafeRawPointer
    private let pitch: Int
    /// Pixels are so many powers of two finer than the samples of the plane, across and down.
    private let shifts: (x: Int, y: Int)
    private let depth: Int

    /// - Parameters:
    ///   - bytes: Of the frame, whose alpha is its last plane.
    ///   - plane: The plane that is drawn.
    init(_ layer: DrawnLayer, _ bytes: UnsafeRawPointer, _ plane: PixelFormat.Plane) {
        let layout = layer.frame.surface.layout, facts = layout.format.description, place = layout.plane(facts.planes.count - 1)
        let origin = layer.place.frame, visible = layer.frame.visible, sampleBytes = facts.planes[facts.planes.count - 1].bitsPerSample / 8
        pitch = place.pitch
        unsafe base = bytes + place.offset + (visible.y - origin.y) * pitch + (visible.x - origin.x) * sampleBytes
        shifts = (plane.horizontalShift, plane.verticalShift)
        depth = facts.bitDepth
    }

    /// Writes what each sample of a row counts for, to its place in `weights`; 65,536 is all.
    ///
    /// - Parameter weight: Of the whole layer.
    func readWeights<Sample: FixedWidthInteger & UnsignedInteger>(
        _ row: Int, _ columns: Range<Int>, _ weight: UInt32, _ type: Sample.Type, into weights: UnsafeMutablePointer<UInt32>
    ) {
        let first = unsafe (base + (row << shifts.y) * pitch).assumingMemoryBound(to: Sample.self)
        if shifts.x == 0 {
            for x in columns { unsafe weights[x] = UInt32(truncatingIfNeeded: first[x]) }
        } else {
            let second = unsafe (base + ((row << shifts.y) + 1) * pitch).assumingMemoryBound(to: Sample.self)
            for x in columns {
                let above = unsafe UInt32(truncatingIfNeeded: first[2 &* x]) &+ UInt32(truncatingIfNeeded: first[2 &* x &+ 1])
                let below = unsafe UInt32(truncatingIfNeeded: second[2 &* x]) &+ UInt32(truncatingIfNeeded: second[2 &* x &+ 1])
                unsafe weights[x] = (above &+ below &+ 2) >> 2
            }
        }
        // 255, and 1023, become 65,536 exactly.
        if depth == 8 {
            for x in columns { unsafe weights[x] = weights[x] &* 257 &+ weights[x] >> 7 }
        } else {
            for x in columns { unsafe weights[x] = weights[x] << 6 &+ weights[x] >> 4 &+ weights[x] >> 9 }
        }
        if weight == DrawnLayer.opaque { return }
        for x in columns { unsafe weights[x] = (weights[x] &* weight) >> 16 }
    }
}
