import Media
import SurfacePool
import TestSupport

@testable import PixelConversion

/// A frame as numbers, and what it is converted to in floating point, by the formulas of H.273 and nothing else.
struct ExactFrame {
    var format: PixelFormat
    var size: PixelSize
    var color: ColorDescription
    /// Code values: Y Cb Cr, R G B or Y, each plane in its own size.
    var planes: [[Double]]

    private var facts: PixelFormat.Description { format.description }
    private var shiftX: Int { facts.chromaShiftX }
    private var shiftY: Int { facts.chromaShiftY }

    private func width(_ plane: Int) -> Int { plane == 0 ? size.width : (size.width + (1 << shiftX) - 1) >> shiftX }
    private func height(_ plane: Int) -> Int { plane == 0 ? size.height : (size.height + (1 << shiftY) - 1) >> shiftY }

    /// Code values by chance: all that the range allows, half of the frames smooth and within the gamut.
    init(_ format: PixelFormat, _ size: PixelSize, _ color: ColorDescription, isSmooth: Bool, _ dice: inout Dice) {
        self.format = format
        self.size = size
        self.color = color
        planes = []
        let facts = format.description, depth = facts.bitDepth, unit = Double(1 << (depth - 8))
        let isFull = color.range == .full, most = Double((1 << depth) - 1)
        for plane in 0..<(facts.model == .gray ? 1 : 3) {
            let isChroma = plane > 0 && facts.model == .yuv
            let low = isFull ? 0 : 16 * unit, high = isFull ? most : (isChroma ? 240 : 235) * unit
            let w = width(plane), h = height(plane)
            let (a, b) = (Double.random(in: 0...1, using: &dice), Double.random(in: 0...1, using: &dice))
            planes.append(
                (0..<w * h).map { index in
                    if isSmooth {
                        let x = Double(index % w) / Double(w), y = Double(index / w) / Double(h)
                        let share = isChroma ? 0.42 + 0.16 * (a * x + b * y) / 2 : 0.3 + 0.4 * (b * x + a * y) / 2
                        return (low + (high - low) * share).rounded()
                    }
                    return Double.random(in: low...high, using: &dice).rounded()
                })
        }
    }

    // MARK: Its meaning

    private static func weights(_ matrix: UInt8) -> (red: Double, blue: Double) {
        switch matrix {
        case 1: (0.2126, 0.0722)
        case 9: (0.2627, 0.0593)
        default: (0.299, 0.114)
        }
    }

    /// Where the first chroma sample sits, in units of luma samples from the first of them.
    private static func offset(_ siting: ChromaSiting, _ shiftX: Int, _ shiftY: Int) -> (x: Double, y: Double) {
        let middleX = (Double(1 << shiftX) - 1) / 2, middleY = (Double(1 << shiftY) - 1) / 2
        return switch siting {
        case .left, .unspecified: (0, middleY)
        case .center: (middleX, middleY)
        case .topLeft: (0, 0)
        case .top: (middleX, 0)
        case .bottomLeft: (0, Double(1 << shiftY) - 1)
        case .bottom: (middleX, Double(1 << shiftY) - 1)
        }
    }

    /// A component at a luma position, chroma between its samples in proportion to the distances.
    private func sample(_ plane: Int, _ x: Int, _ y: Int) -> Double {
        if plane == 0 || facts.model != .yuv { return planes[plane][y * size.width + x] }
        let offset = Self.offset(color.chromaSiting, shiftX, shiftY), w = width(plane), h = height(plane)
        let atX = min(max((Double(x) - offset.x) / Double(1 << shiftX), 0), Double(w - 1))
        let atY = min(max((Double(y) - offset.y) / Double(1 << shiftY), 0), Double(h - 1))
        let x0 = Int(atX), y0 = Int(atY), x1 = min(x0 + 1, w - 1), y1 = min(y0 + 1, h - 1)
        let fx = atX - Double(x0), fy = atY - Double(y0), values = planes[plane]
        return (values[y0 * w + x0] * (1 - fx) + values[y0 * w + x1] * fx) * (1 - fy) + (values[y1 * w + x0] * (1 - fx) + values[y1 * w + x1] * fx)
            * fy
    }

    /// A code value as a part of the range: luma and RGB 0…1, chroma −0.5…0.5.
    private static func meaning(_ code: Double, isChroma: Bool, _ range: ColorRange, _ depth: Int) -> Double {
        let unit = Double(1 << (depth - 8)), most = Double((1 << depth) - 1), middle = Double(1 << (depth - 1))
        if isChroma { return (code - middle) / (range == .full ? most : 224 * unit) }
        return range == .full ? code / most : (code - 16 * unit) / (219 * unit)
    }

    private static func code(_ meaning: Double, isChroma: Bool, _ range: ColorRange, _ depth: Int) -> Double {
        let unit = Double(1 << (depth - 8)), most = Double((1 << depth) - 1), middle = Double(1 << (depth - 1))
        let value =
            isChroma ? meaning * (range == .full ? most : 224 * unit) + middle : (range == .full ? meaning * most : meaning * 219 * unit + 16 * unit)
        return min(max(value, 0), most)
    }

