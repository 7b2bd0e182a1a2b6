internal import Media

/// A `LightMapping` for many pixels, at the depth of the result.
enum PixelLightMapping: Sendable {
    /// To 8 bits.
    case lanes(ToneMapLanes)
    /// To more.
    case tables(ToneMapTables)

    init(_ mapping: LightMapping, outputDepth: Int) {
        self = outputDepth <= 8 ? .lanes(ToneMapLanes(mapping)) : .tables(ToneMapTables(mapping, outputDepth: outputDepth))
    }

    /// Bits of the R′G′B′ that is read.
    var inputDepth: Int {
        switch self {
        case .lanes: ToneMapLanes.inputDepth
        case .tables: ToneMapTables.inputDepth
        }
    }
}

/// Maps the light of rows of R′G′B′ and writes them as pixels.
///
/// Thread-safety: one thread at a time.
@safe
final class MappedRows {
    private let mapping: PixelLightMapping
    private let target: ComponentMap
    /// Pixels of four bytes are written whole: each component's place in bits, and the bits that belong to none.
    private let packing: (red: UInt32, green: UInt32, blue: UInt32, ones: UInt32)?
    /// A row of each component, for other formats.
    private let scratch: [UnsafeMutablePointer<UInt16>]

    init(_ mapping: PixelLightMapping, _ target: ComponentMap, width: Int) {
        self.mapping = mapping
        self.target = target
        let places = target.components.map { UInt32($0.offset * 8) }
        if target.depth == 8, target.components.allSatisfy({ $0.plane == 0 && $0.step == 4 }) {
            packing = (places[0], places[1], places[2], target.fillers.reduce(0) { $0 | 0xff << UInt32($1.offset * 8) })
            unsafe scratch = []
        } else {
            packing = nil
            unsafe scratch = (0..<3).map { _ in .allocate(capacity: width) }
        }
    }

    deinit { for index in unsafe scratch.indices { unsafe scratch[index].deallocate() } }

    /// Writes pixels `range` of a row.
    ///
    /// - Parameters:
    ///   - red, green, blue: Rows of 16-bit numbers of the mapping's `inputDepth`.
    ///   - place: The row in `image`.
    func write(
        _ red: UnsafeRawPointer, _ green: UnsafeRawPointer, _ blue: UnsafeRawPointer, _ range: Range<Int>, _ image: ImagePlanes, _ place: Int
    ) {
        let red = unsafe red.assumingMemoryBound(to: UInt16.self), green = unsafe green.assumingMemoryBound(to: UInt16.self)
        let blue = unsafe blue.assumingMemoryBound(to: UInt16.self)
        switch mapping {
        case .tables(let tables):
            let (first, second, third) = unsafe (scratch[0], scratch[1], scratch[2])
            unsafe tables.map(red, green, blue, range) { x, r, g, b in
                unsafe first[x] = UInt16(r)
                unsafe second[x] = UInt16(g)
                unsafe third[x] = UInt16(b)
            }
        case .lanes(let lanes):
            if let packing {
                let row = unsafe image.planes[0] + place * image.pitches[0]
                unsafe lanes.map(red, green, blue, range) { x, r, g, b in
                    let pixel = packing.ones | r &<< packing.red | g &<< packing.green | b &<< packing.blue
                    unsafe row.storeBytes(of: pixel.littleEndian, toByteOffset: 4 &* x, as: UInt32.self)
                }
                return
            }
            let (first, second, third) = unsafe (
                UnsafeMutableRawPointer(scratch[0]), UnsafeMutableRawPointer(scratch[1]), UnsafeMutableRawPointer(scratch[2])
            )
            unsafe lanes.map(red, green, blue, range) { x, r, g, b in
                unsafe first.storeBytes(of: UInt8(truncatingIfNeeded: r), toByteOffset: x, as: UInt8.self)
                unsafe second.storeBytes(of: UInt8(truncatingIfNeeded: g), toByteOffset: x, as: UInt8.self)
                unsafe third.storeBytes(of: UInt8(truncatingIfNeeded: b), toByteOffset: x, as: UInt8.self)
            }
        }
        for (index, component) in target.components.enumerated() {
            unsafe ComponentMap.write(
                UnsafeRawPointer(scratch[index]), to: component, row: image.planes[component.plane] + place * image.pitches[component.plane],
                bytesPerSample: target.bytesPerSample, range: range)
        }
        for filler in target.fillers {
            unsafe ComponentMap.fill(filler, row: image.planes[filler.plane] + place * image.pitches[filler.plane], depth: target.depth, range: range)
        }
    }
}
