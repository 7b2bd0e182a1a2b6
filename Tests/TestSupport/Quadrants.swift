public import Media
public import SurfacePool

/// A still of four colours with a border that no viewer should see:
///
///     ┌ magenta ──────────┐
///     │  red      green   │
///     │  blue     white   │
///     └───────────────────┘
///
/// YUV is coded as the attributes say; by BT.601 in limited range, which compositors assume, when they say nothing.
public struct Quadrants: Sendable {
    public static let colors: [RGBImage.Color] = [
        .init(red: 255, green: 0, blue: 0), .init(red: 0, green: 255, blue: 0), .init(red: 0, green: 0, blue: 255),
        .init(red: 255, green: 255, blue: 255),
    ]
    private static let border = RGBImage.Color(red: 255, green: 0, blue: 255)

    public var format: PixelFormat
    /// Pixels of border on every side.
    public var margin: Int
    /// Of the visible part.
    public var size: PixelSize
    public var attributes: FrameAttributes

    public init(
        format: PixelFormat, margin: Int = 0, size: PixelSize = PixelSize(width: 320, height: 240),
        attributes: FrameAttributes = FrameAttributes()
    ) {
        self.format = format
        self.margin = margin
        self.size = size
        self.attributes = attributes
    }

    public var layout: SurfaceLayout {
        SurfaceLayout(format: format, covering: PixelSize(width: size.width + 2 * margin, height: size.height + 2 * margin))
    }

    public func frame(from pool: SurfacePool, sequence: UInt64) throws -> VideoFrame {
        let writer = try pool.acquire(waitingUntil: nil)!
        unsafe writer.withUnsafeMutableBytes { unsafe paint($0) }
        return VideoFrame(
            use: writer.finish(), visible: PixelRect(x: margin, y: margin, width: size.width, height: size.height), attributes: attributes,
            presentationTime: MediaTime(value: Int64(sequence), timescale: 30), sequence: sequence)
    }

    private func paint(_ bytes: UnsafeMutableRawBufferPointer) {
        let layout = layout
        let facts = format.description
        for (index, plane) in facts.planes.enumerated() {
            let place = layout.plane(index)
            for y in 0..<plane.rows(height: layout.size.height) {
                for x in 0..<(layout.size.width >> plane.horizontalShift) {
                    let color = color(
                        reach(x, plane.horizontalShift, size.width), reach(y, plane.verticalShift, size.height))
                    let offset = place.offset + y * place.pitch
                    let bytesPerSample = plane.bitsPerSample / 8
                    let shift = facts.bitDepth - 8
                    for (component, value) in samples(of: index, color).enumerated() {
                        // More than 8 bits: low-aligned, but for the semi-planar formats.
                        if shift > 0 {
                            let value = UInt16(value << (format == .p010le ? 8 : shift)).littleEndian
                            unsafe bytes.storeBytes(of: value, toByteOffset: offset + x * bytesPerSample + 2 * component, as: UInt16.self)
                        } else {
                            unsafe bytes[offset + x * bytesPerSample + component] = UInt8(value)
                        }
                    }
                }
            }
        }
    }

    /// What plane `index` holds of a pixel, in 8-bit steps.
    private func samples(of index: Int, _ color: RGBImage.Color) -> [Int] {
        switch format {
        // 255: Pixman copies the unused byte to the screen, and a screenshot takes it for alpha.
        case .bgr0: return [color.blue, color.green, color.red, 255]
        case .rgb24: return [color.red, color.green, color.blue]
        case .gbrp, .gbrp10le: return [[color.green, color.blue, color.red][index]]
        default:
            let (luma, blue, red) = yuv(color)
            if format.description.planes.count == 2 { return index == 0 ? [luma] : [blue, red] }
            return [[luma, blue, red][index]]
        }
    }

    /// The pixel that a sample stands for: of those that share it, one that is to be seen.
    private func reach(_ sample: Int, _ shift: Int, _ length: Int) -> Int {
        let first = sample << shift, last = first + (1 << shift) - 1
        guard last >= margin, first < margin + length else { return first }
        return min(max(first, margin), margin + length - 1)
    }

    private func color(_ x: Int, _ y: Int) -> RGBImage.Color {
        let x = x - margin, y = y - margin
        guard (0..<size.width).contains(x), (0..<size.height).contains(y) else { return Self.border }
        return Self.colors[(x * 2 / size.width) + 2 * (y * 2 / size.height)]
    }

    private func yuv(_ color: RGBImage.Color) -> (Int, Int, Int) {
        let isFull = attributes.color.range == .full || format.description.impliesFullRange
        let (kr, kb) =
            switch attributes.color.matrix {
            case 1: (0.2126, 0.0722)
            case 9: (0.2627, 0.0593)
            default: (0.299, 0.114)
            }
        let r = Double(color.red) / 255, g = Double(color.green) / 255, b = Double(color.blue) / 255
        let y = kr * r + (1 - kr - kb) * g + kb * b
        let cb = (b - y) / (2 * (1 - kb)), cr = (r - y) / (2 * (1 - kr))
        func chroma(_ value: Double) -> Int { min(Int((128 + (isFull ? 255 : 224) * value).rounded()), 255) }
        return (Int((isFull ? 255 * y : 16 + 219 * y).rounded()), chroma(cb), chroma(cr))
    }
}
