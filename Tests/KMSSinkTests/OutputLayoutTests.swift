import DisplaySink
import KMSSink
import Media
import Testing

@Suite struct OutputLayoutTests {
    static let hd = PixelSize(width: 1920, height: 1080), small = PixelSize(width: 1280, height: 1024)

    static func text(_ rect: PixelRect) -> String { "\(rect.size)+\(rect.x)+\(rect.y)" }

    /// The monitors, how they stand, and of each the canvas and its part.
    @Test(
        arguments: [
            ([hd], .mirror, ["1920x1080: 1920x1080+0+0"]),
            ([hd, small], .mirror, ["1920x1080: 1920x1080+0+0", "1280x1024: 1280x1024+0+0"]),
            ([hd, hd], .span(columns: nil), ["3840x1080: 1920x1080+0+0", "3840x1080: 1920x1080+1920+0"]),
            ([hd, hd], .span(columns: 1), ["1920x2160: 1920x1080+0+0", "1920x2160: 1920x1080+0+1080"]),
            ([hd, hd], .span(columns: 9), ["3840x1080: 1920x1080+0+0", "3840x1080: 1920x1080+1920+0"]),
            (
                [hd, small, small], .span(columns: 2),
                ["3200x2104: 1920x1080+0+0", "3200x2104: 1280x1024+1920+0", "3200x2104: 1280x1024+0+1080"]
            ),
            ([], .span(columns: nil), []),
        ] as [([PixelSize], MonitorArrangement, [String])])
    func `monitors share a canvas`(screens: [PixelSize], arrangement: MonitorArrangement, places: [String]) {
        #expect(OutputLayout(screens, arrangement).places.map { "\($0.canvas): \(Self.text($0.part))" } == places)
    }

    /// A film of 64x32 at twice its size on a canvas of 160x64, of which a monitor shows the columns from 80 on: film columns from 32 on.
    @Test(
        arguments: [
            (.none, false, (32, 0, 32, 32)), (.none, true, (0, 0, 32, 32)), (.clockwise180, false, (0, 0, 32, 32)),
            (.clockwise180, true, (32, 0, 32, 32)),
        ] as [(FrameOrientation.Rotation, Bool, (Int, Int, Int, Int))])
    func `a part of the screen is a part of the film`(rotation: FrameOrientation.Rotation, isMirrored: Bool, source: (Int, Int, Int, Int)) throws {
        let orientation = FrameOrientation(rotation: rotation, isMirrored: isMirrored)
        let whole = PlanePlacement(
            buffer: PixelSize(width: 64, height: 32), visible: PixelRect(x: 0, y: 0, width: 64, height: 32),
            attributes: FrameAttributes(orientation: orientation), screen: PixelSize(width: 160, height: 64), framing: Framing())
        #expect(whole.destination == PixelRect(x: 16, y: 0, width: 128, height: 64))
        let part = try #require(whole.part(PixelRect(x: 80, y: 0, width: 80, height: 64), orientation))
        #expect(part.destination == PixelRect(x: 0, y: 0, width: 64, height: 64))
        #expect(part.source == PlanePlacement.Source(PixelRect(x: source.0, y: source.1, width: source.2, height: source.3)))
    }

    /// A film of 60x40 turned upright (40x60), pixel for pixel; a monitor shows its upper left quarter: 20x30.
    @Test(
        arguments: [
            (.clockwise90, false, (0, 20, 30, 20)), (.clockwise90, true, (0, 0, 30, 20)), (.clockwise270, false, (30, 0, 30, 20)),
            (.clockwise270, true, (30, 20, 30, 20)),
        ] as [(FrameOrientation.Rotation, Bool, (Int, Int, Int, Int))])
    func `a part of a turned film is cut as it lies in memory`(
        rotation: FrameOrientation.Rotation, isMirrored: Bool, source: (Int, Int, Int, Int)
    ) throws {
        let orientation = FrameOrientation(rotation: rotation, isMirrored: isMirrored)
        let whole = PlanePlacement(
            buffer: PixelSize(width: 60, height: 40), visible: PixelRect(x: 0, y: 0, width: 60, height: 40),
            attributes: FrameAttributes(orientation: orientation), screen: PixelSize(width: 40, height: 60), framing: Framing())
        let part = try #require(whole.part(PixelRect(x: 0, y: 0, width: 20, height: 30), orientation))
        #expect(part.source == PlanePlacement.Source(PixelRect(x: source.0, y: source.1, width: source.2, height: source.3)))
        #expect(part.isUnscaled(orientation))
    }

