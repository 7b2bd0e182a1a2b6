import Capture
import Media
import Testing

@Suite("What is asked of a camera") struct CaptureRequestTests {
    /// A webcam as they are: raw formats slow at large sizes, JPEG fast.
    static let webcam = [
        CaptureFormat(code: fourCC("MJPG"), name: "Motion-JPEG", sizes: [sizes(1920, 1080, 30)]),
        CaptureFormat(code: fourCC("YUYV"), name: "YUYV 4:2:2", sizes: [sizes(640, 480, 30), sizes(1280, 720, 10), sizes(1920, 1080, 5)]),
        CaptureFormat(code: fourCC("NV12"), name: "Y/UV 4:2:0", sizes: [sizes(640, 480, 30, 15), sizes(1280, 720, 30), sizes(3840, 2160, 30)]),
    ]

    @Test(
        "is what the camera has, or the next best",
        arguments: [
            // The largest that is fluent and not beyond 1080 rows, in the format that displays take.
            (CaptureRequest(), CaptureRequest.Choice(code: fourCC("NV12"), size: PixelSize(width: 1280, height: 720))),
            (CaptureRequest(code: fourCC("YUYV")), .init(code: fourCC("YUYV"), size: PixelSize(width: 640, height: 480))),
            (
                CaptureRequest(code: fourCC("YUYV"), rate: Ratio(9, 1)),
                .init(code: fourCC("YUYV"), size: PixelSize(width: 1280, height: 720), rate: Ratio(10, 1))
            ),
            // Pixels come only slowly at this size.
            (CaptureRequest(size: PixelSize(width: 1920, height: 1080)), .init(code: fourCC("MJPG"), size: PixelSize(width: 1920, height: 1080))),
            (
                CaptureRequest(size: PixelSize(width: 1920, height: 1080), rate: Ratio(5, 1)),
                .init(code: fourCC("YUYV"), size: PixelSize(width: 1920, height: 1080), rate: Ratio(5, 1))
            ),
            (CaptureRequest(code: fourCC("MJPG")), .init(code: fourCC("MJPG"), size: PixelSize(width: 1920, height: 1080))),
            // A size that only one format has.
            (CaptureRequest(size: PixelSize(width: 3840, height: 2160)), .init(code: fourCC("NV12"), size: PixelSize(width: 3840, height: 2160))),
            (
                CaptureRequest(size: PixelSize(width: 640, height: 480), rate: Ratio(16, 1)),
                .init(code: fourCC("NV12"), size: PixelSize(width: 640, height: 480), rate: Ratio(15, 1))
            ),
        ])
    func choice(request: CaptureRequest, expected: CaptureRequest.Choice) {
        #expect(request.choose(from: Self.webcam) == expected)
    }

    @Test("is compressed where pixels come only slowly, or smaller than 1280x720")
    func compressed() {
        let without = Array(Self.webcam.prefix(2))
        #expect(CaptureRequest().choose(from: without) == .init(code: fourCC("MJPG"), size: PixelSize(width: 1920, height: 1080)))
        #expect(CaptureRequest(rate: Ratio(10, 1)).choose(from: without)?.code == fourCC("YUYV"))
        #expect(CaptureRequest(size: PixelSize(width: 640, height: 480)).choose(from: without)?.code == fourCC("YUYV"))
        let streams = [CaptureFormat(code: fourCC("H264"), name: "H.264", sizes: [sizes(1920, 1080, 30)]), without[0]]
        #expect(CaptureRequest().choose(from: streams)?.code == fourCC("MJPG"))
        #expect(CaptureRequest().choose(from: Array(streams.prefix(1)))?.code == fourCC("H264"))
    }

    @Test("is nothing where the camera lacks the format or the size")
    func none() {
        #expect(CaptureRequest(code: fourCC("VP90")).choose(from: Self.webcam) == nil)
        #expect(CaptureRequest(code: fourCC("P010")).choose(from: Self.webcam) == nil)
        #expect(CaptureRequest(size: PixelSize(width: 641, height: 480)).choose(from: Self.webcam) == nil)
        #expect(CaptureRequest().choose(from: []) == nil)
    }

    @Test("is a size within steps where the camera scales")
    func steps() {
        let steps = CaptureFormat.Sizes(
            smallest: PixelSize(width: 16, height: 8), largest: PixelSize(width: 4096, height: 2160), step: PixelSize(width: 16, height: 8),
            rates: [.init(lowest: Ratio(1, 1), highest: Ratio(60, 1))])
        let formats = [CaptureFormat(code: fourCC("NV12"), name: "", sizes: [steps])]
        #expect(CaptureRequest().choose(from: formats)?.size == PixelSize(width: 1280, height: 720))
        let odd = CaptureRequest(size: PixelSize(width: 640, height: 360), rate: Ratio(25, 1)).choose(from: formats)
        #expect(odd == .init(code: fourCC("NV12"), size: PixelSize(width: 640, height: 360), rate: Ratio(25, 1)))
        #expect(CaptureRequest(size: PixelSize(width: 641, height: 360)).choose(from: formats) == nil)
        let signal = PixelSize(width: 720, height: 576)
        #expect(CaptureRequest().choose(from: formats, present: signal)?.size == PixelSize(width: 1280, height: 720))
        #expect(CaptureRequest().choose(from: formats, present: signal, hasSignal: true)?.size == signal)
        #expect(CaptureRequest(rate: Ratio(120, 1)).choose(from: formats)?.rate == Ratio(60, 1))
    }

    @Test("is the size that is set where the camera lists none")
    func unlisted() {
        let formats = [CaptureFormat(code: fourCC("UYVY"), name: "", sizes: [])], present = PixelSize(width: 720, height: 576)
        #expect(CaptureRequest().choose(from: formats, present: present) == .init(code: fourCC("UYVY"), size: present))
        let asked = PixelSize(width: 640, height: 480)
        #expect(CaptureRequest(size: asked).choose(from: formats, present: present)?.size == asked)
        #expect(CaptureRequest().choose(from: formats) == nil)
    }
}
