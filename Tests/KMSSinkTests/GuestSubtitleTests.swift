import DisplaySink
import Foundation
import Glibc
import KMSSink
import Media
import OnScreen
import Player
import Subtitles
import TestSupport
import Testing

/// Images over the film on the planes of the lab's vkms, compared pixel by pixel with what was drawn.
@Suite("Subtitles on a monitor", .serialized, .enabled(if: Guest.isOne, "only in the lab's virtual machine")) struct GuestSubtitleTests {
    typealias Stage = GuestTests.Stage

    /// Gives each frame an image of its own, at once: one in three has none.
    private final class Numbers: OverlaySource {
        let canvases = Monitor<[OverlayCanvas]>([])
        func setCanvas(_ canvas: OverlayCanvas) { canvases.change { if $0.last != canvas { $0.append(canvas) } } }
        func expect(_ time: MediaTime) {}
        func image(at time: MediaTime) -> OverlayImage? { Self.images[Int(time.converted(to: 30).value) % Self.images.count] }

        static let images: [OverlayImage?] = (0..<9).map { number in
            guard number % 3 < 2 else { return nil }
            // Every other one moves, becomes larger, and is half transparent.
            let place = PixelRect(x: 11 + 40 * number, y: 5 + 30 * number, width: 30 + 25 * number, height: 9 + 12 * (number % 2))
            let color: UInt32 = number % 2 == 0 ? 0xffc0_4020 : 0x8040_0080
            let pixels = (0..<place.width * place.height).map { $0 % 5 == 0 ? 0 : color }
            return OverlayImage(place: place, pixels: pixels)
        }
    }

    /// The farthest that a pixel of `image` is from `base` with the images over it: every pixel in and around them, some of the others.
    static func worst(_ image: RGBImage, _ base: RGBImage, with images: [OverlayImage]) -> Int {
        var worst = 0
        for y in stride(from: 0, to: base.size.height, by: 7) {
            for x in stride(from: y % 3, to: base.size.width, by: 7) where !images.contains(where: { $0.place.contains(x, y) }) {
                worst = max(worst, image[x, y].distance(to: base[x, y]))
            }
        }
        for place in images.map(\.place) {
            for y in max(0, place.y - 2)..<min(base.size.height, place.y + place.height + 2) {
                for x in max(0, place.x - 2)..<min(base.size.width, place.x + place.width + 2) {
                    let expected = images.reduce(base[x, y]) { $1.color(x, y, over: $0) }
                    worst = max(worst, image[x, y].distance(to: expected))
                    if worst > 16 { return worst }
                }
            }
        }
        return worst
    }

    @Test("Each frame has its own image in the same commit, and it is gone with the frame") func frames() throws {
        let stage = try Stage(Guest.vkms), numbers = Numbers()
        let still = GuestTests.still(.nv12)
        try stage.show(still)
        let base = try stage.screenshot()
        stage.queue.overlay = numbers
        // The source is told the monitor before its first frame; it has nothing for the last frame of another film.
        #expect(stage.wait { numbers.canvases.withLock { $0 } == [OverlayCanvas(size: base.size, film: GuestTests.small)] })
        #expect(try Self.worst(stage.screenshot(), base, with: []) == 0)
        for number in 1...6 {
            try stage.show(still)
            let worst = try Self.worst(stage.screenshot(), base, with: [Numbers.images[number]].compactMap(\.self))
            #expect(worst <= 2, "frame \(number)")
        }
        let presented = stage.queue.statistics.framesPresented
        #expect(presented == 7 && stage.sink.bytesCopied == 0)
        // The next film has none.
        stage.queue.overlay = nil
        #expect(try stage.wait { try Self.worst(stage.screenshot(), base, with: []) == 0 })
        #expect(stage.queue.statistics.framesPresented == presented, "what lies over a frame makes it no new one")
        stage.sink.stop()
        #expect(stage.inUse == 0)
    }

    @Test("Messages and the bar lie over them, on the same plane") func both() throws {
        let stage = try Stage(Guest.vkms), numbers = Numbers()
        let still = GuestTests.still(.bgr0)
        try stage.show(still)
        let base = try stage.screenshot()
        stage.queue.overlay = numbers
        let screen = GuestOverlayTests.screen(over: stage)
        defer { screen.stop() }
        try stage.show(still)
        let bar = try GuestOverlayTests.drawn(GuestOverlayTests.paused, screen)
        let image = try #require(Numbers.images[1])
        #expect(try stage.wait { try Self.worst(stage.screenshot(), base, with: [image, bar]) <= 2 })
        screen.show(nil)
        #expect(try stage.wait { try Self.worst(stage.screenshot(), base, with: [image]) <= 2 })
    }

    /// A device whose planes do not lie over each other, from some commit with two of them on. The lab has none that can be read back.
    private final class Flat: SinkProbe {
        private let left: Monitor<Int>
        init(after count: Int) { left = Monitor(count) }
        func refusal(ofCommitFor monitors: Int, overlays: Int) -> Int32 {
            left.withLock { left in
                guard overlays > 0 else { return 0 }
                left -= 1
                return left < 0 ? EINVAL : 0
            }
        }
    }

    @Test("A device that refuses a second plane, at once or later, shows converted frames with the images on them", arguments: [0, 1])
    func flat(_ count: Int) throws {
        let stage = try Stage(Guest.vkms, probe: Flat(after: count)), still = GuestTests.still(.bgr0)
        try stage.show(still)
        let base = try stage.screenshot()
        stage.queue.overlay = Numbers()
        for number in [2, 3, 4, 5, 6] {
            while stage.sequence < number { try stage.show(still) }
            try stage.show(still)
            let image = try stage.screenshot(), over = [Numbers.images[number]].compactMap(\.self)
            #expect(Self.worst(image, base, with: over) <= 2, "frame \(number)")
        }
        #expect(stage.sink.bytesCopied > 0 && stage.sink.conversion != nil)
        // Frames without subtitles are shown from their own memory.
        while stage.sequence < 8 { try stage.show(still) }
        let copied = stage.sink.bytesCopied
        try stage.show(still)
        #expect(stage.sink.bytesCopied == copied)
        #expect(try Self.worst(stage.screenshot(), base, with: []) == 0)
        stage.sink.stop()
        #expect(stage.inUse == 0)
    }

    @Test("Where frames are converted anyway, nothing is converted twice, and the bar lies on them, too") func converted() throws {
        let stage = try Stage(Guest.vkms, probe: Flat(after: 0)), still = GuestTests.still(.gbrp)
        try stage.show(still)
        let base = try stage.screenshot()
        stage.queue.overlay = Numbers()
        let screen = GuestOverlayTests.screen(over: stage)
        defer { screen.stop() }
        let bar = try GuestOverlayTests.drawn(GuestOverlayTests.playing, screen)
        try stage.show(still)
        let copied = stage.sink.bytesCopied
        #expect(try Self.worst(stage.screenshot(), base, with: [Numbers.images[1]].compactMap(\.self) + [bar]) <= 2)
        try stage.show(still)
        #expect(stage.sink.bytesCopied == copied + base.size.width * base.size.height * 4)
        screen.show(nil)
        #expect(try stage.wait { try Self.worst(stage.screenshot(), base, with: []) == 0 })
    }

    @Test("A line of a file lies over the paused film as it is drawn, comes and goes at once, and costs no copy") func text() throws {
        let folder = NSTemporaryDirectory() + "kms-subtitles-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = folder + "/lines.srt"
        try Data("1\n00:00:00,500 --> 00:00:02,000\nOver the film\n<i>on a plane of its own</i>\n".utf8).write(to: URL(filePath: path))
        let reader = ScreenReader()
        let sink = try KMSSink(KMSSink.Options(connectors: [Guest.vkms], mode: #require(ModeRequest(text: "640x480"))), probe: reader)
        var configuration = PlayerConfiguration()
        configuration.playsAudio = false
        configuration.startsPaused = true
        configuration.startTime = MediaTime(value: 1, timescale: 1)
        configuration.subtitles.files = [path]
        configuration.subtitles.isVisible = false
        let player = Player(sink: sink, configuration: configuration) { _ in }
        defer { player.close() }
        try player.open(TestAssets.path("demo.mp4"))
        #expect(Polling.until { player.statistics.framesPresented == 1 })
        let base = try reader.screenshot()
        let engine = SubtitleEngine(
            tracks: [SubtitleTrack(.named(path))], chosen: 0, settings: SubtitleSettings(),
            film: .init(storage: PixelSize(width: 640, height: 360)), handlers: .init(changed: {}, notice: { _ in }))
        engine.start()
        defer { engine.stop() }
        engine.setCanvas(OverlayCanvas(size: base.size, film: PixelRect(x: 0, y: 60, width: 640, height: 360)))
        let limit = MonotonicClock.shared.now() + .seconds(60)
        let drawn = try #require(engine.drawnImage(at: MediaTime(value: 1, timescale: 1), until: limit))
        #expect(drawn.pixels.count { $0 == 0xffff_ffff } > 300, "white letters")
        for round in 0..<2 {
            player.showsSubtitles = true
            #expect(try Polling.until { try Self.worst(reader.screenshot(), base, with: [drawn]) <= 2 }, "round \(round)")
            player.showsSubtitles = false
            #expect(try Polling.until { try Self.worst(reader.screenshot(), base, with: []) == 0 }, "round \(round)")
        }
        #expect(player.statistics.framesPresented == 1 && sink.bytesCopied == 0)
        // After its end there is none, though subtitles are shown.
        player.showsSubtitles = true
        #expect(try Polling.until { try Self.worst(reader.screenshot(), base, with: [drawn]) <= 2 })
        player.seek(to: MediaTime(value: 2, timescale: 1))
        #expect(try Polling.until { try FrameCode(reader.screenshot(), in: PixelRect(x: 0, y: 60, width: 640, height: 360))?.number == 60 })
        let text = try reader.screenshot().mean(of: PixelRect(x: drawn.place.x, y: 430, width: drawn.place.width, height: 40))
        #expect(text.distance(to: RGBImage.Color(red: 0, green: 0, blue: 0)) == 0, "\(text)")
    }
}

extension PixelRect {
    fileprivate func contains(_ x: Int, _ y: Int) -> Bool { self.x <= x && x < self.x + width && self.y <= y && y < self.y + height }
}

extension OverlayImage {
    /// What is seen where the image lies over a color.
    fileprivate func color(_ x: Int, _ y: Int, over color: RGBImage.Color) -> RGBImage.Color {
        guard place.contains(x, y) else { return color }
        let pixel = pixels[(y - place.y) * place.width + x - place.x], clear = 255 - Int(pixel >> 24)
        func mixed(_ shift: UInt32, _ value: Int) -> Int { Int(pixel >> shift & 255) + (value * clear + 127) / 255 }
        return RGBImage.Color(red: mixed(16, color.red), green: mixed(8, color.green), blue: mixed(0, color.blue))
    }
}
