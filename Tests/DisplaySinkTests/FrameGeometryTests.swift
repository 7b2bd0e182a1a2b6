import DisplaySink
import Media
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
        var gravity = Gravity.aspect
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
            testDescription: "fill cuts the sides", gravity: .fill, source: Rect(x: 80, y: 0, width: 480, height: 360),
            destination: PixelRect(x: 0, y: 0, width: 640, height: 480)),
        Row(
            testDescription: "fill cuts above and below", window: PixelSize(width: 1280, height: 360), gravity: .fill,
            source: Rect(x: 0, y: 90, width: 640, height: 180), destination: PixelRect(x: 0, y: 0, width: 1280, height: 360)),
        Row(testDescription: "stretch", gravity: .stretch, destination: PixelRect(x: 0, y: 0, width: 640, height: 480)),
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
    ]

    @Test(arguments: rows)
    func placed(_ row: Row) {
        let attributes = FrameAttributes(
            pixelAspect: row.aspect, orientation: FrameOrientation(rotation: row.rotation, isMirrored: row.isMirrored))
        let geometry = FrameGeometry(
            buffer: PixelSize(width: 640, height: 360), visible: row.visible, attributes: attributes, window: row.window, gravity: row.gravity)
        #expect(geometry.source == row.source)
        #expect(geometry.destination == row.destination)
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
