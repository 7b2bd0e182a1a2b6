import DisplaySink
import Media
import TestSupport
import Testing

@Suite("Where in a window a frame goes")
struct FrameGeometryTests {
    typealias Rect = FrameGeometry.Rect

    struct Row: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var visible = PixelRect(x: 0, y: 0, width: 640, height: 360)
        var aspect = Ratio.one
        var rotation = FrameOrientation.Rotation.none
        var isMirrored = false
        var window = PixelSize(width: 640, height: 480)
        var framing = Framing()
        var source = Rect(x: 0, y: 0, width: 640, height: 360)
        var destination: PixelRect
    }

    static let rows = [
        Row(testDescription: "wide in 4:3", destination: PixelRect(x: 0, y: 60, width: 640, height: 360)),
        Row(
            testDescription: "wide in a tall window", window: PixelSize(width: 320, height: 640),
            destination: PixelRect(x: 0, y: 230, width: 320, height: 180)),
        Row(
            testDescription: "wide in a wider window", window: PixelSize(width: 1280, height: 360),
            destination: PixelRect(x: 320, y: 0, width: 640, height: 360)),
        Row(
            testDescription: "fill cuts the sides", framing: Framing(gravity: .fill), source: Rect(x: 80, y: 0, width: 480, height: 360),
            destination: PixelRect(x: 0, y: 0, width: 640, height: 480)),
        Row(
            testDescription: "fill cuts above and below", window: PixelSize(width: 1280, height: 360), framing: Framing(gravity: .fill),
            source: Rect(x: 0, y: 90, width: 640, height: 180), destination: PixelRect(x: 0, y: 0, width: 1280, height: 360)),
        Row(testDescription: "stretch", framing: Framing(gravity: .stretch), destination: PixelRect(x: 0, y: 0, width: 640, height: 480)),
        Row(
            testDescription: "a crop", visible: PixelRect(x: 16, y: 8, width: 320, height: 240), source: Rect(x: 16, y: 8, width: 320, height: 240),
            destination: PixelRect(x: 0, y: 0, width: 640, height: 480)),
        Row(testDescription: "wide pixels", aspect: Ratio(3, 2), destination: PixelRect(x: 0, y: 120, width: 640, height: 240)),
        Row(
            testDescription: "a quarter turn moves the crop", visible: PixelRect(x: 16, y: 8, width: 320, height: 240), rotation: .clockwise90,
            window: PixelSize(width: 240, height: 320), source: Rect(x: 112, y: 16, width: 240, height: 320),
            destination: PixelRect(x: 0, y: 0, width: 240, height: 320)),
        Row(
            testDescription: "a mirror moves the crop", visible: PixelRect(x: 16, y: 8, width: 320, height: 240), isMirrored: true,
            source: Rect(x: 304, y: 8, width: 320, height: 240), destination: PixelRect(x: 0, y: 0, width: 640, height: 480)),
        // 2:1 in 4:3, half-way between 640x320 and 960x480.
        Row(
            testDescription: "half a panscan", visible: PixelRect(x: 0, y: 0, width: 640, height: 320), framing: framing(panscan: 0.5),
            source: Rect(x: 64, y: 0, width: 512, height: 320), destination: PixelRect(x: 0, y: 40, width: 640, height: 400)),
        Row(
            testDescription: "half a panscan in a wider window", window: PixelSize(width: 1280, height: 360), framing: framing(panscan: 0.5),
            source: Rect(x: 0, y: 60, width: 640, height: 240), destination: PixelRect(x: 160, y: 0, width: 960, height: 360)),
        Row(
            testDescription: "zoom to double", framing: framing(zoom: 1), source: Rect(x: 160, y: 60, width: 320, height: 240),
            destination: PixelRect(x: 0, y: 0, width: 640, height: 480)),
        Row(testDescription: "zoom to half", framing: framing(zoom: -1), destination: PixelRect(x: 160, y: 150, width: 320, height: 180)),
        Row(
            testDescription: "zoom of a filled window", framing: framing(panscan: 1, zoom: -1),
            destination: PixelRect(x: 106, y: 120, width: 427, height: 240)),
        Row(
            testDescription: "zoom of a distorted frame", framing: framing(.stretch, zoom: 1), source: Rect(x: 160, y: 90, width: 320, height: 180),
            destination: PixelRect(x: 0, y: 0, width: 640, height: 480)),
        Row(
            testDescription: "the least zoom is a pixel", framing: framing(zoom: -20), destination: PixelRect(x: 319, y: 239, width: 1, height: 1)),
        Row(
            testDescription: "values out of range", framing: framing(panscan: 7, zoom: .nan, panX: .infinity),
            source: Rect(x: 80, y: 0, width: 480, height: 360), destination: PixelRect(x: 0, y: 0, width: 640, height: 480)),
        Row(
            testDescription: "a turned frame zoomed", rotation: .clockwise90, window: PixelSize(width: 360, height: 640), framing: framing(zoom: 1),
            source: Rect(x: 90, y: 160, width: 180, height: 320), destination: PixelRect(x: 0, y: 0, width: 360, height: 640)),
        Row(
            testDescription: "moved within the borders", framing: framing(panY: 1.0 / 6),
            destination: PixelRect(x: 0, y: 120, width: 640, height: 360)),
        Row(
            testDescription: "moved to the right, half of it cut off", framing: framing(panX: 0.5), source: Rect(x: 0, y: 0, width: 320, height: 360),
            destination: PixelRect(x: 320, y: 60, width: 320, height: 360)),
        Row(
            testDescription: "moved while it is larger than the window", framing: framing(zoom: 1, panX: 0.25),
            source: Rect(x: 0, y: 60, width: 320, height: 240), destination: PixelRect(x: 0, y: 0, width: 640, height: 480)),
        Row(
            testDescription: "moved out of the window, but for a pixel", framing: framing(panX: -3),
            source: Rect(x: 639, y: 0, width: 1, height: 360), destination: PixelRect(x: 0, y: 60, width: 1, height: 360)),
        Row(
            testDescription: "another aspect ratio", framing: framing(aspect: Ratio(2, 1)),
            destination: PixelRect(x: 0, y: 80, width: 640, height: 320)),
        Row(
            testDescription: "a part of it", visible: PixelRect(x: 16, y: 8, width: 600, height: 300),
            framing: framing(crop: PixelRect(x: 10, y: 20, width: 320, height: 240)), source: Rect(x: 26, y: 28, width: 320, height: 240),
            destination: PixelRect(x: 0, y: 0, width: 640, height: 480)),
        Row(
            testDescription: "a part that reaches beyond it", framing: framing(crop: PixelRect(x: 320, y: 0, width: 9999, height: 9999)),
            source: Rect(x: 320, y: 0, width: 320, height: 360), destination: PixelRect(x: 106, y: 0, width: 427, height: 480)),
        Row(
            testDescription: "a part beside it", framing: framing(crop: PixelRect(x: 640, y: 360, width: 10, height: 10)),
            source: Rect(x: 639, y: 359, width: 1, height: 1), destination: PixelRect(x: 80, y: 0, width: 480, height: 480)),
        Row(
            testDescription: "turned by the viewer", visible: PixelRect(x: 16, y: 8, width: 320, height: 240),
            window: PixelSize(width: 240, height: 320), framing: framing(turn: FrameOrientation(rotation: .clockwise90)),
            source: Rect(x: 112, y: 16, width: 240, height: 320), destination: PixelRect(x: 0, y: 0, width: 240, height: 320)),
        Row(
            testDescription: "turned back by the viewer", rotation: .clockwise90, framing: framing(turn: FrameOrientation(rotation: .clockwise270)),
            destination: PixelRect(x: 0, y: 60, width: 640, height: 360)),
    ]

    static func framing(
        _ gravity: Gravity = .aspect, panscan: Double = 0, zoom: Double = 0, panX: Double = 0, panY: Double = 0, aspect: Ratio = .unknown,
        crop: PixelRect? = nil, turn: FrameOrientation = .upright
    ) -> Framing {
        var framing = Framing(gravity: gravity)
        (framing.panscan, framing.zoom, framing.panX, framing.panY) = (panscan, zoom, panX, panY)
        (framing.aspectRatio, framing.crop, framing.orientation) = (aspect, crop, turn)
        return framing
    }

    @Test(arguments: rows)
    func placed(_ row: Row) {
        let attributes = FrameAttributes(
            pixelAspect: row.aspect, orientation: FrameOrientation(rotation: row.rotation, isMirrored: row.isMirrored))
        let seen = row.framing.applied(to: row.visible, attributes)
        let geometry = FrameGeometry(
            buffer: PixelSize(width: 640, height: 360), visible: seen.visible, attributes: seen.attributes, window: row.window, framing: row.framing)
        #expect(geometry.source == row.source)
        #expect(geometry.destination == row.destination)
    }

    static let orientations = [FrameOrientation.Rotation.none, .clockwise90, .clockwise180, .clockwise270].flatMap { rotation in
        [false, true].map { FrameOrientation(rotation: rotation, isMirrored: $0) }
    }

    /// As four corners turn: what is done to the picture of a picture is done to both.
    @Test("two turns are one", arguments: orientations, orientations)
    func turns(_ first: FrameOrientation, _ second: FrameOrientation) {
        let buffer = PixelSize(width: 640, height: 360), part = PixelRect(x: 16, y: 8, width: 100, height: 50)
        let once = FrameGeometry.turned(part, in: buffer, first)
        let between = first.isSideways ? PixelSize(width: buffer.height, height: buffer.width) : buffer
        let both = first.followed(by: second)
        #expect(FrameGeometry.turned(once, in: between, second) == FrameGeometry.turned(part, in: buffer, both))
        #expect(FrameGeometry.lying(Rect(FrameGeometry.turned(part, in: buffer, both)), in: buffer, both) == Rect(part))
    }

    @Test("whatever is asked for, what is shown lies in the frame and in the window")
    func bounds() {
        var dice = Dice(seed: 7)
        for _ in 0..<2000 {
            let buffer = PixelSize(width: Int.random(in: 1...2000, using: &dice), height: Int.random(in: 1...2000, using: &dice))
            let window = PixelSize(width: Int.random(in: 1...2000, using: &dice), height: Int.random(in: 1...2000, using: &dice))
            func any(_ range: ClosedRange<Double>) -> Double {
                Int.random(in: 0...2, using: &dice) == 0
                    ? 0 : range.lowerBound + (range.upperBound - range.lowerBound) * Double(Int.random(in: 0...1000, using: &dice)) / 1000
            }
            let crop = PixelRect(
                x: Int.random(in: 0...2500, using: &dice), y: Int.random(in: 0...2500, using: &dice), width: Int.random(in: 1...2500, using: &dice),
                height: Int.random(in: 1...2500, using: &dice))
            let framing = Self.framing(
                Gravity.allCases[Int.random(in: 0...2, using: &dice)], panscan: any(0...1), zoom: any(-20...20), panX: any(-3...3), panY: any(-3...3),
                aspect: Int.random(in: 0...1, using: &dice) == 0 ? .unknown : Ratio(Int32(Int.random(in: 1...100, using: &dice)), 10),
                crop: Int.random(in: 0...1, using: &dice) == 0 ? nil : crop,
                turn: Self.orientations[Int.random(in: 0...7, using: &dice)])
            let seen = framing.applied(to: PixelRect(buffer), FrameAttributes(orientation: Self.orientations[Int.random(in: 0...7, using: &dice)]))
            let geometry = FrameGeometry(
                buffer: buffer, visible: seen.visible, attributes: seen.attributes, window: window, framing: framing)
            let source = FrameGeometry.lying(geometry.source, in: buffer, seen.attributes.orientation), place = geometry.destination
            let outer = Rect(seen.visible), slack = 1e-6
            #expect(
                source.width > 0 && source.height > 0 && source.x >= outer.x - slack && source.y >= outer.y - slack
                    && source.x + source.width <= outer.x + outer.width + slack && source.y + source.height <= outer.y + outer.height + slack,
                "\(source) in \(outer): \(framing) of \(buffer) in \(window)")
            #expect(
                place.width > 0 && place.height > 0 && place.x >= 0 && place.y >= 0 && place.x + place.width <= window.width
                    && place.y + place.height <= window.height, "\(place) in \(window): \(framing) of \(buffer)")
        }
    }

    @Test("a window is the film's size, or smaller where the monitor is")
    func windowSize() {
        let film = PixelSize(width: 1920, height: 1080)
        #expect(FrameGeometry.windowSize(natural: film, bounds: nil) == film)
        #expect(FrameGeometry.windowSize(natural: film, bounds: PixelSize(width: 3840, height: 2160)) == film)
        #expect(FrameGeometry.windowSize(natural: film, bounds: PixelSize(width: 1280, height: 1024)) == PixelSize(width: 1280, height: 720))
    }

    @Test("a window whose edge is dragged keeps the film's shape and never exceeds what the user gave it")
    func draggedSize() {
        let film = PixelSize(width: 1920, height: 1080)
        for (limit, expected) in [
            ((640, 360), (640, 360)), ((640, 480), (640, 360)), ((1000, 360), (640, 360)), ((161, 1000), (161, 91)), ((1, 1), (1, 1)),
        ] {
            let size = FrameGeometry.windowSize(shape: film, within: PixelSize(width: limit.0, height: limit.1))
            #expect(size == PixelSize(width: expected.0, height: expected.1))
        }
    }
}
