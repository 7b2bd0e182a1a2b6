import Media
import SurfacePool
import TestSupport

/// A still of four colours with a border that no viewer should see:
///
///     ┌ magenta ──────────┐
///     │  red      green   │
///     │  blue     white   │
///     └───────────────────┘
///
/// YUV is coded by BT.601 in limited range, which compositors assume.
struct Quadrants {
    static let colors: [RGBPicture.Color] = [
        .init(red: 255, green: 0, blue: 0), .init(red: 0, green: 255, blue: 0), .init(red: 0, green: 0, blue: 255),
        .init(red: 255, green: 255, blue: 255),
    ]
    private static let border = RGBPicture.Color(red: 255, green: 0, blue: 255)

    var format: PixelFormat
    /// Pixels of border on every side.
    var margin = 0
    /// Of the visible part.
    var size = PixelSize(width: 320, height: 240)
    var attributes = PictureAttributes()

    var layout: SurfaceLayout {
        SurfaceLayout(format: format, covering: PixelSize(width: size.width + 2 * margin, height: size.height + 2 * margin))
    }

    func frame(from pool: SurfacePool, sequence: UInt64) throws -> VideoFrame {
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
                    let color = color(x << plane.horizontalShift, y << plane.verticalShift)
                    let (luma, blue, red) = Self.yuv(color)
                    let offset = place.offset + y * place.pitch
                    switch format {
                    case .bgr0:
                        // 255: Pixman copies the unused byte to the screen, and a screenshot takes it for alpha.
                        for (byte, value) in [color.blue, color.green, color.red, 255].enumerated() {
                            unsafe bytes[offset + 4 * x + byte] = UInt8(value)
                        }
                    case .nv12:
                        if index == 0 {
                            unsafe bytes[offset + x] = UInt8(luma)
                        } else {
                            unsafe bytes[offset + 2 * x] = UInt8(blue)
                            unsafe bytes[offset + 2 * x + 1] = UInt8(red)
                        }
                    case .yuv420p10le:
                        let value = [luma, blue, red][index] * 4
                        unsafe bytes.storeBytes(of: UInt16(value).littleEndian, toByteOffset: offset + 2 * x, as: UInt16.self)
                    default:
                        unsafe bytes[offset + x] = UInt8([luma, blue, red][index])
                    }
                }
            }
        }
    }

    private func color(_ x: Int, _ y: Int) -> RGBPicture.Color {
        let x = x - margin, y = y - margin
        guard (0..<size.width).contains(x), (0..<size.height).contains(y) else { return Self.border }
        return Self.colors[(x * 2 / size.width) + 2 * (y * 2 / size.height)]
    }

    private static func yuv(_ color: RGBPicture.Color) -> (Int, Int, Int) {
        let r = Double(color.red) / 255, g = Double(color.green) / 255, b = Double(color.blue) / 255
        let y = 0.299 * r + 0.587 * g + 0.114 * b
        return (Int((16 + 219 * y).rounded()), Int((128 + 224 * (b - y) / 1.772).rounded()), Int((128 + 224 * (r - y) / 1.402).rounded()))
    }
}