    @Test func `neighbours begin where the one before ends`() throws {
        let film = PixelSize(width: 1001, height: 333)
        let whole = PlanePlacement(
            buffer: film, visible: PixelRect(film), attributes: FrameAttributes(), screen: PixelSize(width: 3000, height: 1000),
            framing: Framing(gravity: .stretch))
        let parts = try (0..<3).map { try #require(whole.part(PixelRect(x: 1000 * $0, y: 0, width: 1000, height: 1000), .upright)) }
        #expect(parts[0].source.x == 0 && parts[2].source.x + parts[2].source.width == 1001 << 16)
        for (left, right) in zip(parts, parts.dropFirst()) { #expect(left.source.x + left.source.width == right.source.x) }
        #expect(parts.allSatisfy { $0.destination == PixelRect(x: 0, y: 0, width: 1000, height: 1000) })
    }

    @Test func `a monitor beside the film shows nothing of it`() {
        let whole = PlanePlacement(
            buffer: Self.hd, visible: PixelRect(Self.hd), attributes: FrameAttributes(), screen: PixelSize(width: 1000, height: 3000),
            framing: Framing())
        #expect(whole.part(PixelRect(x: 0, y: 0, width: 1000, height: 1000), .upright) == nil)
        let layer = LayerRequirements(
            format: FourCC("NV12"), pixelFormat: .nv12, buffer: Self.hd, visible: PixelRect(Self.hd), attributes: FrameAttributes(color: .bt709),
            screen: PixelSize(width: 1000, height: 3000), part: PixelRect(x: 0, y: 0, width: 1000, height: 1000))
        #expect(PlaneSelection(layer, [PlaneSelectionTests.primary]).current == .nothing)
    }

    @Test func `a part of a wall is never shown unscaled beside scaled ones`() {
        var layer = PlaneSelectionTests.layer()
        layer.screen = PixelSize(width: 2048, height: 768)
        layer.part = PixelRect(x: 1024, y: 0, width: 1024, height: 768)
        // 1365 columns are filled; the right monitor shows 682 of them.
        #expect(PlaneSelectionTests.ways(layer, [PlaneSelectionTests.primary]) == ["1 682x768+0+0"])
    }
}

@Suite struct AllotmentTests {
    static func plane(_ id: UInt32, _ possible: UInt32, primary: Bool = false, on current: Int? = nil) -> CRTCAssignment.Plane {
        CRTCAssignment.Plane(id: id, isPrimary: primary, possible: possible, current: current)
    }

    /// Two CRTCs with planes of their own.
    static let own = [plane(1, 1, primary: true), plane(2, 1), plane(3, 2, primary: true), plane(4, 2)]
    /// Planes that can lie anywhere.
    static let any = [plane(1, 3, primary: true), plane(2, 3, primary: true), plane(3, 3), plane(4, 3), plane(5, 3)]

    static func text(_ count: Int, _ connectors: [CRTCAssignment.Connector], taken: Set<Int> = [], _ planes: [CRTCAssignment.Plane]) -> String {
        switch CRTCAssignment.assign(count: count, connectors: connectors, taken: taken, planes: planes) {
        case .success(let shares): shares.map { "\($0.crtc): \($0.primary) \($0.others)" }.joined(separator: ", ")
        case .failure(let failure): "\(failure)"
        }
    }

    typealias Connector = CRTCAssignment.Connector

    @Test func `each monitor gets a CRTC and planes`() {
        #expect(Self.text(2, [Connector(possible: 3)], Self.own) == "0: 1 [2]")
        #expect(Self.text(2, [Connector(possible: 3, current: 1)], Self.own) == "1: 3 [4]")
        #expect(Self.text(2, [Connector(possible: 3), Connector(possible: 3)], Self.own) == "0: 1 [2], 1: 3 [4]")
    }

    @Test func `a monitor keeps the CRTC that drives it`() {
        #expect(Self.text(2, [Connector(possible: 3), Connector(possible: 3, current: 0)], Self.own) == "1: 3 [4], 0: 1 [2]")
        #expect(Self.text(2, [Connector(possible: 3, current: 1), Connector(possible: 3, current: 0)], Self.own) == "1: 3 [4], 0: 1 [2]")
    }

    @Test func `one gives way where the other has no choice`() {
        #expect(Self.text(2, [Connector(possible: 3, current: 0), Connector(possible: 1)], Self.own) == "1: 3 [4], 0: 1 [2]")
        #expect(Self.text(2, [Connector(possible: 1), Connector(possible: 1)], Self.own) == "crtcs")
    }

    @Test func `what others use is left alone`() {
        #expect(Self.text(2, [Connector(possible: 3)], taken: [0], Self.own) == "1: 3 [4]")
        #expect(Self.text(1, [Connector(possible: 1)], taken: [0], Self.own) == "crtcs")
        // A monitor's own CRTC is never in other hands, even if it drives a second one.
        #expect(Self.text(1, [Connector(possible: 1, current: 0)], taken: [0], Self.own) == "0: 1 [2]")
        let lent = [Self.plane(1, 3, primary: true), Self.plane(3, 3, on: 1), Self.plane(4, 3)]
        #expect(Self.text(2, [Connector(possible: 1)], lent) == "0: 1 [4]")
    }

    @Test func `planes that lie anywhere are dealt out`() {
        #expect(Self.text(2, [Connector(possible: 3), Connector(possible: 3)], Self.any) == "0: 1 [3, 5], 1: 2 [4]")
        #expect(Self.text(2, [Connector(possible: 3)], Self.any) == "0: 1 [3, 4, 5]")
        var lit = Self.any
        lit[1].current = 0
        #expect(Self.text(2, [Connector(possible: 3), Connector(possible: 3)], lit) == "0: 2 [3, 5], 1: 1 [4]")
        #expect(Self.text(2, [Connector(possible: 3), Connector(possible: 3)], Array(Self.any.dropFirst())) == "planes")
    }
}
