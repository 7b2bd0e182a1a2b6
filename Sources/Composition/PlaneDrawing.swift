internal import Media
internal import SurfacePool

/// A plane of a layer's frame, and where it lies in the same plane of the result. All numbers count samples and rows of the plane.
@safe
struct LayerSlice {
    /// The sample that falls on the first column and row of the result.
    private let base: UnsafeRawPointer
    private let pitch: Int
    let columns: Range<Int>
    let rows: Range<Int>
    let weight: UInt32
    /// How opaque each sample is; nil for a frame without alpha.
    let alpha: LayerAlpha?

    init(_ layer: DrawnLayer, _ bytes: UnsafeRawPointer, plane: Int) {
        let layout = layer.frame.surface.layout, facts = layout.format.description.planes[plane], place = layout.plane(plane)
        func x(_ pixels: Int) -> Int { pixels >> facts.horizontalShift }
        func y(_ pixels: Int) -> Int { pixels >> facts.verticalShift }
        let shown = layer.place.shown, origin = layer.place.frame, visible = layer.frame.visible
        columns = x(shown.x)..<x(shown.x + shown.width)
        rows = y(shown.y)..<y(shown.y + shown.height)
        pitch = place.pitch
        let sampleBytes = facts.bitsPerSample / 8
        unsafe base = bytes + place.offset + (y(visible.y) - y(origin.y)) * pitch + (x(visible.x) - x(origin.x)) * sampleBytes
        weight = layer.weight
        unsafe alpha = layer.hasAlpha ? LayerAlpha(layer, bytes, facts) : nil
    }

    /// It shows nothing of what lies below, in a row of the whole width.
    func hides(_ width: Int) -> Bool { weight == DrawnLayer.opaque && alpha == nil && columns == 0..<width }

    func row<Sample>(_ number: Int, _ type: Sample.Type) -> UnsafePointer<Sample> {
        unsafe (base + number * pitch).assumingMemoryBound(to: type)
    }
}

/// Draws layers into a plane of the result, row by row: each row of the sources is read once and each of the result written once.
@safe
struct PlaneDrawing {
    private let base: UnsafeMutableRawPointer
    private let pitch: Int
    private let width: Int
    private let height: Int

    init(_ plane: PixelFormat.Plane, of size: PixelSize, at base: UnsafeMutableRawPointer, _ pitch: Int) {
        unsafe self.base = base
        self.pitch = pitch
        width = size.width >> plane.horizontalShift
        height = size.height >> plane.verticalShift
    }

    /// Bits behind the point while several layers are added: with weights of 16 bits the sums of 10-bit samples fill 32.
    private static let fraction: UInt32 = 6

    /// - Parameters:
    ///   - layers: The lowest first.
    ///   - sums: Memory that is kept from frame to frame.
    func draw<Sample: FixedWidthInteger & UnsignedInteger>(_ layers: [LayerSlice], over background: Sample, _ sums: inout [UInt32]) {
        // The second half is for the weights of a layer's samples.
        if sums.count < 2 * width { sums = [UInt32](repeating: 0, count: 2 * width) }
        unsafe sums.withUnsafeMutableBufferPointer { sums in
            for number in 0..<height {
                let target = unsafe (base + number * pitch).assumingMemoryBound(to: Sample.self)
                var seen = layers.filter { $0.rows.contains(number) }[...]
                // What lies below an opaque layer of the whole width is not seen.
                let lowest = seen.lastIndex { $0.hides(width) }
                if let lowest { seen = seen[lowest...] }
                if lowest == nil {
                    if seen.isEmpty {
                        unsafe target.update(repeating: background, count: width)
                        continue
                    }
                } else if seen.count == 1 {
                    unsafe target.update(from: seen[seen.startIndex].row(number, Sample.self), count: width)
                    continue
                } else if seen.count == 2, let lower = seen.first, let upper = seen.last, upper.alpha == nil {
                    unsafe cover(lower.row(number, Sample.self), upper, number, sums.baseAddress!, target)
                    continue
                }
                unsafe mix(seen, number, lowest == nil ? background : nil, sums.baseAddress!, target)
            }
        }
    }

