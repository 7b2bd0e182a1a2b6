public import Media

/// What a frame of the test film says about itself: its number, and whether it is one of those that flash with the beep.
///
/// `assets/film.py` paints 20 black or white cells along the top ninth of the image: white, black, 12 bits of the number
/// (highest first), 4 check bits, black, white. Each cell is judged by the middle of its area against the guard cells, so
/// the code survives scaling, 4:2:0 and hard compression; an image too small, cut, blended of two frames or turned does not read.
public struct FrameCode: Sendable, Hashable {
    public var number: Int
    public var isFlash: Bool

    /// The least distance between the levels of the black and the white guard cells that still counts as an image.
    private static let leastContrast = 60.0
    static let cellCount = 20

    /// Reads the code of a whole frame of any size.
    ///
    /// - Parameter luma: the brightness of one pixel, 0 (or 16) for black to 255 (or 235) for white.
    /// - Returns: nil when the guards or the check bits are not as they must be.
    public init?(size: PixelSize, luma: (_ x: Int, _ y: Int) -> Int) {
        let band = Double(size.height) / 9
        let cell = Double(size.width) / Double(Self.cellCount)
        guard band >= 4, cell >= 4 else { return nil }

        let levels = (0..<Self.cellCount).map { index in
            Self.meanLevel(
                x: (Double(index) + 0.25) * cell, y: band * 0.25, width: cell * 0.5, height: band * 0.5, luma: luma)
        }
        let white = (levels[0] + levels[19]) / 2
        let black = (levels[1] + levels[18]) / 2
        guard white - black >= Self.leastContrast else { return nil }
        // A cell in the middle third between black and white is a blend of two frames, or no code at all.
        let third = (white - black) / 3
        var bits = 0
        for level in levels[2..<18] {
            if level > black + third, level < white - third { return nil }
            bits = bits << 1 | (level >= white - third ? 1 : 0)
        }
        let number = bits >> 4
        guard bits & 15 == Self.check(number) else { return nil }
        self.number = number

        // A patch of the film's background on the left, where neither ball nor digits come.
        let background = Self.meanLevel(
            x: Double(size.width) * 0.015, y: Double(size.height) * 0.14, width: Double(size.width) * 0.05,
            height: Double(size.height) * 0.1, luma: luma)
        isFlash = background > black + (white - black) * 0.75
    }

    /// Reads the code of a plane of luma samples.
    ///
    /// - Parameters:
    ///   - bitDepth: more than 8 means samples of two bytes, in this machine's order, the value in the low bits.
    public init?(plane: UnsafeRawBufferPointer, size: PixelSize, bytesPerRow: Int, bitDepth: Int = 8) {
        self.init(size: size) { x, y in
            if bitDepth > 8 {
                return unsafe Int(plane.loadUnaligned(fromByteOffset: y * bytesPerRow + x * 2, as: UInt16.self)) >> (bitDepth - 8)
            }
            return unsafe Int(plane[y * bytesPerRow + x])
        }
    }

    /// Reads the code of an image of red, green and blue, such as a screenshot, or of the part of it that shows the film.
    public init?(_ image: RGBImage, in part: PixelRect? = nil) {
        let part = part ?? PixelRect(image.size)
        self.init(size: part.size) { x, y in
            let color = image[part.x + x, part.y + y]
            return (color.red * 54 + color.green * 183 + color.blue * 19) >> 8
        }
    }

    /// The four check bits of a number: its nibbles and 9, each bit odd or even; 9 makes a black row invalid.
    static func check(_ number: Int) -> Int { (number >> 8 ^ number >> 4 ^ number ^ 9) & 15 }

    private static func meanLevel(
        x: Double, y: Double, width: Double, height: Double, luma: (_ x: Int, _ y: Int) -> Int
    ) -> Double {
        var sum = 0
        var count = 0
        for row in Int(y)..<max(Int(y) + 1, Int(y + height)) {
            for column in Int(x)..<max(Int(x) + 1, Int(x + width)) {
                sum += luma(column, row)
                count += 1
            }
        }
        return Double(sum) / Double(count)
    }
}
