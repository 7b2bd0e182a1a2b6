import Media
import Testing

@testable import Decoding

/// Which render nodes a session tries, in which order, and what it says against hardware afterwards.
@Suite struct DeviceChoiceTests {
    private static let nodes = ["/dev/dri/renderD128", "/dev/dri/renderD129"]

    private static func choice(
        _ specification: DecoderSpecification = DecoderSpecification(), codec: VideoCodec = .h264, paths: [String] = nodes
    ) -> DeviceChoice {
        DeviceChoice(for: VideoFormat(codec: codec, codedSize: PixelSize(width: 640, height: 368)), specification) { paths }
    }

    @Test func `every node is tried once, in order, and what was said against each is told`() {
        var choice = Self.choice()
        #expect(choice.sentence == nil)
        #expect(choice.next() == Self.nodes[0])
        choice.refused("the driver does not decode H264High")
        #expect(choice.next() == Self.nodes[1] && choice.node == Self.nodes[1])
        choice.refused("open /dev/dri/renderD129: permission denied")
        #expect(choice.next() == nil)
        #expect(
            choice.sentence == "no hardware decoder takes the film: /dev/dri/renderD128: the driver does not decode H264High; "
                + "open /dev/dri/renderD129: permission denied")
    }

    @Test func `a device that is named is the only one`() {
        var choice = Self.choice(DecoderSpecification(hardware: .require, device: "/dev/dri/renderD200"))
        #expect(choice.next() == "/dev/dri/renderD200" && choice.next() == nil)
    }

    @Test func `nothing is tried that is not wanted, is not there, or could not serve`() {
        var unwanted = Self.choice(DecoderSpecification(hardware: .disable))
        #expect(unwanted.next() == nil && unwanted.sentence == nil)
        var none = Self.choice(paths: [])
        #expect(none.next() == nil && none.sentence?.contains("no DRM render node") == true)
        var film = VideoFormat(codec: .vp9, codedSize: PixelSize(width: 640, height: 368))
        film.hasAlpha = true
        var transparent = DeviceChoice(for: film, DecoderSpecification()) { Self.nodes }
        #expect(transparent.next() == nil && transparent.sentence == "no hardware decoder is made for vp9 with alpha")
        var unfit = Self.choice(codec: VideoCodec(name: "theora"))
        #expect(unfit.next() == nil && unfit.sentence?.contains("theora") == true)
    }

    @Test func `hardware that served and failed is told instead`() {
        var choice = Self.choice()
        _ = choice.next()
        choice.refused("no")
        _ = choice.next()
        choice.failed("the hardware decoder failed too often")
        #expect(choice.sentence == "the hardware decoder failed too often" && choice.node == Self.nodes[1])
    }
}
