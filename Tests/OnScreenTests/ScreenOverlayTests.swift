import DisplaySink
import Media
import OnScreen
import TestSupport
import Testing

/// What a display takes from the thread that draws, and what the pointer does with it.
@Suite struct ScreenOverlayTests {
    private static let canvas = OverlayCanvas(size: PixelSize(width: 640, height: 360), film: PixelRect(x: 0, y: 0, width: 640, height: 360))
    private static let bar = ScreenBar(isPlaying: true, position: 30, duration: 100)

    private static func rounded(_ gesture: ScreenOverlay.Gesture) -> ScreenOverlay.Gesture {
        if case .picked(let share) = gesture { .picked((share * 1e6).rounded() / 1e6) } else { gesture }
    }

    private final class Stage {
        let changes = Monitor(0)
        let gestures = Monitor<[ScreenOverlay.Gesture]>([])
        let overlay: ScreenOverlay

        init() {
            overlay = ScreenOverlay(
                changed: { [changes] in changes.change { $0 += 1 } }, gesture: { [gestures] gesture in gestures.change { $0.append(gesture) } })
        }

        deinit { overlay.stop() }
    }

    @Test func `what is shown is drawn for the display, once, and gone at once`() throws {
        let stage = Stage()
        #expect(stage.overlay.image == nil)
        stage.overlay.show(ScreenContent(message: "a"))
        stage.overlay.setCanvas(Self.canvas)
        let small = try #require(Polling.first { stage.overlay.image })
        stage.overlay.show(ScreenContent(message: "a"))
        var large = Self.canvas
        large.size = PixelSize(width: 1280, height: 720)
        stage.overlay.setCanvas(large)
        let image = try #require(Polling.first { stage.overlay.image === small ? nil : stage.overlay.image })
        #expect(image.place.height > small.place.height * 3 / 2)
        stage.overlay.show(nil)
        #expect(stage.overlay.image == nil)
        // Once drawn for each size, and once taken away. The thread that draws says so after it.
        #expect(Polling.until { stage.changes.withLock { $0 } == 3 })
        stage.overlay.show(ScreenContent())
        #expect(stage.changes.withLock { $0 } == 3)
    }

    @Test func `the bar is dragged, and what lies beside it is the window's`() throws {
        let stage = Stage(), place = BarLayout(Self.bar, ScreenLayout(Self.canvas.size)), track = try #require(place.track)
        let middle = place.pill.y + place.pill.height / 2
        // Nothing is drawn yet.
        #expect(!stage.overlay.follow(.pressed(x: track.x + 1, y: middle)))
        stage.overlay.setCanvas(Self.canvas)
        stage.overlay.show(ScreenContent(bar: Self.bar))
        #expect(Polling.until { stage.overlay.image != nil })
        #expect(!stage.overlay.follow(.moved(x: 10, y: 10)) && !stage.overlay.follow(.pressed(x: 10, y: 10)))
        #expect(!stage.overlay.follow(.released))
        #expect(stage.overlay.follow(.pressed(x: track.x + track.width / 2, y: middle)))
        // The finger need not stay on it.
        #expect(stage.overlay.follow(.moved(x: track.x + track.width / 4, y: 5)) && stage.overlay.follow(.moved(x: 9999, y: 5)))
        #expect(stage.overlay.follow(.released))
        #expect(!stage.overlay.follow(.moved(x: 20, y: 20)))
        #expect(stage.overlay.follow(.pressed(x: place.sign.x + 1, y: middle)) && !stage.overlay.follow(.released))
        #expect(stage.gestures.withLock { $0 }.map(Self.rounded) == [.moved, .picked(0.5), .picked(0.25), .picked(1), .moved, .toggled])
        stage.overlay.show(nil)
        #expect(!stage.overlay.follow(.pressed(x: track.x + 1, y: middle)))
    }
}
