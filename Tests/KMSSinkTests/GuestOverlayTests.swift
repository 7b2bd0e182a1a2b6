import DisplaySink
import KMSSink
import Media
import OnScreen
import TestSupport
import Testing

@Suite("Over the film", .serialized, .enabled(if: Guest.isOne, "only in the lab's virtual machine")) struct GuestOverlayTests {
    typealias Stage = GuestTests.Stage

    static let playing = ScreenContent(bar: ScreenBar(isPlaying: true, position: 83, duration: 296, chapters: [100, 200]))
    static let paused = ScreenContent(message: "Volume: 50%", bar: ScreenBar(isPlaying: false, position: 3725, duration: nil))

    /// What draws over everything that the stage shows.
    static func screen(over stage: Stage) -> ScreenOverlay {
        let screen = ScreenOverlay(changed: { [queue = stage.queue] in queue.overlayChanged() }, gesture: { _ in })
        stage.queue.screen = screen
        return screen
    }

    /// Shows this, and returns it as it is drawn. The monitor must be known.
    static func drawn(_ content: ScreenContent, _ screen: ScreenOverlay) throws -> OverlayImage {
        let old = screen.image
        screen.show(content)
        return try #require(Polling.first { screen.image === old ? nil : screen.image })
    }

    private static let still = GuestTests.still(.bgr0)

    @Test("What tells of the player is shown on a plane of its own, follows the film, and goes") func status() throws {
        let stage = try Stage(Guest.vkms), screen = Self.screen(over: stage)
        defer { screen.stop() }
        try stage.show(Self.still)
        let presented = stage.queue.statistics.framesPresented, base = try stage.screenshot()
        var last: OverlayImage?
        for content in [Self.playing, Self.paused] {
            let image = try Self.drawn(content, screen)
            #expect(image.place.width > 300 && image.pixels.contains(0xffff_ffff))
            #expect(try stage.wait { try GuestSubtitleTests.worst(stage.screenshot(), base, with: [image]) <= 2 })
            last = image
        }
        // With the next frame, too.
        try stage.show(GuestTests.still(.nv12))
        let other = try stage.screenshot(), image = try #require(last)
        #expect(GuestSubtitleTests.worst(other, base, with: [image]) <= 3)
        screen.show(nil)
        #expect(try stage.wait { try GuestTests.look(stage.screenshot(), at: GuestTests.small).border == 0 })
        #expect(stage.queue.statistics.framesPresented == presented + 1, "what lies over a frame makes it no new one")
        #expect(stage.sink.bytesCopied == 0)
        stage.sink.stop()
        #expect(stage.inUse == 0)
    }

    @Test("It lies over a frame that fills the screen") func over() throws {
        let stage = try Stage(Guest.vkms), screen = Self.screen(over: stage)
        defer { screen.stop() }
        var still = GuestTests.still(.bgr0)
        still.size = PixelSize(width: 640, height: 480)
        try stage.show(still)
        let base = try stage.screenshot(), image = try Self.drawn(Self.playing, screen)
        #expect(try stage.wait { try GuestSubtitleTests.worst(stage.screenshot(), base, with: [image]) <= 2 })
        #expect(stage.sink.bytesCopied == 0)
    }

    @Test("Without a plane for it, that is said, and it is drawn into converted frames while it is shown") func none() throws {
        let stage = try Stage(Guest.virtio), screen = Self.screen(over: stage)
        defer { screen.stop() }
        try stage.show(Self.still)
        let copied = stage.sink.bytesCopied
        _ = try Self.drawn(Self.playing, screen)
        let sentence = "because no plane with alpha is free above the film."
        #expect(
            stage.wait {
                stage.events.withLock { $0.contains { if case .detail(let text) = $0 { text.hasSuffix(sentence) } else { false } } }
            })
        #expect(stage.wait { stage.sink.bytesCopied > copied })
        screen.show(nil)
        try stage.show(Self.still)
    }
}