    private func rgb(_ x: Int, _ y: Int) -> (Double, Double, Double) {
        let depth = facts.bitDepth
        func part(_ plane: Int) -> Double {
            Self.meaning(sample(plane, x, y), isChroma: plane > 0 && facts.model == .yuv, color.range, depth)
        }
        switch facts.model {
        case .rgb: return (part(0), part(1), part(2))
        case .gray, .palette: return (part(0), part(0), part(0))
        case .yuv:
            let (kr, kb) = Self.weights(color.matrix), luma = part(0), blue = part(1), red = part(2)
            let r = luma + 2 * (1 - kr) * red, b = luma + 2 * (1 - kb) * blue
            return (r, (luma - kr * r - kb * b) / (1 - kr - kb), b)
        }
    }

    /// The exact code values, unrounded, of this frame converted to a format whose chroma is as fine as its luma.
    func converted(to format: PixelFormat, _ color: ColorDescription) -> [[Double]] {
        let target = format.description, depth = target.bitDepth
        var result = Array(repeating: [Double](), count: target.model == .gray ? 1 : 3)
        for y in 0..<size.height {
            for x in 0..<size.width {
                let (r, g, b) = rgb(x, y)
                let parts: [Double]
                switch target.model {
                case .rgb: parts = [r, g, b]
                case .yuv, .gray, .palette:
                    let (kr, kb) = Self.weights(color.matrix), luma = kr * r + (1 - kr - kb) * g + kb * b
                    parts = [luma, (b - luma) / (2 * (1 - kb)), (r - luma) / (2 * (1 - kr))]
                }
                for index in result.indices {
                    result[index].append(Self.code(parts[index], isChroma: index > 0 && target.model == .yuv, color.range, depth))
                }
            }
        }
        return result
    }

    /// The exact code values of the same frame with another range or depth, each plane for itself.
    func rescaled(to format: PixelFormat, _ range: ColorRange) -> [[Double]] {
        planes.enumerated().map { index, values in
            let isChroma = index > 0 && facts.model == .yuv
            return values.map {
                Self.code(Self.meaning($0, isChroma: isChroma, color.range, facts.bitDepth), isChroma: isChroma, range, format.description.bitDepth)
            }
        }
    }

    // MARK: Its bytes

    /// The frame in a surface, `left` and `top` pixels from its corner.
    func frame(left: Int = 0, top: Int = 0, pool: SurfacePool? = nil) throws -> VideoFrame {
        let whole = PixelSize(width: size.width + left, height: size.height + top)
        let layout = SurfaceLayout(format: format, covering: whole)
        let pool = pool ?? SurfacePool(layout: layout, allocator: MemfdAllocator(), maximumCount: 1)
        let writer = try pool.acquire()!
        let map = ComponentMap(format)!
        unsafe writer.withUnsafeMutableBytes { bytes in
            for (index, component) in map.components.enumerated() {
                let (x, y) = index == 0 ? (0, 0) : (shiftX, shiftY), w = width(index), place = layout.plane(component.plane)
                for row in 0..<height(index) {
                    for column in 0..<w {
                        let value = Int(planes[index][row * w + column])
                        let start = place.offset + ((top >> y) + row) * place.pitch + component.offset + ((left >> x) + column) * component.step
                        if map.bytesPerSample == 1 {
                            unsafe bytes[start] = UInt8(value)
                        } else {
                            unsafe bytes.storeBytes(of: UInt16(value << component.shift), toByteOffset: start, as: UInt16.self)
                        }
                    }
                }
            }
        }
        return VideoFrame(
            use: writer.finish(), visible: PixelRect(x: left, y: top, width: size.width, height: size.height),
            attributes: FrameAttributes(color: color), presentationTime: MediaTime(value: 7, timescale: 25), sequence: 3, sampleNumber: 5)
    }

    /// The code values of a frame in memory.
    static func codes(of frame: borrowing VideoFrame) -> [[Double]] {
        let layout = frame.surface.layout, map = ComponentMap(layout.format)!, facts = layout.format.description, visible = frame.visible
        return unsafe frame.surface.withUnsafeBytes { bytes in
            map.components.enumerated().map { index, component in
                let (x, y) = index == 0 ? (0, 0) : (facts.chromaShiftX, facts.chromaShiftY), place = layout.plane(component.plane)
                let w = (visible.width + (1 << x) - 1) >> x, h = (visible.height + (1 << y) - 1) >> y
                return (0..<w * h).map { number in
                    let start =
                        place.offset + ((visible.y >> y) + number / w) * place.pitch + component.offset
                        + ((visible.x >> x) + number % w) * component.step
                    if map.bytesPerSample == 1 { return unsafe Double(bytes[start]) }
                    return unsafe Double(bytes.loadUnaligned(fromByteOffset: start, as: UInt16.self) >> component.shift)
                }
            }
        }
    }

    /// The largest distance of a code value from the exact one, rounded.
    static func worst(_ codes: [[Double]], _ exact: [[Double]]) -> Double {
        guard codes.count == exact.count, zip(codes, exact).allSatisfy({ $0.count == $1.count }) else { return .infinity }
        return zip(codes, exact).map { zip($0, $1).map { abs($0 - $1.rounded()) }.max() ?? 0 }.max() ?? .infinity
    }
}
