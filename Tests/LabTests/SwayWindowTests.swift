import DisplaySink
import Foundation
import Media
import Player
import TestSupport
import Testing
import WaylandSink

/// What happens to a window on sway, which has the lab's monitor: it covers the monitor, is scaled by one and a half, is out of sight.
@Suite("A window on sway", .serialized, .enabled(if: Lab.isHere, "runs in the virtual machine: scripts/lab suite"))
struct SwayWindowTests {
    /// A player in a window of its own, and what is seen of it.
    private final class Stage {
        let compositor: LabCompositor
        let sink: WaylandSink
        let player: Player
        let messages = Monitor<[String]>([])

        init(
            _ film: String = TestAssets.demo, size: PixelSize = PixelSize(width: 640, height: 360), settings: [String: String] = [:],
            exactColors: Bool? = nil, isPaused: Bool = false
        ) throws {
            compositor = try LabCompositor(.swayOnMonitor, size: size, settings: settings)
            sink = try WaylandSink(display: compositor.socket, exactColors: exactColors)
            var configuration = PlayerConfiguration()
            configuration.playsAudio = false
            configuration.loops = true
            configuration.startsPaused = isPaused
            player = Player(sink: sink, configuration: configuration) { [messages] event in messages.change { $0.append("\(event)") } }
            try player.open(film)
        }

        deinit { player.close() }

        var presented: Int { player.statistics.framesPresented }
        var dropped: Int { player.statistics.framesDropped.map(\.count).reduce(0, +) }

        /// Until it is so, for a minute at most.
        func wait(_ what: String, until isDone: () throws -> Bool) throws {
            guard try Polling.until(every: .milliseconds(20), isDone) else {
                throw Lab.Failure(description: "\(what) did not happen: \(presented) frames presented, \(messages.withLock { $0 })")
            }
        }

        /// The frame's number, once the screen shows one that can be read.
        func number(_ title: String) throws -> Int {
            var found: Int?
            try wait("a frame on the screen") {
                found = FrameCode(try compositor.screenshot(title))?.number
                return found != nil
            }
            return found!
        }

        func isTold(_ words: String, after count: Int = 0) -> Bool { messages.withLock { $0.dropFirst(count).contains { $0.contains(words) } } }
        var messageCount: Int { messages.withLock { $0.count } }
    }

    /// wlroots tells a surface of the monitor's own formats when it could have scanned it out for 30 frames, and takes it back after 30 others.
    @Test("the memory that the monitor scans out is asked about anew when the window covers it, and no frame is lost over it")
    func trancheChange() throws {
        let small = "for_window [app_id=\".*\"] floating enable, resize set 480 270"
        let stage = try Stage(settings: ["LAB_FLOAT": "1", "LAB_SWAY_CONFIG": small], exactColors: false, isPaused: true)
        try stage.wait("the first frame") { stage.presented == 1 }
        #expect(!stage.isTold("as the display scans it out"))
        var shown = 1
        /// One frame after the other, each waited for, until the compositor has told; none may be left out for want of time.
        func step(until words: String) throws {
            let count = stage.messageCount
            var steps = 0
            while !stage.isTold(words, after: count) {
                stage.player.stepForward()
                shown += 1
                try stage.wait("frame \(shown)") { stage.presented == shown }
                steps += 1
                try #require(steps <= 100, "no feedback after a hundred frames: \(stage.messages.withLock { $0 })")
            }
        }
        try stage.compositor.command("fullscreen enable")
        try stage.wait("full screen") { stage.sink.isFullscreen }
        try step(until: "as the display scans it out, with")
        #expect(try stage.number("scanned-out") == shown - 1)
        #expect(stage.dropped == 0 && stage.player.statistics.bytesCopied == 0, "\(stage.player.statistics)")
        // Drawing is slow here.
        guard Lab.isFull else { return }
        try stage.compositor.command("fullscreen disable")
        try stage.wait("the end of full screen") { !stage.sink.isFullscreen }
        try step(until: "without a copy, by linux-dmabuf, with")
        try stage.compositor.command("fullscreen enable")
        try stage.wait("full screen") { stage.sink.isFullscreen }
        #expect(try stage.number("drawn") == shown - 1)
        #expect(stage.dropped == 0 && stage.player.statistics.bytesCopied == 0, "\(stage.player.statistics)")
    }

