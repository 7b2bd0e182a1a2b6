import DisplaySink
import KMSSink
import Media
import TestSupport
import Testing

@Suite("Over the film", .serialized, .enabled(if: Guest.isOne, "only in the lab's virtual machine")) struct GuestOverlayTests {
    typealias Stage = GuestTests.Stage

    /// How many pixels lie within a step of what the status over an evenly coloured frame must be, of all.
    private static func likeness(_ image: RGBImage, _ status: PlaybackStatus, over color: RGBImage.Color) -> Double {
        let drawing = StatusBar(screen: image.size), place = drawing.place(on: image.size), pixels = drawing.pixels(status)
        var right = 0
        for y in 0..<place.height {
            for x in 0..<place.width {
                let over = pixels[y * place.width + x], clear = 255 - Int(over >> 24), colorSupport = Int(over & 255)
                let expected = RGBImage.Color(
                    red: colorSupport + color.red * clear / 255, green: colorSupport + color.green * clear / 255,
                    blue: colorSupport + color.blue * clear / 255)
                if image[place.x + x, place.y + y].distance(to: expected) <= 2 { right += 1 }
            }
        }
        return Double(right) / Double(place.width * place.height)
    }

    /// White beneath all of the status: the lower half of this still is blue and white, so all of it is shown white.
    private static let still = GuestTests.still(.bgr0)

    @Test("The status is shown on a plane of its own, follows the film, and goes") func status() throws {
        let stage = try Stage(Guest.vkms)
        try stage.show(Self.still)
        let presented = stage.queue.statistics.framesPresented
        let black = RGBImage.Color(red: 0, green: 0, blue: 0)
        // Beside the film of 320x240 the screen of 640x480 is black, and the status lies there.
        for status in [PlaybackStatus(isPlaying: true, position: 83, duration: 296), PlaybackStatus(isPlaying: false, position: 3725, duration: nil)]
        {
            stage.sink.showStatus(status)
            #expect(try stage.wait { try Self.likeness(stage.screenshot(), status, over: black) > 0.999 })
            let (quarters, _) = try GuestTests.look(stage.screenshot(), at: GuestTests.small)
            for (color, expected) in zip(quarters, Quadrants.colors) { #expect(color.distance(to: expected) <= 2, "\(quarters)") }
        }
        // With the next frame, too.
        try stage.show(GuestTests.still(.nv12))
        let last = PlaybackStatus(isPlaying: false, position: 3725, duration: nil)
        #expect(try Self.likeness(stage.screenshot(), last, over: black) > 0.999)
        stage.sink.showStatus(nil)
        #expect(try stage.wait { try GuestTests.look(stage.screenshot(), at: GuestTests.small).border == 0 })
        #expect(stage.queue.statistics.framesPresented == presented + 1, "what lies over a frame makes it no new one")
        #expect(stage.sink.bytesCopied == 0)
        stage.sink.stop()
        #expect(stage.inUse == 0)
    }

    @Test("It lies over a frame that fills the screen") func over() throws {
        let stage = try Stage(Guest.vkms)
        var still = GuestTests.still(.bgr0)
        still.size = PixelSize(width: 640, height: 480)
        try stage.show(still)
        let status = PlaybackStatus(isPlaying: true, position: 5, duration: 10)
        stage.sink.showStatus(status)
        let drawing = StatusBar(screen: still.size), place = drawing.place(on: still.size)
        // The left half of the status lies over blue.
        #expect(
            try stage.wait {
                let image = try stage.screenshot(), row = place.y + 2, glass = Double(drawing.pixels(status)[2 * place.width + 40] >> 24) / 255
                let expected = RGBImage.Color(red: 0, green: 0, blue: Int((255 * (1 - glass)).rounded()))
                return image[place.x + 40, row].distance(to: expected) <= 2
            })
    }

    @Test("Without a plane for it, that is said") func none() throws {
        let stage = try Stage(Guest.virtio)
        try stage.show(Self.still)
        stage.sink.showStatus(PlaybackStatus(isPlaying: true, position: 5, duration: 10))
        let sentence = "because no plane with alpha is free above the film."
        #expect(
            stage.wait {
                stage.events.withLock { $0.contains { if case .detail(let text) = $0 { text.hasSuffix(sentence) } else { false } } }
            })
        try stage.show(Self.still)
    }
}
