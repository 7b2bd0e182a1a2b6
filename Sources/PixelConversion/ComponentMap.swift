internal import CSwscale
internal import Media

/// Where each component of a pixel format lies in memory, for formats whose components are whole bytes or 16-bit words.
///
/// libavutil describes the formats (`av_pix_fmt_desc_get`), so that no format needs code of its own.
struct ComponentMap {
    /// Y Cb Cr, R G B, or Y alone.
    struct Component {
        var plane: Int
        /// Bytes from one sample to the next.
        var step: Int
        /// Offset of a row's first sample, in bytes.
        var offset: Int
        /// Unused bits below the value (P010 has 6).
        var shift: Int
    }

    let components: [Component]
    /// Components that hold alpha or nothing, which are filled with ones.
    let fillers: [Component]
    /// The one of `fillers` that holds alpha.
    let alpha: Component?
    let depth: Int
    var bytesPerSample: Int { depth > 8 ? 2 : 1 }

    private init(_ components: [Component], fillers: [Component] = [], alpha: Component? = nil, depth: Int) {
        (self.components, self.fillers, self.alpha, self.depth) = (components, fillers, alpha, depth)
    }

    /// One plane of plain numbers.
    init(planeOf depth: Int) { self.init([Component(plane: 0, step: depth > 8 ? 2 : 1, offset: 0, shift: 0)], depth: depth) }

    /// The alpha as if there were nothing else; nil for formats without.
    var alphaOnly: ComponentMap? { alpha.map { ComponentMap([$0], depth: depth) } }

    /// Nothing is filled with ones.
    var withoutFillers: ComponentMap { ComponentMap(components, alpha: alpha, depth: depth) }

    /// nil for formats with palettes, bit fields, or components of different depths.
    init?(_ format: PixelFormat) {
        let facts = format.description
        guard facts.model != .palette else { return nil }
        let number = PixelFormatTable.shared.number(of: format)
        var found: [Component] = [], depths: Set<Int32> = []
        for index in 0..<4 {
            var plane: Int32 = 0, step: Int32 = 0, offset: Int32 = 0, shift: Int32 = 0, depth: Int32 = 0
            guard unsafe csws_component(number, Int32(index), &plane, &step, &offset, &shift, &depth) != 0 else { break }
            depths.insert(depth)
            found.append(Component(plane: Int(plane), step: Int(step), offset: Int(offset), shift: Int(shift)))
        }
        guard let depth = depths.first, depths.count == 1, depth >= 8, depth <= 16 else { return nil }
        self.depth = Int(depth)
        let count = facts.model == .gray ? 1 : 3
        guard found.count >= count else { return nil }
        components = Array(found.prefix(count))
        var fillers = Array(found.dropFirst(count))
        // The fourth byte of RGB in 32 bits belongs to no component.
        if fillers.isEmpty, facts.model == .rgb, facts.planes.count == 1, found[0].step == 4 {
            fillers = [Component(plane: 0, step: 4, offset: 6 - found.reduce(0) { $0 + $1.offset }, shift: 0)]
        }
        self.fillers = fillers
        alpha = facts.hasAlpha ? fillers.first : nil
    }

    /// Copies samples `range` of a component's row to the same places in `target`, as numbers without padding. Repeats the last of the `existing`
    /// samples beyond the end of the row.
    static func read(
        _ component: Component, row: UnsafeRawPointer, bytesPerSample: Int, first: Int, range: Range<Int>, existing: Int,
        to target: UnsafeMutableRawPointer
    ) {
        let end = min(range.upperBound, existing)
        let start = unsafe row + component.offset + first * component.step
        if bytesPerSample == 1 {
            let output = unsafe target.assumingMemoryBound(to: UInt8.self), input = unsafe start.assumingMemoryBound(to: UInt8.self)
            if component.step == 1 {
                if range.lowerBound < end {
                    unsafe (output + range.lowerBound).update(from: input + range.lowerBound, count: end - range.lowerBound)
                }
            } else {
                for x in range.lowerBound..<max(end, range.lowerBound) { unsafe output[x] = input[x * component.step] }
            }
            for x in max(end, range.lowerBound)..<range.upperBound { unsafe output[x] = output[max(end, 1) - 1] }
        } else {
            let output = unsafe target.assumingMemoryBound(to: UInt16.self), input = unsafe start.assumingMemoryBound(to: UInt16.self)
            let step = component.step / 2, shift = UInt16(component.shift)
            // A loop for each step, so that each works on several samples at once.
            let existing = range.lowerBound..<max(end, range.lowerBound)
            switch step {
            case 1: for x in existing { unsafe output[x] = input[x] &>> shift }
            case 2: for x in existing { unsafe output[x] = input[2 &* x] &>> shift }
            default: for x in existing { unsafe output[x] = input[x &* step] &>> shift }
            }
            for x in max(end, range.lowerBound)..<range.upperBound { unsafe output[x] = output[max(end, 1) - 1] }
        }
    }

    /// Copies samples `range` of `source` to their places in a row.
    static func write(
        _ source: UnsafeRawPointer, to component: Component, row: UnsafeMutableRawPointer, bytesPerSample: Int, range: Range<Int>
    ) {
        let start = unsafe row + component.offset
        if bytesPerSample == 1 {
            let output = unsafe start.assumingMemoryBound(to: UInt8.self), input = unsafe source.assumingMemoryBound(to: UInt8.self)
            if component.step == 1 {
                unsafe (output + range.lowerBound).update(from: input + range.lowerBound, count: range.count)
            } else {
                for x in range { unsafe output[x * component.step] = input[x] }
            }
        } else {
            let output = unsafe start.assumingMemoryBound(to: UInt16.self), input = unsafe source.assumingMemoryBound(to: UInt16.self)
            let step = component.step / 2
            for x in range { unsafe output[x * step] = input[x] << component.shift }
        }
    }

    /// Fills samples `range` of a component with ones.
    static func fill(_ component: Component, row: UnsafeMutableRawPointer, depth: Int, range: Range<Int>) {
        let start = unsafe row + component.offset
        if depth <= 8 {
            let output = unsafe start.assumingMemoryBound(to: UInt8.self)
            for x in range { unsafe output[x * component.step] = 0xff }
        } else {
            let output = unsafe start.assumingMemoryBound(to: UInt16.self)
            for x in range { unsafe output[x * (component.step / 2)] = UInt16((1 << depth) - 1) << component.shift }
        }
    }
}