    @Test("at a scale of one and a half each pixel of the film is one of the monitor's", arguments: [true, false])
    func fractionalScale(isDirect: Bool) throws {
        let size = PixelSize(width: 480, height: 270)
        let film = NSTemporaryDirectory().appending("grain-\(UUID().uuidString).mkv")
        defer { try? FileManager.default.removeItem(atPath: film) }
        // Gray grain, without loss: a frame that were scaled or moved by a part of a pixel would differ nearly everywhere.
        _ = try Lab.output(
            of: "ffmpeg",
            [
                "-nostdin", "-v", "error", "-f", "lavfi", "-i", "nullsrc=s=\(size.width)x\(size.height):r=30:d=0.5",
                "-vf", "format=yuv420p,geq=lum='16+mod(X*X*7+Y*Y*13+X*Y*5,220)':cb=128:cr=128",
                "-c:v", "ffv1", "-colorspace", "bt709", "-color_range", "tv", film,
            ])
        let stage = try Stage(
            film, size: size, settings: ["LAB_SWAY_CONFIG": "output * scale 1.5"], exactColors: isDirect ? false : true, isPaused: true)
        try stage.wait("the first frame") { stage.presented >= 1 && stage.sink.isFullscreen }
        var worst = 255
        try? stage.wait("the film, pixel for pixel") {
            let shot = try stage.compositor.screenshot("scale-\(isDirect ? "direct" : "converted")")
            worst = 0
            for y in 0..<size.height {
                for x in 0..<size.width {
                    let gray = ((x * x * 7 + y * y * 13 + x * y * 5) % 220 * 255 + 109) / 219
                    worst = max(worst, shot[x, y].distance(to: .init(red: gray, green: gray, blue: gray)))
                }
            }
            return worst <= 2
        }
        #expect(worst <= 2, "\(worst) steps of 255 from the film, \(stage.messages.withLock { $0 })")
        #expect((stage.player.statistics.bytesCopied == 0) == isDirect)
    }

    @Test("the film goes on while its workspace is not shown, without more memory, and is there with the right frame afterwards")
    func occlusion() throws {
        let stage = try Stage()
        try stage.wait("a film that runs") { stage.presented >= 10 }
        let late = stage.dropped
        try stage.compositor.command("workspace 2")
        // Time for the last frames that were on their way, and for sway to make the buffers that the other workspace is drawn in.
        try stage.wait("a window that nobody sees") { stage.dropped >= late + 30 }
        let (presented, dropped, buffers) = (stage.presented, stage.dropped, try LabMonitor.sharedBufferCount())
        try stage.wait("two seconds of film") { stage.dropped >= dropped + 60 }
        #expect(stage.presented <= presented + 4, "\(stage.presented - presented) frames of a hidden window were seen")
        // The decoder may come to use a surface or two more; a leak would take one for each of the sixty frames.
        let more = try LabMonitor.sharedBufferCount() - buffers
        #expect(more <= 3, "\(more) DMA-BUFs more, of \(buffers)")
        stage.player.pause()
        try stage.wait("a pause") { !stage.player.isPlaying }
        try stage.compositor.command("workspace 1")
        // Until the sink hears that it is seen, the compositor has nothing but the frame that it had last. A slow machine decodes up to the clock
        // first.
        try stage.wait("the frame of the position") { abs(try stage.number("seen-again") - Int(stage.player.position.seconds * 30)) <= 1 }
        let seen = stage.presented
        stage.player.play()
        try stage.wait("a film that runs again") { stage.presented >= seen + 10 }
    }
}
