public import Media

/// The eight colour bars along the bottom sixth of the test film: white, yellow, cyan, green, magenta, red, blue and black at 75 %,
/// in BT.709, limited range. They show whether a path from decoder to screen keeps the colours.
public enum ColorBars {
    /// What a screen of full-range RGB must show, left to right.
    public static let expected: [RGBImage.Color] = [
        .init(red: 191, green: 191, blue: 191), .init(red: 191, green: 191, blue: 0), .init(red: 0, green: 191, blue: 191),
        .init(red: 0, green: 191, blue: 0), .init(red: 191, green: 0, blue: 191), .init(red: 191, green: 0, blue: 0),
        .init(red: 0, green: 0, blue: 191), .init(red: 0, green: 0, blue: 0),
    ]

    /// What the film holds, left to right: Y, Cb, Cr of 8 bits.
    public static let expectedYCbCr: [(y: Int, cb: Int, cr: Int)] = [
        (180, 128, 128), (168, 44, 136), (145, 147, 44), (133, 63, 52), (63, 193, 204), (51, 109, 212), (28, 212, 120), (16, 128, 128),
    ]

    /// The mean colours of the middles of the bars of the film shown in `part` of an image.
    public static func measured(in image: RGBImage, part: PixelRect? = nil) -> [RGBImage.Color] {
        let part = part ?? PixelRect(image.size)
        return (0..<8).map { index in
            image.mean(
                of: PixelRect(
                    x: part.x + part.width * (4 * index + 1) / 32, y: part.y + part.height * 21 / 24,
                    width: max(1, part.width / 16), height: max(1, part.height / 12)))
        }
    }

    /// The largest difference of any bar's channel from what it must be, in 8-bit steps.
    public static func worstError(in image: RGBImage, part: PixelRect? = nil) -> Int {
        zip(measured(in: image, part: part), expected).map { $0.distance(to: $1) }.max() ?? 0
    }
}
