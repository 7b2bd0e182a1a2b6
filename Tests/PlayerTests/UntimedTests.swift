import DisplaySink
import FrameExport
import Media
import Player
import TestSupport
import Testing

/// A film without a clock pauses, steps and ends as one with a clock does.
@Suite struct UntimedTests {
    private final class Stage {
        let player: Player
        let exporter: FrameExporter

        init(_ policy: FrameExporterConfiguration.Policy, startsPaused: Bool) throws {
            exporter = FrameExporter(FrameExporterConfiguration(policy: policy))
            var configuration = PlayerConfiguration()
            configuration.startsPaused = startsPaused
            configuration.playsAudio = false
            configuration.exporters = [exporter]
            player = Player(sink: HeadlessSink(isUntimed: true), configuration: configuration)
            try player.open(TestAssets.demo)
        }

        deinit { player.close() }

        /// The number of the next frame; nil when there is none.
        func next(within limit: HostSpan = .seconds(30)) -> Int? {
            switch exporter.waitForFrame(until: MonotonicClock.shared.now() + limit) {
            case .some(let frame): Int((frame.description.presentationTime.seconds * 30).rounded())
            case .none: nil
            }
        }

        /// Whether nothing comes, although the decoder has gone on for `frames`, or can go no further.
        func isStill(after frames: Int) -> Bool {
            let goal = exporter.statistics.delivered + frames
            _ = Polling.until { exporter.statistics.offered >= goal }
            return next(within: .milliseconds(50)) == nil
        }

        var numberOfPosition: Int { Int((player.position.seconds * 30).rounded()) }

        func waitForState(_ state: PlayerState) -> Bool { Polling.until { player.state == state } }
    }

    @Test(arguments: [FrameExporterConfiguration.Policy.makeDecoderWait, .dropOldest])
    func `one that starts paused gives its first frame, one more for each step, and goes on when it plays`(
        _ policy: FrameExporterConfiguration.Policy
    ) throws {
        let stage = try Stage(policy, startsPaused: true)
        #expect(stage.next() == 0)
        #expect(stage.waitForState(.paused))
        #expect(stage.isStill(after: 3) && stage.numberOfPosition == 0)
        for number in 1..<20 {
            stage.player.stepForward()
            #expect(stage.next() == number)
            #expect(Polling.until { stage.numberOfPosition == number }, "\(stage.numberOfPosition)")
        }
        #expect(stage.isStill(after: 1))
        stage.player.play()
        var last = 19
        while let number = stage.next() {
            #expect(number > last && (policy == .dropOldest || number == last + 1))
            last = number
        }
        #expect(stage.waitForState(.ended))
        #expect(stage.player.position == stage.player.duration, "\(stage.player.position)")
    }

    @Test func `a pause holds what the client has not fetched, and the position is its own`() throws {
        let stage = try Stage(.makeDecoderWait, startsPaused: false)
        var expected = 0
        for _ in 0..<TestExtent.rounds(12, full: 25, sanitized: 5) {
            for _ in 0..<10 {
                #expect(stage.next() == expected)
                expected += 1
            }
            stage.player.pause()
            #expect(stage.waitForState(.paused))
            // One that was on its way when the pause came.
            while let number = stage.next(within: .milliseconds(5)) {
                #expect(number == expected)
                expected += 1
            }
            #expect(stage.numberOfPosition == expected - 1)
            stage.player.stepForward()
            #expect(stage.next() == expected)
            expected += 1
            #expect(stage.next(within: .milliseconds(5)) == nil)
            stage.player.play()
        }
        while let number = stage.next() {
            #expect(number == expected)
            expected += 1
        }
        #expect(expected == 300)
        #expect(stage.waitForState(.ended))
        #expect(stage.player.position == stage.player.duration)
    }

    @Test func `a step back shows the frame before`() throws {
        let stage = try Stage(.makeDecoderWait, startsPaused: true)
        #expect(stage.next() == 0)
        for number in 1..<6 {
            stage.player.stepForward()
            #expect(stage.next() == number)
        }
        for number in (0..<5).reversed() {
            stage.player.stepBackward()
            #expect(stage.next() == number)
            #expect(stage.waitForState(.paused))
        }
    }
}
