import DisplaySink
import Media
import OnScreen
import Subtitles
import Testing

/// The scripts that libass draws, and where the bar lies.
@Suite struct ScreenScriptTests {
    private static let bar = ScreenBar(isPlaying: true, position: 30, duration: 100, chapters: [0, 50], buffered: 60)
    private static let sizes = [
        PixelSize(width: 640, height: 360), PixelSize(width: 1920, height: 1080), PixelSize(width: 3840, height: 2160),
        PixelSize(width: 720, height: 1280),
        PixelSize(width: 160, height: 90), PixelSize(width: 1, height: 1),
    ]

    @Test(arguments: [
        ("plain", "plain"), ("{\\b1}", "\\{\\\u{2060}b1\\}"), ("a\\Nb", "a\\\u{2060}Nb"), ("\u{1b}[31m\u{202e}x", "\u{fffd}[31m\u{fffd}x"),
        ("two\nlines", "two lines"), ("  a  b", "\\h\\ha  b"), ("", ""),
    ])
    func `a text is shown as it is`(_ text: String, _ expected: String) { #expect(ScreenScript.safe(text) == expected) }

    @Test func `what a text contains changes nothing but itself`() throws {
        let canvas = OverlayCanvas(size: PixelSize(width: 640, height: 360), film: PixelRect(x: 0, y: 0, width: 640, height: 360))
        let renderer = try #require(ScriptRenderer())
        func drawn(_ text: String) -> OverlayImage? { renderer.image(ScreenScript.text(ScreenContent(message: text), on: canvas.size), on: canvas) }
        let line = try #require(drawn("Mg{}\\"))
        #expect(line.place.x >= 0 && line.place.x < 20 && line.place.y < 20 && line.place.height < 40 && line.pixels.contains(0xffff_ffff))
        for hostile in [
            "{\\fs200}x", "{\\pos(600,300)}x", "{\\p1}m 0 0 l 500 0 500 300 0 300{\\p0}", "\\N\\N\\N\\Nx", "{\\an3}x", "{\\b1",
            "x\nDialogue: 9,0:00:00.00,1:00:00.00,Text,,0,0,0,,{\\an3}y",
        ] {
            let image = try #require(drawn(hostile))
            #expect(image.place.x < 20 && image.place.y < 20, "\(hostile)")
            #expect(image.place.height < 3 * line.place.height, "\(hostile): \(image.place)")
        }
        #expect(drawn("two\nlines")!.place.height > line.place.height * 3 / 2)
        #expect(drawn(String(repeating: "many words ", count: 40))!.place.width <= 640)
    }

    @Test(arguments: sizes) func `the bar lies within the display, its parts in their order`(_ size: PixelSize) {
        let place = BarLayout(Self.bar, ScreenLayout(size))
        #expect(place.pill.x >= 0 && place.pill.x + place.pill.width <= Double(size.width) + 0.5)
        #expect(place.pill.y >= 0)
        guard let track = place.track else { return #expect(size.width < 300) }
        #expect(place.pill.y + place.pill.height <= Double(size.height))
        #expect(place.sign.x + place.sign.width < place.positionLeft && place.positionLeft < track.x)
        #expect(track.x + track.width < place.durationRight && place.durationRight < place.pill.x + place.pill.width)
        #expect(place.share(atColumn: track.x) == 0 && place.share(atColumn: track.x + track.width) == 1 && place.share(atColumn: -5) == 0)
        #expect(abs(place.share(atColumn: track.x + track.width / 4) - 0.25) < 1e-9)
        let middle = place.pill.y + place.pill.height / 2
        #expect(place.part(at: (track.x + 1, middle)) == .track && place.part(at: (place.sign.x + 1, middle)) == .sign)
        #expect(place.part(at: (track.x, place.pill.y - 1)) == nil && place.part(at: (place.durationRight - 1, middle)) == .other)
    }

    @Test func `a film without an end has no track`() {
        let place = BarLayout(ScreenBar(isPlaying: true, position: 5, duration: nil), ScreenLayout(Self.sizes[0]))
        #expect(place.track == nil && place.part(at: (place.durationRight - 1, place.pill.y + 1)) == .other)
    }

    @Test func `the bar is drawn where its layout says`() throws {
        let size = PixelSize(width: 1280, height: 720), canvas = OverlayCanvas(size: size, film: PixelRect(x: 0, y: 0, width: 1280, height: 720))
        let renderer = try #require(ScriptRenderer()), place = BarLayout(Self.bar, ScreenLayout(size)), track = try #require(place.track)
        let image = try #require(renderer.image(ScreenScript.text(ScreenContent(bar: Self.bar), on: size), on: canvas))
        func pixel(_ x: Double, _ y: Double) -> UInt32 {
            let (column, row) = (Int(x) - image.place.x, Int(y) - image.place.y)
            guard (0..<image.place.width).contains(column), (0..<image.place.height).contains(row) else { return 0 }
            return image.pixels[row * image.place.width + column]
        }
        let middle = track.y + track.height / 2
        // Played, read, and to come: white of less and less weight over the dark pill.
        let columns = [0.1, 0.45, 0.8].map { pixel(track.x + track.width * $0, middle) }
        #expect(
            columns[0] == 0xffff_ffff && columns[0] > columns[1] && columns[1] & 255 > columns[2] & 255, "\(columns.map { String($0, radix: 16) })")
        #expect(pixel(place.pill.x + place.pill.height / 2, place.pill.y + 2) >> 24 == 0xa7, "the pill")
        #expect(pixel(place.pill.x + 1, place.pill.y + 1) == 0, "its corner")
        #expect(pixel(place.pill.x + place.pill.width / 2, place.pill.y - 2) == 0)
        // The chapter at 50 s is a line across the track.
        #expect(pixel(track.x + track.width * 0.5, track.y - 2) & 255 > 100)
        #expect(pixel(track.x + track.width * 0.3, middle - 6) == 0xffff_ffff, "the knob")
    }
}
