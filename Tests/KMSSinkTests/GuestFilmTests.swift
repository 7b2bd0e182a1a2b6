import Composition
import DisplaySink
import Foundation
import KMSSink
import Media
import Player
import TestSupport
import Testing

/// Whole films from their files to the screen of the lab's vkms, read back by the device.
@Suite("A film on a monitor", .serialized, .enabled(if: Guest.isOne, "only in the lab's virtual machine")) struct GuestFilmTests {
    /// A player on the monitor, and what is seen there.
    final class Stage {
        let sink: KMSSink
        let player: Player
        private let reader = ScreenReader()
        let messages = Monitor<[String]>([])

        convenience init(_ asset: String, at seconds: Double? = nil, isRaw: Bool = false, connectors: [String] = [Guest.vkms], rate: Double = 1)
            throws
        {
            try self.init(at: seconds, isRaw: isRaw, connectors: connectors, rate: rate)
            try player.open(TestAssets.path(asset))
        }

        /// Nothing is open yet.
        init(at seconds: Double? = nil, isRaw: Bool = false, connectors: [String] = [Guest.vkms], rate: Double = 1) throws {
            sink = try KMSSink(KMSSink.Options(connectors: connectors, mode: #require(ModeRequest(text: "640x480"))), probe: reader)
            var configuration = PlayerConfiguration()
            configuration.playsAudio = false
            configuration.startsPaused = !isRaw
            configuration.rate = rate
            configuration.startTime = seconds.map { MediaTime(value: Int64($0 * 1000), timescale: 1000) }
            if isRaw { configuration.rawCodec = .h264 }
            player = Player(sink: sink, configuration: configuration) { [messages] event in messages.change { $0.append("\(event)") } }
        }

        deinit { player.close() }

        func screenshot() throws -> RGBImage { try reader.screenshot() }

        /// Looks until the frame with this number is on the screen, and gives it with the place that it covers.
        func look(for number: Int, within limit: HostSpan = .seconds(60)) throws -> (image: RGBImage, part: PixelRect) {
            var seen: [Int?] = []
            let found: (RGBImage, PixelRect)? = try Polling.first(within: limit, every: .milliseconds(20)) {
                // A dark monitor cannot be read.
                guard player.statistics.framesPresented > 0 else { return nil }
                let image = try screenshot(), part = image.bounds() ?? PixelRect(image.size)
                let code = FrameCode(image, in: part)
                if code?.number == number { return (image, part) }
                if seen.last != code?.number { seen.append(code?.number) }
                return nil
            }
            guard let found else { throw Failure(description: "frame \(number) is not shown, but \(seen); \(messages.withLock { $0 })") }
            return found
        }
    }

    struct Failure: Error, CustomStringConvertible { var description: String }

    struct Case: Sendable, CustomTestStringConvertible {
        var asset: String
        var seconds: Double
        var number: Int
        var isDirect = true
        /// Of the frame on the screen.
        var size: PixelSize
        var testDescription: String { "\(asset) at \(seconds)" }
    }

    static func size(_ width: Int, _ height: Int) -> PixelSize { PixelSize(width: width, height: height) }

    static let cases = [
        Case(asset: "demo.mp4", seconds: 3.1, number: 93, size: size(640, 360)),
        Case(asset: "plain.mp4", seconds: 0.5, number: 15, size: size(320, 180)),
        Case(asset: "crop.mp4", seconds: 0.3, number: 9, size: size(318, 178)),
        Case(asset: "odd-size.webm", seconds: 0.3, number: 9, size: size(321, 181)),
        Case(asset: "odd-size-444.mp4", seconds: 0.3, number: 9, size: size(321, 181)),
        Case(asset: "rotation-90.mp4", seconds: 0.3, number: 9, size: size(320, 180)),
        Case(asset: "pixel-aspect-2.mp4", seconds: 0.3, number: 9, isDirect: false, size: size(640, 360)),
        Case(asset: "hevc-10bit.mp4", seconds: 0.5, number: 15, isDirect: false, size: size(640, 360)),
    ]

    @Test("The frame of a given time is on the screen, in its colours and size", arguments: cases) func still(_ row: Case) throws {
        let stage = try Stage(row.asset, at: row.seconds)
        let (image, part) = try stage.look(for: row.number)
        #expect(abs(part.width - row.size.width) <= 1 && abs(part.height - row.size.height) <= 1, "\(part)")
        #expect(ColorBars.worstError(in: image, part: part) <= 5, "\(ColorBars.measured(in: image, part: part))")
        #expect((stage.sink.bytesCopied == 0) == row.isDirect, "\(String(describing: stage.sink.conversion))")
    }

    @Test("A film that changes its size goes on") func sizeChange() throws {
        // Slowly: a frame that a busy machine decodes too late is dropped, and the last one may be when the end is not known yet.
        let stage = try Stage("size-change.h264", isRaw: true, rate: 0.25)
        let (_, part) = try stage.look(for: 44)
        #expect(abs(part.width - 320) <= 1 && abs(part.height - 180) <= 1, "\(part)")
        #expect(stage.sink.bytesCopied == 0)
    }

    @Test("A composition's frames are on the screen where they were decoded or drawn, wherever it is sought") func composition() async throws {
        func time(_ frames: Int) -> MediaTime { MediaTime(value: Int64(frames), timescale: 30) }
        func range(_ first: Int, _ count: Int) -> MediaTimeRange { MediaTimeRange(start: time(first), duration: time(count)) }
        let demo = CompositionSource(url: TestAssets.demo)
        var film = Composition()
        let track = film.addTrack(.video)
        try film.insert(range(60, 30), of: demo, into: track, at: .zero)
        try film.insert(range(200, 30), of: demo, into: track, at: time(30))
        // The first part is passed through, the second one drawn.
        var video = VideoComposition(frameDuration: time(1), renderSize: Self.size(640, 360))
        video.instructions = [
            VideoCompositionInstruction(timeRange: range(0, 30), layers: [VideoCompositionLayer(track: track)]),
            VideoCompositionInstruction(timeRange: range(30, 30), layers: [VideoCompositionLayer(track: track, opacity: 0.99)]),
        ]
        let stage = try Stage()
        try await stage.player.open(film, videoComposition: video)
        for (number, shown) in [(0, 60), (45, 215), (59, 229), (29, 89), (30, 200), (17, 77)] {
            var found: (image: RGBImage, part: PixelRect)?
            // A frame that a slow machine does not draw within four seconds is left out: asked for again, it is there.
            for _ in 0..<5 where found == nil {
                try await stage.player.seek(to: time(number))
                found = try? stage.look(for: shown, within: .seconds(15))
            }
            let (image, part) = try #require(found, "frame \(shown): \(stage.player.statistics)")
            #expect(ColorBars.worstError(in: image, part: part) <= (number < 30 ? 5 : 8), "\(ColorBars.measured(in: image, part: part))")
        }
        stage.player.stepForward()
        _ = try stage.look(for: 78)
        let report = try #require(stage.player.statistics.composition)
        // A slow machine may draw a frame too late, but no frame wrongly.
        #expect(report.framesPassedThrough > 0 && report.framesDrawn > 0 && report.framesFailed == 0, "\(report)")
        #expect(stage.sink.bytesCopied == 0 && stage.player.statistics.bytesCopied == 0, "\(stage.player.statistics)")
    }

    @Test("Wherever it is sought, that frame is shown") func seeks() throws {
        let stage = try Stage("demo.mp4")
        var dice = Dice(seed: 31)
        for _ in 0..<(ProcessInfo.processInfo.environment["LAB_FULL"] == "1" ? 100 : 4) {
            let number = Int.random(in: 0..<300, using: &dice)
            stage.player.seek(to: MediaTime(value: Int64(number), timescale: 30))
            _ = try stage.look(for: number)
        }
        #expect(stage.sink.bytesCopied == 0)
    }
}
