import DisplaySink
import Media
import TestSupport
import Testing

@Suite struct PreviewGeometryTests {
    private static let hd = PixelSize(width: 1920, height: 1080)

    private static func framing(_ change: (inout Framing) -> Void) -> Framing {
        var framing = Framing()
        change(&framing)
        return framing
    }

    /// A point of the frame, and where it is on the layer.
    struct Case: Sendable {
        var name: String
        var layer: PixelSize
        var framing: Framing
        var device: PreviewGeometry.Point
        var shown: PreviewGeometry.Point

        init(_ name: String, _ width: Int, _ height: Int, _ framing: Framing, _ device: (Double, Double), _ shown: (Double, Double)) {
            self.name = name
            layer = PixelSize(width: width, height: height)
            self.framing = framing
            self.device = .init(x: device.0, y: device.1)
            self.shown = .init(x: shown.0, y: shown.1)
        }
    }

    private static let cases = [
        Case("the same shape", 960, 540, Framing(), (0.25, 0.5), (240, 270)),
        Case("borders above and below", 960, 960, Framing(), (0, 0), (0, 210)),
        Case("borders above and below, the other corner", 960, 960, Framing(), (1, 1), (960, 750)),
        Case("cut at both sides", 960, 1080, Framing(gravity: .fill), (0.5, 0), (480, 0)),
        Case("cut at both sides: outside of the layer", 960, 1080, Framing(gravity: .fill), (0, 0), (-480, 0)),
        Case("distorted", 100, 1000, Framing(gravity: .stretch), (0.3, 0.3), (30, 300)),
        Case("mirrored", 960, 540, framing { $0.orientation.isMirrored = true }, (0.25, 0.5), (720, 270)),
        Case("turned to the right", 540, 960, framing { $0.orientation.rotation = .clockwise90 }, (0, 0), (540, 0)),
        Case("turned to the right, the other corner", 540, 960, framing { $0.orientation.rotation = .clockwise90 }, (1, 0), (540, 960)),
        Case("upside down", 960, 540, framing { $0.orientation.rotation = .clockwise180 }, (0.25, 0), (720, 540)),
        Case("a part", 960, 540, framing { $0.crop = PixelRect(x: 960, y: 540, width: 960, height: 540) }, (0.75, 0.75), (480, 270)),
        Case("twice as large", 960, 540, framing { $0.zoom = 1 }, (0.5, 0.25), (480, 0)),
    ]

    @Test(arguments: cases)
    func `a point of the frame is where a viewer sees it`(example: Case) {
        let geometry = PreviewGeometry(frame: Self.hd, layer: example.layer, framing: example.framing)
        let shown = geometry.point(inLayer: example.device)
        #expect(abs(shown.x - example.shown.x) < 1e-9 && abs(shown.y - example.shown.y) < 1e-9, "\(example.name): \(shown)")
    }

    private static func randomFraming(_ dice: inout Dice, _ frame: PixelSize) -> Framing {
        var framing = Framing(gravity: Gravity.allCases.randomElement(using: &dice)!)
        framing.orientation = FrameOrientation(
            rotation: [.none, .clockwise90, .clockwise180, .clockwise270].randomElement(using: &dice)!, isMirrored: Bool.random(using: &dice))
        if Bool.random(using: &dice) { framing.panscan = Double.random(in: 0...1, using: &dice) }
        if Bool.random(using: &dice) { framing.zoom = Double.random(in: -2...3, using: &dice) }
        if Bool.random(using: &dice) {
            framing.panX = Double.random(in: -0.5...0.5, using: &dice)
            framing.panY = Double.random(in: -0.5...0.5, using: &dice)
        }
        if Bool.random(using: &dice) { framing.aspectRatio = Ratio(Int32.random(in: 1...30, using: &dice), Int32.random(in: 4...20, using: &dice)) }
        if Bool.random(using: &dice) {
            let x = Int.random(in: 0..<frame.width, using: &dice), y = Int.random(in: 0..<frame.height, using: &dice)
            framing.crop = PixelRect(
                x: x, y: y, width: Int.random(in: 1...frame.width - x, using: &dice), height: Int.random(in: 1...frame.height - y, using: &dice))
        }
        return framing
    }

    @Test(arguments: 1...50)
    func `there and back is the same place within 1e-9, and what the display shows is what is converted`(seed: Int) {
        var dice = Dice(seed: UInt64(seed))
        func side() -> Int { Int.random(in: 16...4096, using: &dice) }
        for round in 0..<200 {
            let frame = PixelSize(width: side(), height: side()), layer = PixelSize(width: side(), height: side())
            var attributes = FrameAttributes()
            if Bool.random(using: &dice) {
                attributes.pixelAspect = Ratio(Int32.random(in: 1...9, using: &dice), Int32.random(in: 1...9, using: &dice))
            }
            if Bool.random(using: &dice) { attributes.orientation.rotation = .clockwise90 }
            let framing = Self.randomFraming(&dice, frame)
            let geometry = PreviewGeometry(frame: frame, attributes: attributes, layer: layer, framing: framing)
            let device = PreviewGeometry.Point(x: Double.random(in: 0...1, using: &dice), y: Double.random(in: 0...1, using: &dice))
            let back = geometry.point(inDevice: geometry.point(inLayer: device))
            #expect(abs(back.x - device.x) < 1e-9 && abs(back.y - device.y) < 1e-9, "\(seed).\(round): \(device) \(back)")
            // In shares of the layer, as the frame's points are in shares of the frame.
            let place = PreviewGeometry.Point(
                x: Double.random(in: 0...1, using: &dice) * Double(layer.width), y: Double.random(in: 0...1, using: &dice) * Double(layer.height))
            let there = geometry.point(inLayer: geometry.point(inDevice: place))
            let off = max(abs(there.x - place.x) / Double(layer.width), abs(there.y - place.y) / Double(layer.height))
            #expect(off < 1e-9, "\(seed).\(round): \(place) \(there)")
            // A display cuts this rectangle out of the memory and lays it over this area: their corners are the same places.
            let (visible, turned) = framing.applied(to: PixelRect(frame), attributes)
            let own = FrameGeometry(buffer: frame, visible: visible, attributes: turned, window: layer, framing: framing)
            let memory = FrameGeometry.lying(own.source, in: frame, turned.orientation)
            let area = geometry.area
            #expect(area == own.destination)
            let corners = [(0, 0), (area.width, 0), (0, area.height), (area.width, area.height)].map { x, y in
                geometry.point(inDevice: .init(x: Double(area.x + x), y: Double(area.y + y)))
            }
            let xs = corners.map { $0.x * Double(frame.width) }, ys = corners.map { $0.y * Double(frame.height) }
            func isNear(_ a: Double, _ b: Double) -> Bool { abs(a - b) < 1e-6 }
            #expect(isNear(xs.min()!, memory.x) && isNear(xs.max()!, memory.x + memory.width), "\(seed).\(round): \(xs) \(memory)")
            #expect(isNear(ys.min()!, memory.y) && isNear(ys.max()!, memory.y + memory.height), "\(seed).\(round): \(ys) \(memory)")
        }
    }
}