    /// Draws a layer without alpha over the row of one that hides the rest: what `mix` does, in one pass, rounded once.
    ///
    /// `lower * (1 - weight) + upper * weight` is `lower + (upper - lower) * weight`, whose product of two numbers of 16 bits processors take in two
    /// halves, eight samples at a time and more. The compiler sees that only if the weight is read beside the samples. A difference of samples of up
    /// to 15 bits fits; there are 8 and 10.
    ///
    /// - Parameters:
    ///   - lower: The row that hides the rest, of the whole width.
    ///   - scratch: Room for the weights, at least `width` of them.
    private func cover<Sample: FixedWidthInteger & UnsignedInteger>(
        _ lower: UnsafePointer<Sample>, _ layer: LayerSlice, _ number: Int, _ scratch: UnsafeMutablePointer<UInt32>,
        _ target: UnsafeMutablePointer<Sample>
    ) {
        let columns = layer.columns, upper = unsafe layer.row(number, Sample.self)
        unsafe target.update(from: lower, count: columns.lowerBound)
        unsafe (target + columns.upperBound).update(from: lower + columns.upperBound, count: width - columns.upperBound)
        if layer.weight == DrawnLayer.opaque {
            unsafe (target + columns.lowerBound).update(from: upper + columns.lowerBound, count: columns.count)
            return
        }
        unsafe scratch.withMemoryRebound(to: Int16.self, capacity: width) { weights in
            unsafe weights.update(repeating: Int16(truncatingIfNeeded: layer.weight), count: width)
            for x in columns {
                let below = unsafe Int16(truncatingIfNeeded: lower[x]), weight = unsafe weights[x]
                let difference = unsafe Int16(truncatingIfNeeded: upper[x]) &- below
                let low = UInt16(truncatingIfNeeded: difference &* weight)
                var high = Int16(truncatingIfNeeded: (Int32(difference) &* Int32(weight)) >> 16)
                // A weight of a half and more is read as negative, 65,536 too small.
                high &+= difference & (weight >> 15)
                unsafe target[x] = Sample(truncatingIfNeeded: below &+ high &+ Int16(truncatingIfNeeded: low >> 15))
            }
        }
    }

    /// - Parameter background: nil when the lowest layer hides it.
    private func mix<Sample: FixedWidthInteger & UnsignedInteger>(
        _ layers: ArraySlice<LayerSlice>, _ number: Int, _ background: Sample?, _ sums: UnsafeMutablePointer<UInt32>,
        _ target: UnsafeMutablePointer<Sample>
    ) {
        var layers = layers
        if let background {
            unsafe sums.update(repeating: UInt32(background) << Self.fraction, count: width)
        } else if let lowest = layers.popFirst() {
            let source = unsafe lowest.row(number, Sample.self)
            for x in 0..<width { unsafe sums[x] = UInt32(truncatingIfNeeded: source[x]) << Self.fraction }
        }
        for layer in layers {
            let source = unsafe layer.row(number, Sample.self), weight = layer.weight, rest = DrawnLayer.opaque - weight
            if let alpha = layer.alpha {
                let weights = unsafe sums + width
                unsafe alpha.readWeights(number, layer.columns, weight, Sample.self, into: weights)
                for x in layer.columns {
                    let share = unsafe weights[x]
                    unsafe sums[x] =
                        (sums[x] &* (DrawnLayer.opaque &- share) &+ (UInt32(truncatingIfNeeded: source[x]) << Self.fraction) &* share) >> 16
                }
                continue
            }
            for x in layer.columns {
                unsafe sums[x] = (sums[x] &* rest &+ (UInt32(truncatingIfNeeded: source[x]) << Self.fraction) &* weight) >> 16
            }
        }
        let half: UInt32 = 1 << (Self.fraction - 1)
        for x in 0..<width { unsafe target[x] = Sample(truncatingIfNeeded: (sums[x] &+ half) >> Self.fraction) }
    }
}
