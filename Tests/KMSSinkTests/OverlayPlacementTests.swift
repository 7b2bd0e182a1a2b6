import DisplaySink
import KMSSink
import Media
import Testing

/// Where images over the film lie on a monitor, and how much memory they take.
@Suite struct OverlayPlacementTests {
    private static func rect(_ numbers: [Int]) -> PixelRect { PixelRect(x: numbers[0], y: numbers[1], width: numbers[2], height: numbers[3]) }
    private static func size(_ numbers: [Int]) -> PixelSize { PixelSize(width: numbers[0], height: numbers[1]) }
    private static let screen = PixelSize(width: 640, height: 480)

    @Test(
        arguments: [
            ([], nil),
            // Even, and 64 columns wide.
            ([[101, 33, 1, 1]], [100, 32, 64, 2]),
            ([[100, 32, 64, 2]], [100, 32, 64, 2]),
            ([[100, 32, 65, 3]], [100, 32, 128, 4]),
            // Both, with what lies between.
            ([[10, 400, 20, 20], [200, 440, 100, 11]], [10, 400, 320, 52]),
            // At the edges it stays on the screen, and what lies beside the screen counts for nothing.
            ([[630, 470, 10, 10]], [576, 470, 64, 10]),
            ([[-50, -20, 60, 30], [700, 0, 10, 10], [0, 480, 640, 1]], [0, 0, 64, 10]),
            ([[640, 0, 5, 5]], nil),
            ([[0, 0, 640, 480]], [0, 0, 640, 480]),
        ] as [([[Int]], [Int]?)])
    func `a plane covers what is on the screen`(_ images: [[Int]], _ expected: [Int]?) {
        #expect(OverlayPlacement.plane(around: images.map(Self.rect), on: Self.screen) == expected.map(Self.rect))
    }

    @Test func `a screen that is narrower than a plane, and one of odd height`() {
        let small = PixelSize(width: 50, height: 31)
        #expect(OverlayPlacement.plane(around: [Self.rect([45, 29, 3, 2])], on: small) == Self.rect([0, 28, 50, 3]))
    }

    @Test(
        arguments: [
            ([100, 20], nil, [128, 32]), ([64, 16], nil, [64, 16]),
            // It suffices, or grows in one direction.
            ([100, 20], [128, 32], [128, 32]), ([60, 10], [128, 32], [128, 32]), ([300, 20], [128, 48], [320, 48]),
            // More than four times what is needed.
            ([64, 16], [640, 480], [64, 16]), ([64, 16], [64, 80], [64, 16]), ([600, 16], [64, 480], [640, 16]),
        ] as [([Int], [Int]?, [Int])])
    func `memory is kept while it suits`(_ needed: [Int], _ old: [Int]?, _ expected: [Int]) {
        #expect(OverlayPlacement.memory(for: Self.size(needed), having: old.map(Self.size)) == Self.size(expected))
    }

    /// Canvas and film that an image was drawn for, those of the monitor, the image and its place there.
    @Test(
        arguments: [
            ([640, 480], [0, 60, 640, 360], [640, 480], [0, 60, 640, 360], [100, 400, 200, 20], [100, 400, 200, 20]),
            // The same shape at twice the size.
            ([640, 360], [0, 0, 640, 360], [1280, 720], [0, 0, 1280, 720], [100, 300, 200, 20], [200, 600, 400, 40]),
            // Below the film there, where this monitor has no black bar: the image stays on it.
            ([640, 480], [0, 60, 640, 360], [640, 360], [0, 0, 640, 360], [100, 440, 200, 20], [100, 340, 200, 20]),
            // The bars are at the sides here.
            ([640, 480], [0, 0, 640, 480], [640, 240], [160, 0, 320, 240], [0, 400, 640, 40], [160, 200, 320, 20]),
        ] as [([Int], [Int], [Int], [Int], [Int], [Int])])
    func `another monitor shows an image at the same place of the film`(
        _ other: [Int], _ otherFilm: [Int], _ canvas: [Int], _ film: [Int], _ image: [Int], _ expected: [Int]
    ) {
        let view = OverlayView(
            canvas: OverlayCanvas(size: Self.size(canvas), film: Self.rect(film)), part: PixelRect(Self.size(canvas)))
        let drawn = OverlayCanvas(size: Self.size(other), film: Self.rect(otherFilm))
        #expect(view.place(of: Self.rect(image), drawnFor: drawn) == Self.rect(expected))
    }

    /// Two pixels, and the row that is made of them.
    @Test(
        arguments: [
            ([0xff00_0000, 0xffff_ffff], 2, [0xff00_0000, 0xffff_ffff]),
            ([0xff00_0000, 0xffff_ffff], 4, [0xff00_0000, 0xff40_4040, 0xffbf_bfbf, 0xffff_ffff]),
            ([0, 0x8080_0000], 1, [0x4040_0000]),
            ([0x1234_5678, 0x1234_5678], 3, [0x1234_5678, 0x1234_5678, 0x1234_5678]),
        ] as [([UInt32], Int, [UInt32])])
    func `scaled pixels lie between their neighbours`(_ pixels: [UInt32], _ width: Int, _ expected: [UInt32]) {
        let image = OverlayImage(place: PixelRect(x: 0, y: 0, width: 2, height: 1), pixels: pixels)
        #expect(image.scaled(to: PixelSize(width: width, height: 1)) == expected)
        let upright = OverlayImage(place: PixelRect(x: 0, y: 0, width: 1, height: 2), pixels: pixels)
        #expect(upright.scaled(to: PixelSize(width: 1, height: width)) == expected)
    }
}
