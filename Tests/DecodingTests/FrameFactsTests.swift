import CAV
import Media
import TestSupport
import Testing

@testable import Decoding

/// A frame of libavcodec's made by hand.
@safe
private struct HandmadeFrame: ~Copyable {
    let frame: UnsafeMutablePointer<AVFrame>

    init(width: Int32 = 1920, height: Int32 = 1088) {
        unsafe frame = av_frame_alloc()
        unsafe frame.pointee.width = width
        unsafe frame.pointee.height = height
    }

    deinit {
        var frame: UnsafeMutablePointer<AVFrame>? = unsafe frame
        unsafe av_frame_free(&frame)
    }

    func attributes(_ format: VideoFormat) -> FrameAttributes { unsafe FrameFacts(format: format).attributes(of: frame) }
    var visible: PixelRect { unsafe FrameFacts(format: plain).visible(in: frame) }
}

private let plain = VideoFormat(codec: .h264, codedSize: PixelSize(width: 1920, height: 1088))

@Suite("FrameFacts")
struct FrameFactsTests {
    @Test("the crop is exact to the pixel, and a senseless one is none")
    func crop() {
        let frame = HandmadeFrame()
        unsafe frame.frame.pointee.crop_bottom = 8
        unsafe frame.frame.pointee.crop_left = 3
        #expect(frame.visible == PixelRect(x: 3, y: 0, width: 1917, height: 1080))
        unsafe frame.frame.pointee.crop_right = 1917
        #expect(frame.visible == PixelRect(x: 0, y: 0, width: 1920, height: 1088))
        unsafe frame.frame.pointee.crop_right = .max
        #expect(frame.visible == PixelRect(x: 0, y: 0, width: 1920, height: 1088))
    }

    @Test("the frame's aspect counts where the container has none")
    func aspect() {
        let frame = HandmadeFrame()
        unsafe frame.frame.pointee.sample_aspect_ratio = AVRational(num: 4, den: 3)
        #expect(frame.attributes(plain).pixelAspect == Ratio(4, 3))
        var anamorphic = plain
        anamorphic.attributes.pixelAspect = Ratio(16, 11)
        #expect(frame.attributes(anamorphic).pixelAspect == Ratio(16, 11))
        unsafe frame.frame.pointee.sample_aspect_ratio = AVRational(num: 0, den: 1)
        #expect(frame.attributes(plain).pixelAspect == .unknown)
    }

    @Test("colour is the frame's, and the container's where the frame says nothing")
    func color() {
        let frame = HandmadeFrame()
        unsafe frame.frame.pointee.color_primaries = AVCOL_PRI_BT2020
        unsafe frame.frame.pointee.color_trc = AVCOL_TRC_UNSPECIFIED
        unsafe frame.frame.pointee.colorspace = AVCOL_SPC_BT2020_NCL
        unsafe frame.frame.pointee.color_range = AVCOL_RANGE_JPEG
        unsafe frame.frame.pointee.chroma_location = AVCHROMA_LOC_TOPLEFT
        var format = plain
        format.attributes.color = .bt709
        let color = frame.attributes(format).color
        #expect(color == ColorDescription(primaries: 9, transfer: 1, matrix: 9, range: .full, chromaSiting: .topLeft))
    }

    @Test("HDR10 metadata comes in the units of HEVC's SEI messages")
    func hdr() throws {
        let frame = HandmadeFrame()
        #expect(frame.attributes(plain).hdr == nil)
        let display = unsafe av_mastering_display_metadata_create_side_data(frame.frame)!
        unsafe display.pointee.has_primaries = 1
        unsafe display.pointee.has_luminance = 1
        unsafe display.pointee.display_primaries.0 = (AVRational(num: 34000, den: 50000), AVRational(num: 16000, den: 50000))
        unsafe display.pointee.white_point = (AVRational(num: 15635, den: 50000), AVRational(num: 16450, den: 50000))
        unsafe display.pointee.max_luminance = AVRational(num: 1000, den: 1)
        unsafe display.pointee.min_luminance = AVRational(num: 1, den: 10000)
        let light = unsafe av_content_light_metadata_create_side_data(frame.frame)!
        unsafe light.pointee.MaxCLL = 1200
        unsafe light.pointee.MaxFALL = 400
        let hdr = try #require(frame.attributes(plain).hdr)
        #expect(hdr.red == .init(x: 34000, y: 16000) && hdr.white == .init(x: 15635, y: 16450))
        #expect(hdr.maximumLuminance == 10_000_000 && hdr.minimumLuminance == 1)
        #expect(hdr.maximumContentLightLevel == 1200 && hdr.maximumFrameAverageLightLevel == 400)
    }

    @Test("HDR10 metadata of a film comes with its first frame")
    func film() throws {
        let attributes = try #require(try FilmDecoder.decoded(TestAssets.path("hdr10.mp4")).attributes)
        let hdr = try #require(attributes.hdr)
        #expect(hdr.maximumLuminance == 10_000_000 && hdr.minimumLuminance == 50)
        #expect(hdr.green == .init(x: 13250, y: 34500))
        #expect(hdr.maximumContentLightLevel == 1000 && hdr.maximumFrameAverageLightLevel == 400)
        #expect(attributes.color.transfer == 16)
    }
}
