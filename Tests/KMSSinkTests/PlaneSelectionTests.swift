import DisplaySink
import KMSSink
import Media
import Testing

@Suite struct PlaneSelectionTests {
    static let nv12 = FourCC("NV12"), xrgb = FourCC("XR24")
    static let encodings: Set = ["ITU-R BT.601 YCbCr", "ITU-R BT.709 YCbCr"]
    static let ranges: Set = ["YCbCr limited range", "YCbCr full range"]

    static func plane(
        _ id: UInt32, _ kind: PlaneCapabilities.Kind, _ formats: [FourCC], zpos: ClosedRange<UInt64>? = nil, rotations: UInt64 = 1
    ) -> PlaneCapabilities {
        PlaneCapabilities(
            id: id, kind: kind, formats: Dictionary(uniqueKeysWithValues: formats.map { ($0.rawValue, [0]) }), zpos: zpos, rotations: rotations,
            encodings: encodings, ranges: ranges)
    }

    static func layer(
        _ size: PixelSize = PixelSize(width: 640, height: 360), orientation: FrameOrientation = .upright, color: ColorDescription = .bt709,
        aspect: Ratio = .one, isDMABuf: Bool = true
    ) -> LayerRequirements {
        LayerRequirements(
            format: nv12, pixelFormat: .nv12, isDMABuf: isDMABuf, buffer: PixelSize(width: size.width, height: size.height + 2),
            visible: PixelRect(size),
            attributes: FrameAttributes(pixelAspect: aspect, orientation: orientation, color: color), screen: PixelSize(width: 1024, height: 768))
    }

    /// Each way in the order of trying, as a line.
    static func ways(_ layer: LayerRequirements, _ planes: [PlaneCapabilities]) -> [String] {
        var choice = PlaneSelection(layer, planes), lines: [String] = []
        while case .direct(let direct) = choice.current {
            let place = direct.placement.destination
            lines.append("\(direct.plane) \(place.size)+\(place.x)+\(place.y)" + (direct.needsBlack ? " over black" : ""))
            choice.refuse("test")
        }
        return lines
    }

    static let primary = plane(1, .primary, [nv12, xrgb], zpos: 0...0)

    @Test func `the primary plane comes first, scaling before a border`() {
        let planes = [
            Self.plane(4, .cursor, [Self.nv12]), Self.plane(3, .overlay, [Self.nv12], zpos: 2...2),
            Self.plane(2, .overlay, [Self.nv12], zpos: 1...1), Self.primary,
        ]
        #expect(
            Self.ways(Self.layer(), planes) == [
                "1 1024x576+0+96", "2 1024x576+0+96 over black", "3 1024x576+0+96 over black", "1 640x360+192+204",
                "2 640x360+192+204 over black", "3 640x360+192+204 over black",
            ])
    }

    @Test func `no plane maps the light of a film`() {
        var layer = Self.layer()
        layer.lightObstacle = "the monitor does not get HDR"
        #expect(Self.ways(layer, [Self.primary]).isEmpty)
        #expect(PlaneSelection(layer, [Self.primary]).reasons == ["the monitor does not get HDR"])
        #expect(PlaneSelection(layer, [Self.primary]).current == .converted)
    }

    @Test func `a film of the screen's size is tried once a plane`() {
        #expect(Self.ways(Self.layer(PixelSize(width: 1024, height: 768)), [Self.primary]) == ["1 1024x768+0+0"])
    }

    @Test func `larger than the screen or with oblong pixels there is no way without scaling`() {
        #expect(Self.ways(Self.layer(PixelSize(width: 2048, height: 768)), [Self.primary]) == ["1 1024x384+0+192"])
        #expect(Self.ways(Self.layer(aspect: Ratio(4, 3)), [Self.primary]) == ["1 1024x432+0+168"])
    }

    @Test func `an overlay below the primary plane is of no use`() {
        let primary = Self.plane(1, .primary, [Self.xrgb], zpos: 1...1)
        #expect(Self.ways(Self.layer(), [primary, Self.plane(2, .overlay, [Self.nv12], zpos: 0...0)]).isEmpty)
    }

    @Test func `an overlay whose place can be chosen is put just above the primary plane`() throws {
        let choice = PlaneSelection(
            Self.layer(), [Self.plane(1, .primary, [Self.xrgb], zpos: 2...2), Self.plane(2, .overlay, [Self.nv12], zpos: 0...7)])
        guard case .direct(let direct) = choice.current else { throw Refusal() }
        #expect(direct.zpos == 3 && direct.needsBlack)
    }

    @Test func `colours are told by the names of the properties`() throws {
        var color = ColorDescription.bt709
        color.matrix = 6
        color.range = .full
        guard case .direct(let direct) = PlaneSelection(Self.layer(color: color), [Self.primary]).current else { throw Refusal() }
        #expect(direct.encoding == "ITU-R BT.601 YCbCr" && direct.range == "YCbCr full range" && direct.rotation == 1)
    }

    /// Each case: what is asked, of which planes, and the reason for a copy.
    @Test func `what no plane can do is converted, and why is said`() {
        var full = ColorDescription.bt709
        full.range = .full
        var wide = ColorDescription.bt709
        wide.matrix = 9
        var strange = ColorDescription.bt709
        strange.matrix = 8
        let untold = PlaneCapabilities(id: 1, kind: .primary, formats: [Self.nv12.rawValue: []])
        let tiled = PlaneCapabilities(id: 1, kind: .primary, formats: [Self.nv12.rawValue: [99]])
        let quarter = FrameOrientation(rotation: .clockwise90)
        let cases: [(LayerRequirements, PlaneCapabilities, String)] = [
            (Self.layer(), Self.plane(1, .primary, [Self.xrgb]), "no plane takes NV12"),
            (Self.layer(), tiled, "no plane takes NV12 with modifier linear"),
            (Self.layer(isDMABuf: false), Self.primary, "the frames are in memory that a display device cannot read"),
            (Self.layer(orientation: quarter), Self.primary, "no plane rotates by 90°"),
            (Self.layer(color: full), untold, "the planes treat YCbCr as limited range, but the film has full range"),
            (Self.layer(color: wide), Self.primary, "no plane supports ITU-R BT.2020 YCbCr"),
            (Self.layer(color: strange), Self.primary, "no plane supports the film's color matrix 8"),
        ]
        for (layer, plane, reason) in cases {
            let choice = PlaneSelection(layer, [plane])
            #expect(choice.current == .converted)
            #expect(choice.reasons == [reason])
        }
        #expect(PlaneSelection(Self.layer(), [untold]).current != .converted)
    }

    @Test func `refusals are reasons too`() {
        var choice = PlaneSelection(Self.layer(), [Self.primary])
        choice.refuse("Numerical result out of range")
        choice.refuse("Invalid argument")
        choice.refuse("nothing is left to refuse")
        #expect(choice.current == .converted)
        #expect(
            choice.reasons == [
                "the device refuses it scaled on its primary plane 1 (Numerical result out of range)",
                "the device refuses it on its primary plane 1 (Invalid argument)",
            ])
    }

    private struct Refusal: Error {}
}
