import Capture
import Media
import Testing

@Suite("A camera's formats") struct CaptureFormatTests {
    @Test(
        "stand for layouts of pixels, by the order of their bytes",
        arguments: [
            ("NV12", PixelFormat.nv12), ("NV16", .nv16), ("YUYV", .yuyv422), ("UYVY", .uyvy422), ("YU12", .yuv420p), ("422P", .yuv422p),
            ("P010", .p010le), ("GREY", .gray), ("Y16 ", .gray16le), ("RGB3", .rgb24), ("BGR3", .bgr24), ("RGBP", .rgb565le), ("XR24", .bgr0),
            ("BX24", .zrgb), ("BA24", .argb), ("AR24", .bgra), ("AB24", .rgba), ("RA24", .abgr), ("BGR4", .bgr0), ("RGB4", .zrgb),
            ("NM12", .nv12), ("NM21", .nv21), ("NM16", .nv16), ("YM12", .yuv420p), ("YM16", .yuv422p),
        ])
    func pixels(code: String, format: PixelFormat) {
        #expect(CaptureEncoding(fourCC(code)) == .pixels(format))
    }

    @Test("or for a codec, or for nothing that is known")
    func others() {
        #expect(CaptureEncoding(fourCC("MJPG")) == .compressed(VideoCodec(name: "mjpeg")))
        #expect(CaptureEncoding(fourCC("H264")) == .compressed(.h264))
        #expect(CaptureEncoding(fourCC("BA81")) == .unknown)
    }

    @Test("have one code for a layout, and not a deprecated one")
    func codes() {
        #expect(CaptureEncoding.code(for: .nv12)?.description == "NV12")
        #expect(CaptureEncoding.code(for: .yuv420p)?.description == "YU12" && CaptureEncoding.code(for: .yuv422p)?.description == "422P")
        #expect(CaptureEncoding.code(for: .bgr0)?.description == "XR24")
        #expect(CaptureEncoding.code(for: .zrgb)?.description == "BX24")
        #expect(CaptureEncoding.code(for: .yuva444p) == nil)
    }

    /// The colour space, coding, quantisation and transfer of a driver; the layout; primaries, transfer, matrix of H.273, and the range.
    @Test(
        "carry their colours over",
        arguments: [
            (CaptureColor(colorspace: 3), PixelFormat.nv12, ColorDescription.bt709),
            (CaptureColor(colorspace: 1), .yuyv422, ColorDescription(primaries: 6, transfer: 6, matrix: 6, range: .limited, chromaSiting: .left)),
            (CaptureColor(colorspace: 8), .nv12, ColorDescription(primaries: 1, transfer: 13, matrix: 6, range: .limited, chromaSiting: .left)),
            (CaptureColor(colorspace: 8), .rgb24, ColorDescription(primaries: 1, transfer: 13, matrix: 0, range: .full)),
            (CaptureColor(colorspace: 7), .nv16, ColorDescription(primaries: 1, transfer: 13, matrix: 6, range: .full, chromaSiting: .center)),
            (CaptureColor(colorspace: 10), .p010le, ColorDescription(primaries: 9, transfer: 1, matrix: 9, range: .limited, chromaSiting: .left)),
            (
                CaptureColor(colorspace: 10, ycbcr: 7, quantization: 1, transfer: 7), .p010le,
                ColorDescription(primaries: 9, transfer: 16, matrix: 10, range: .full, chromaSiting: .left)
            ),
            (
                CaptureColor(colorspace: 8, ycbcr: 2, quantization: 2, transfer: 1), .nv12,
                ColorDescription(primaries: 1, transfer: 1, matrix: 1, range: .limited, chromaSiting: .left)
            ),
            (CaptureColor(colorspace: 8, quantization: 2), .bgr0, ColorDescription(primaries: 1, transfer: 13, matrix: 0, range: .limited)),
            (CaptureColor(colorspace: 0), .nv12, .unspecified), (CaptureColor(colorspace: 11), .nv12, .unspecified),
        ])
    func colors(color: CaptureColor, format: PixelFormat, expected: ColorDescription) {
        #expect(color.description(for: format) == expected)
    }

    @Test("are told in one line")
    func summary() {
        let format = CaptureFormat(
            code: fourCC("NV12"), name: "Y/UV 4:2:0",
            sizes: [
                sizes(320, 180, 60, 30),
                .init(
                    smallest: PixelSize(width: 16, height: 16), largest: PixelSize(width: 640, height: 480),
                    rates: [
                        .init(lowest: Ratio(1, 1), highest: Ratio(30000, 1001))
                    ]),
            ])
        #expect(format.summary == "NV12 320x180 at 60, 30; 16x16 to 640x480 at 1 to 29.97")
        #expect(format.pixelFormat == .nv12)
    }
}

/// The code that these four characters spell.
func fourCC(_ text: String) -> FourCC { FourCC(rawValue: text.utf8.enumerated().reduce(0) { $0 | UInt32($1.element) << (8 * UInt32($1.offset)) }) }

func sizes(_ width: Int, _ height: Int, _ rates: Int32...) -> CaptureFormat.Sizes {
    let size = PixelSize(width: width, height: height)
    return CaptureFormat.Sizes(smallest: size, largest: size, rates: rates.map { .init(lowest: Ratio($0, 1), highest: Ratio($0, 1)) })
}
