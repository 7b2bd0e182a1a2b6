import DisplaySink
import Media
import Testing

@Suite struct StatusBarTests {
    static let screen = PixelSize(width: 1280, height: 720)

    static func status(_ position: Int, _ duration: Int?, isPlaying: Bool = true) -> PlaybackStatus {
        PlaybackStatus(isPlaying: isPlaying, position: position, duration: duration)
    }

    @Test func `it lies low in the middle, at even places`() {
        for screen in [Self.screen, PixelSize(width: 640, height: 480), PixelSize(width: 3840, height: 2160), PixelSize(width: 1080, height: 1920)] {
            let drawing = StatusBar(screen: screen), place = drawing.place(on: screen)
            #expect(place.size == drawing.size && place.x % 2 == 0 && place.y % 2 == 0)
            #expect(place.x > 0 && place.x + place.width < screen.width && place.y > screen.height / 2 && place.y + place.height < screen.height)
            #expect(drawing.pixels(Self.status(1, 2)).count == drawing.size.width * drawing.size.height)
        }
    }

    @Test func `corners are clear, the rest is dark glass, and no colour outshines its opacity`() {
        let drawing = StatusBar(screen: Self.screen), pixels = drawing.pixels(Self.status(61, 100))
        let width = drawing.size.width, height = drawing.size.height
        for corner in [0, width - 1, (height - 1) * width, height * width - 1] { #expect(pixels[corner] == 0) }
        #expect(pixels[2 * width + width / 2] == UInt32((0.62 * 255).rounded()) << 24)
        #expect(pixels.allSatisfy { $0 & 255 <= $0 >> 24 && $0 & 255 == $0 >> 8 & 255 && $0 & 255 == $0 >> 16 & 255 })
    }

    @Test func `the bar grows with the film`() {
        let drawing = StatusBar(screen: Self.screen), row = drawing.size.height / 2
        func lit(_ position: Int) -> Int {
            let pixels = drawing.pixels(Self.status(position, 500))
            return (200..<520).count { pixels[row * drawing.size.width + $0] & 255 == 255 }
        }
        let counts = [100, 200, 300, 400].map(lit)
        #expect(counts == counts.sorted() && Set(counts).count == 4, "\(counts)")
        #expect(drawing.progress(Self.status(250, 500)) * 2 == drawing.progress(Self.status(500, 500)))
        #expect(drawing.progress(Self.status(599, 500)) == drawing.progress(Self.status(500, 500)))
        #expect(drawing.progress(Self.status(9, 0)) == 0)
    }

    @Test func `every digit and sign looks different`() {
        let drawing = StatusBar(screen: Self.screen), width = drawing.size.width
        #expect(Set((0...9).map { drawing.pixels(Self.status($0, nil)) }).count == 10)
        #expect(drawing.pixels(Self.status(5, 9)) != drawing.pixels(Self.status(5, 9, isPlaying: false)))
        // Without an end there is no bar.
        let pixels = drawing.pixels(Self.status(5, nil))
        #expect(pixels.indices.allSatisfy { $0 % width < width / 2 || pixels[$0] & 255 == 0 })
    }
}
