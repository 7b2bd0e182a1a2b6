import DisplaySink
import KMSSink
import Media
import Testing

@Suite struct PlacementTests {
    static let screen = PixelSize(width: 1024, height: 768)

    static func placement(
        _ visible: PixelRect, aspect: Ratio = .one, _ orientation: FrameOrientation = .upright, _ framing: Framing = Framing()
    ) -> PlanePlacement {
        PlanePlacement(
            buffer: PixelSize(width: 704, height: 400), visible: visible,
            attributes: FrameAttributes(pixelAspect: aspect, orientation: orientation),
            screen: screen, framing: framing)
    }

    @Test func `a crop is given in sixteen bits of fraction`() {
        let placement = Self.placement(PixelRect(x: 8, y: 2, width: 640, height: 360))
        #expect(placement.source == PlanePlacement.Source(x: 8 << 16, y: 2 << 16, width: 640 << 16, height: 360 << 16))
        #expect(placement.destination == PixelRect(x: 0, y: 96, width: 1024, height: 576))
        #expect(!placement.isUnscaled(.upright))
    }

    @Test func `filling cuts the frame's edges off`() {
        // 4:3 of 640x360 is 480 wide.
        let placement = Self.placement(PixelRect(x: 0, y: 0, width: 640, height: 360), .upright, Framing(gravity: .fill))
        #expect(placement.source == PlanePlacement.Source(x: 80 << 16, y: 0, width: 480 << 16, height: 360 << 16))
        #expect(placement.destination == PixelRect(Self.screen))
    }

    @Test func `panscan and zoom cut off less or more, and what is moved is cut on one side`() {
        // Half-way from 1024x576 to 1365.3x768; then double that; then a quarter of it to the right, which is turned to the left.
        var framing = Framing()
        framing.panscan = 0.5
        let half = Self.placement(PixelRect(x: 0, y: 0, width: 640, height: 360), .upright, framing)
        #expect(half.destination == PixelRect(x: 0, y: 48, width: 1024, height: 672))
        #expect(half.source == PlanePlacement.Source(x: 2_995_931, y: 0, width: 35_951_178, height: 360 << 16))
        framing = Framing()
        framing.zoom = 1
        let turned = FrameOrientation(rotation: .clockwise180)
        let double = Self.placement(PixelRect(x: 0, y: 0, width: 640, height: 360), turned, framing)
        #expect(double.source == PlanePlacement.Source(x: 160 << 16, y: 60 << 16, width: 320 << 16, height: 240 << 16))
        #expect(double.destination == PixelRect(Self.screen))
        framing.panX = 0.25
        let moved = Self.placement(PixelRect(x: 0, y: 0, width: 640, height: 360), turned, framing)
        #expect(moved.source == PlanePlacement.Source(x: 320 << 16, y: 60 << 16, width: 320 << 16, height: 240 << 16))
    }

    @Test func `a turned frame is cropped as it lies in memory`() {
        // Upright it is 360 wide and 640 high: fitted to the height, or cut to 360x270 (lying: 270x360).
        let quarter = FrameOrientation(rotation: .clockwise90)
        let fitted = Self.placement(PixelRect(x: 4, y: 0, width: 640, height: 360), quarter)
        #expect(fitted.source == PlanePlacement.Source(x: 4 << 16, y: 0, width: 640 << 16, height: 360 << 16))
        #expect(fitted.destination == PixelRect(x: 296, y: 0, width: 432, height: 768))
        let filling = Self.placement(PixelRect(x: 4, y: 0, width: 640, height: 360), quarter, Framing(gravity: .fill))
        #expect(filling.source == PlanePlacement.Source(x: 189 << 16, y: 0, width: 270 << 16, height: 360 << 16))
        #expect(filling.destination == PixelRect(Self.screen))
    }

    @Test func `pixel for pixel it stands in the middle`() throws {
        let lying = try #require(
            PlanePlacement(unscaled: PixelRect(x: 2, y: 4, width: 640, height: 360), attributes: FrameAttributes(), screen: Self.screen))
        #expect(lying.destination == PixelRect(x: 192, y: 204, width: 640, height: 360))
        #expect(lying.isUnscaled(.upright))
        let quarter = FrameOrientation(rotation: .clockwise270)
        let turned = try #require(
            PlanePlacement(
                unscaled: PixelRect(x: 0, y: 0, width: 640, height: 360), attributes: FrameAttributes(orientation: quarter), screen: Self.screen))
        #expect(turned.destination == PixelRect(x: 332, y: 64, width: 360, height: 640))
        #expect(turned.isUnscaled(quarter) && !turned.isUnscaled(.upright))
        let oblong = FrameAttributes(pixelAspect: Ratio(2, 1))
        #expect(PlanePlacement(unscaled: PixelRect(x: 0, y: 0, width: 64, height: 64), attributes: oblong, screen: Self.screen) == nil)
    }

    /// The kernel turns counter-clockwise and mirrors first.
    @Test(
        arguments: [
            (.none, false, 1), (.clockwise90, false, 8), (.clockwise180, false, 4), (.clockwise270, false, 2), (.none, true, 17),
            (.clockwise90, true, 40), (.clockwise180, true, 20), (.clockwise270, true, 34),
        ] as [(FrameOrientation.Rotation, Bool, UInt64)])
    func `orientations have their bits`(rotation: FrameOrientation.Rotation, isMirrored: Bool, bits: UInt64) {
        #expect(FrameOrientation(rotation: rotation, isMirrored: isMirrored).kmsRotation == bits)
    }

    @Test func `a request names what exists, in the kernel's numbers`() {
        let plane = KMSObject(
            id: 31,
            properties: [
                "FB_ID": .init(id: 1), "CRTC_ID": .init(id: 2), "SRC_X": .init(id: 3), "SRC_Y": .init(id: 4), "SRC_W": .init(id: 5),
                "SRC_H": .init(id: 6), "CRTC_X": .init(id: 7), "CRTC_Y": .init(id: 8), "CRTC_W": .init(id: 9), "CRTC_H": .init(id: 10),
                "COLOR_RANGE": .init(id: 11, names: ["YCbCr limited range": 0, "YCbCr full range": 1]), "zpos": .init(id: 12, isImmutable: true),
            ])
        var request = AtomicRequest()
        request.show(
            77, on: plane, crtc: 40, source: .init(PixelSize(width: 2, height: 3)), destination: PixelRect(x: -1, y: 5, width: 6, height: 7))
        let namesRange = request.set(plane, "COLOR_RANGE", named: "YCbCr full range")
        #expect(namesRange)
        let setsFixed = request.set(plane, "zpos", 1), setsMissing = request.set(plane, "rotation", 1)
        let namesUnknown = request.set(plane, "COLOR_RANGE", named: "YCbCr wide range")
        #expect(!setsFixed && !setsMissing && !namesUnknown)
        #expect(request.entries.allSatisfy { $0.object == 31 })
        let properties: [UInt32] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]
        let values: [UInt64] = [77, 40, 0, 0, 0x2_0000, 0x3_0000, .max, 5, 6, 7, 1]
        #expect(request.entries.map(\.property) == properties)
        #expect(request.entries.map(\.value) == values)
    }
}
