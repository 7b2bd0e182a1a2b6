import Media
import Testing

@Suite struct PixelFormatTests {
    @Test(arguments: [
        (PixelFormat.yuv420p, 3, 8, 17, 9, 17 * 9 + 2 * 9 * 5),
        (.yuv420p10le, 3, 10, 16, 8, 2 * (16 * 8 + 2 * 8 * 4)),
        (.nv12, 2, 8, 17, 9, 17 * 9 + 18 * 5),
        (.yuva444p, 4, 8, 3, 3, 36),
        (.gbrp, 3, 8, 3, 3, 27),
        (.gray16le, 1, 16, 3, 3, 18),
        (.yuv410p, 3, 8, 8, 8, 64 + 8),
        (.monowhite, 1, 1, 9, 2, 4),
        (.pal8, 1, 8, 4, 4, 16 + 1024),
    ])
    func `layout follows from the format`(_ format: PixelFormat, _ planes: Int, _ depth: Int, _ width: Int, _ height: Int, _ bytes: Int) {
        #expect(format.planeCount == planes)
        #expect(format.description.bitDepth == depth)
        #expect(format.byteCount(width: width, height: height) == bytes)
    }

    @Test func `a FourCC prints as its characters`() {
        #expect(FourCC("NV12").rawValue == 0x3231_564e)
        #expect(FourCC(rawValue: 0x3231_564e).description == "NV12")
    }
}
