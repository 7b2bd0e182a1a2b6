public import Media

/// An image of 8-bit red, green and blue in memory: a decoded screenshot, or a converted frame.
public struct RGBImage: Sendable, CustomStringConvertible {
    public var description: String { "an image of \(size)" }

    /// Where the colours of a pixel lie in its bytes.
    public struct Layout: Sendable, Hashable {
        public var bytesPerPixel, red, green, blue: Int
        public init(bytesPerPixel: Int, red: Int, green: Int, blue: Int) {
            self.bytesPerPixel = bytesPerPixel
            self.red = red
            self.green = green
            self.blue = blue
        }
        /// Bytes R G B: ffmpeg's rgb24.
        public static let rgb24 = Layout(bytesPerPixel: 3, red: 0, green: 1, blue: 2)
        /// Bytes B G R X: DRM's and wl_shm's XRGB8888 and ARGB8888.
        public static let xrgb8888 = Layout(bytesPerPixel: 4, red: 2, green: 1, blue: 0)
        /// Bytes R G B X: DRM's XBGR8888.
        public static let xbgr8888 = Layout(bytesPerPixel: 4, red: 0, green: 1, blue: 2)
    }

    public struct Color: Sendable, Hashable {
        public var red, green, blue: Int
        public init(red: Int, green: Int, blue: Int) {
            self.red = red
            self.green = green
            self.blue = blue
        }
        /// The distance in the channel that differs most.
        public func distance(to other: Color) -> Int {
            max(abs(red - other.red), abs(green - other.green), abs(blue - other.blue))
        }
    }

    public let size: PixelSize
    private let bytes: [UInt8]
    private let bytesPerRow: Int
    private let layout: Layout

    /// - Precondition: `bytes` holds `height` rows of `bytesPerRow` (by default: of packed pixels).
    public init(bytes: [UInt8], size: PixelSize, layout: Layout, bytesPerRow: Int? = nil) {
        let bytesPerRow = bytesPerRow ?? size.width * layout.bytesPerPixel
        precondition(bytes.count >= bytesPerRow * (size.height - 1) + size.width * layout.bytesPerPixel)
        self.bytes = bytes
        self.size = size
        self.layout = layout
        self.bytesPerRow = bytesPerRow
    }

    public subscript(x: Int, y: Int) -> Color {
        let start = y * bytesPerRow + x * layout.bytesPerPixel
        return Color(
            red: Int(bytes[start + layout.red]), green: Int(bytes[start + layout.green]), blue: Int(bytes[start + layout.blue]))
    }

    /// The mean colour of a part.
    public func mean(of part: PixelRect) -> Color {
        var sum = Color(red: 0, green: 0, blue: 0)
        for y in part.y..<part.y + part.height {
            for x in part.x..<part.x + part.width {
                let color = self[x, y]
                sum.red += color.red
                sum.green += color.green
                sum.blue += color.blue
            }
        }
        let count = max(1, part.width * part.height)
        return Color(red: sum.red / count, green: sum.green / count, blue: sum.blue / count)
    }

    /// The smallest rectangle that holds all pixels brighter than `level` in some channel; nil when there are none.
    /// Finds the film between the black bars of a letterboxed screenshot: its top row of cells reaches from edge to edge
    /// in white, and its lower left corner is a bright bar.
    public func bounds(brighterThan level: Int = 40) -> PixelRect? {
        var left = size.width, right = -1, top = size.height, bottom = -1
        for y in 0..<size.height {
            for x in 0..<size.width {
                let color = self[x, y]
                guard max(color.red, color.green, color.blue) > level else { continue }
                left = min(left, x)
                right = max(right, x)
                top = min(top, y)
                bottom = max(bottom, y)
            }
        }
        guard right >= left else { return nil }
        return PixelRect(x: left, y: top, width: right - left + 1, height: bottom - top + 1)
    }
}
