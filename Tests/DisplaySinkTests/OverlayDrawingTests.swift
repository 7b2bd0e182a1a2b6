import DisplaySink
import Media
import Testing

/// Blending, pixel by pixel.
@Suite struct OverlayDrawingTests {
    private static let canvas = OverlayCanvas(size: PixelSize(width: 100, height: 50), film: PixelRect(x: 0, y: 0, width: 100, height: 50))

    /// A pixel over another, in libass's colors: red, green, blue and transparency.
    @Test(
        arguments: [
            ([], 0),
            ([(0xffff_ff00, 255)], 0xffff_ffff),
            ([(0xff00_0000, 255)], 0xffff_0000),
            ([(0x00ff_0000, 128)], 0x8000_8000),
            ([(0xffff_ff80, 255)], 0x7f7f_7f7f),
            ([(0xffff_ffff, 255)], 0),
            ([(0x0000_0000, 255), (0xffff_ff00, 255)], 0xffff_ffff),
            ([(0xff00_0000, 255), (0x0000_ff00, 128)], 0xff7f_0080),
            ([(0xff00_0000, 128), (0x0000_ff00, 128)], 0xc040_0080),
        ] as [([(color: UInt32, cover: UInt8)], UInt32)])
    func `shapes lie over each other`(_ shapes: [(color: UInt32, cover: UInt8)], _ expected: UInt32) throws {
        let pixel = PixelRect(x: 5, y: 5, width: 1, height: 1)
        var drawing = try #require(OverlayDrawing(around: [pixel], on: Self.canvas))
        for shape in shapes { unsafe withUnsafePointer(to: shape.cover) { unsafe drawing.fill(pixel, coverage: $0, pitch: 1, color: shape.color) } }
        #expect(drawing.pixels == [expected], "\(String(drawing.pixels[0], radix: 16))")
    }

    @Test func `premultiplied pixels lie over what is there`() throws {
        let pixels = PixelRect(x: 0, y: 0, width: 3, height: 1)
        var drawing = try #require(OverlayDrawing(around: [pixels], on: Self.canvas))
        drawing.lay(pixels, pixels: [0xffff_ffff, 0x8080_0000, 0])
        drawing.lay(pixels, pixels: [0x8000_0080, 0x8000_0080, 0xff12_3456])
        #expect(drawing.pixels == [0xff7f_7fff, 0xc040_0080, 0xff12_3456], "\(drawing.pixels.map { String($0, radix: 16) })")
    }

    /// Rectangles, the step, and what is drawn on.
    @Test(
        arguments: [
            ([], 1, nil),
            ([PixelRect(x: 1, y: 2, width: 3, height: 4)], 1, PixelRect(x: 1, y: 2, width: 3, height: 4)),
            (
                [PixelRect(x: 1, y: 2, width: 3, height: 4), PixelRect(x: 90, y: 40, width: 5, height: 5)], 1,
                PixelRect(x: 1, y: 2, width: 94, height: 43)
            ),
            ([PixelRect(x: -5, y: 45, width: 10, height: 10)], 1, PixelRect(x: 0, y: 45, width: 5, height: 5)),
            ([PixelRect(x: 200, y: 0, width: 10, height: 10)], 1, nil),
            ([PixelRect(x: 7, y: 7, width: 0, height: 3)], 1, nil),
            ([PixelRect(x: 1, y: 2, width: 3, height: 4)], 3, PixelRect(x: 0, y: 0, width: 6, height: 6)),
            ([PixelRect(x: 98, y: 48, width: 9, height: 9)], 3, PixelRect(x: 96, y: 48, width: 6, height: 3)),
        ] as [([PixelRect], Int, PixelRect?)])
    func `an image holds what is on the canvas, in whole steps`(_ rects: [PixelRect], _ step: Int, _ expected: PixelRect?) {
        var canvas = Self.canvas
        canvas.step = step
        #expect(OverlayDrawing(around: rects, on: canvas)?.place == expected)
    }

    @Test func `what lies beside the image is left out`() throws {
        var drawing = try #require(OverlayDrawing(around: [PixelRect(x: 2, y: 2, width: 2, height: 2)], on: Self.canvas))
        drawing.lay(PixelRect(x: 3, y: 1, width: 3, height: 2), pixels: [1, 1, 1, 0xff00_0001, 2, 2])
        #expect(drawing.pixels == [0, 0xff00_0001, 0, 0])
    }
}
