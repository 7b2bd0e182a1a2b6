import Media
import Testing

@testable import Subtitles

/// Where images lie on the display.
@Suite struct ImagePlaceTests {
    /// A rectangle of a canvas, whether it keeps its shape, the film on the display, the place there.
    @Test(
        arguments: [
            (
                PixelRect(x: 10, y: 20, width: 30, height: 40), PixelSize(width: 100, height: 100), false,
                PixelRect(x: 0, y: 0, width: 200, height: 100),
                PixelRect(x: 20, y: 20, width: 60, height: 40)
            ),
            (
                PixelRect(x: 10, y: 20, width: 30, height: 40), PixelSize(width: 100, height: 100), true,
                PixelRect(x: 0, y: 0, width: 200, height: 100),
                PixelRect(x: 60, y: 20, width: 30, height: 40)
            ),
            (
                PixelRect(x: 0, y: 0, width: 1280, height: 720), PixelSize(width: 1280, height: 720), true,
                PixelRect(x: 0, y: 10, width: 1080, height: 720), PixelRect(x: -100, y: 10, width: 1280, height: 720)
            ),
            (
                PixelRect(x: 1, y: 1, width: 1, height: 1), PixelSize(width: 1000, height: 1000), false, PixelRect(x: 5, y: 5, width: 10, height: 10),
                PixelRect(x: 5, y: 5, width: 1, height: 1)
            ),
            (
                PixelRect(x: 1, y: 2, width: 3, height: 4), PixelSize(width: 0, height: 0), false, PixelRect(x: 5, y: 5, width: 10, height: 10),
                PixelRect(x: 1, y: 2, width: 3, height: 4)
            ),
        ] as [(PixelRect, PixelSize, Bool, PixelRect, PixelRect)])
    func `a canvas covers the film, or is as high as it`(
        _ rect: PixelRect, _ canvas: PixelSize, _ keepsShape: Bool, _ film: PixelRect, _ expected: PixelRect
    ) {
        #expect(ImageTrack.place(rect, of: canvas, keepsShape: keepsShape, film: film) == expected)
    }
}
