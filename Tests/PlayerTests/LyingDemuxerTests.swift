import Decoding
import DisplaySink
import Foundation
import Media
import Player
import Sandbox
import TestSupport
import Testing

@testable import Demuxing

/// A process that reads a film and says of its times what it likes: the film does not stand, or obeys the viewer while it does.
@Suite(.serialized, .unsanitized) struct LyingDemuxerTests {
    private struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var lie: LyingDemuxer.Lie
        /// All frames but so few are shown; nil: the film has no frame that could be shown.
        var lost: Int? = 12

        init(_ description: String, lost: Int? = 12, _ sample: @escaping @Sendable (inout DemuxedSample, Int) -> Void) {
            (testDescription, self.lost) = (description, lost)
            lie = LyingDemuxer.Lie(sample: sample)
        }

        /// The samples lie, and the film states this length.
        func stating(_ duration: MediaTime) -> Self {
            var other = self
            other.testDescription += ", in a film of \(duration)"
            other.lie.film = { $0.duration = duration }
            return other
        }
    }

    private static let hour = MediaTime(value: 3600, timescale: 1)
    private static let endless = MediaTime(value: .max, timescale: 1)
    /// Frames of the film.
    private static let frames = 60

    private static func move(_ sample: inout DemuxedSample, by time: MediaTime) {
        sample.presentationTime = sample.presentationTime + time
        sample.decodeTime = sample.decodeTime + time
    }

    private static func replace(_ sample: inout DemuxedSample, _ time: MediaTime) { (sample.presentationTime, sample.decodeTime) = (time, time) }

    private static let jumps: [Case] = [
        Case("an hour later from the tenth on") { if $1 >= 10 { move(&$0, by: hour) } },
        Case("an hour earlier from the tenth on") { if $1 >= 10 { move(&$0, by: .zero - hour) } },
        Case("every second one an hour later") { if $1 % 2 == 1 { move(&$0, by: hour) } },
        Case("each an hour behind the one before") { move(&$0, by: hour.multiplied(by: Int64($1))) },
        Case("each an hour before the one before") { move(&$0, by: .zero - hour.multiplied(by: Int64($1))) },
        Case("frames alone an hour later") { if $0.trackID == 0, $1 >= 10 { move(&$0, by: hour) } },
        Case("sound alone an hour later") { if $0.trackID == 1, $1 >= 10 { move(&$0, by: hour) } },
        Case("shown an hour after it is decoded") { if $0.trackID == 0, $1 >= 10 { $0.presentationTime = $0.presentationTime + hour } },
        Case("decoded an hour after it is shown") { if $1 >= 10 { $0.decodeTime = $0.decodeTime + hour } },
    ]

    private static let noTimes: [Case] =
        [MediaTime.invalid, .indefinite, .positiveInfinity, .negativeInfinity, endless, MediaTime(value: .min, timescale: 1)].flatMap { time in
            [
                Case("\(time) from the tenth on", lost: nil) { if $1 >= 10 { replace(&$0, time) } },
                Case("\(time) for every tenth", lost: 30) { if $1 % 10 == 9 { replace(&$0, time) } },
            ]
        }

    private static let durations: [Case] =
        [hour, endless, .zero - hour, .positiveInfinity, .indefinite, MediaTime(value: .max, timescale: .max)].map { time in
            Case("each lasts \(time)") { sample, _ in sample.duration = time }
        }

    private static let lengths: [Case] = [
        jumps[0].stating(.indefinite), jumps[2].stating(.indefinite), jumps[0].stating(.zero), jumps[0].stating(.zero - hour),
        jumps[3].stating(.positiveInfinity), durations[1].stating(.indefinite),
        Case("true times") { _, _ in }.stating(hour.multiplied(by: 10)), Case("true times") { _, _ in }.stating(endless),
    ]

    private static let all = jumps + noTimes + durations + lengths
    /// Every third one, each with --full.
    private static let cases = stride(from: 0, to: all.count, by: TestExtent.rounds(3, full: 1)).map { all[$0] }

    /// Two seconds of small frames in an order that is not the one in which they are shown, with sound.
    private static let film = Result { () throws -> String in
        let path = ProcessFolder.path("small.mp4"), process = ChildProcess()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments =
            ["ffmpeg", "-nostdin", "-v", "error", "-y", "-i", TestAssets.demo, "-t", "2", "-vf", "scale=160:-2"]
            + ["-c:v", "libx264", "-g", "10", "-c:a", "copy", path]
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
        return path
    }

    /// Plays the film, as the process tells it.
    private func play(_ lie: LyingDemuxer.Lie, _ body: (Player, Monitor<Bool?>) async throws -> Void) async throws {
        let liar = try LyingDemuxer(lie), ended = Monitor<Bool?>(nil)
        var configuration = PlayerConfiguration()
        configuration.sandbox = SandboxOptions(
            policy: .full, decoderPath: BuiltPrograms.decoder, restarts: RestartLimit(count: 0, window: .seconds(3600)))
        configuration.decoder.hardware = .disable
        configuration.audioDevice = "null"
        configuration.rate = 4
        let player = Player(sink: HeadlessSink(), configuration: configuration) { event in
            switch event {
            case .ended: ended.change { $0 = true }
            case .failed: ended.change { $0 = false }
            default: break
            }
        }
        try await player.open(Self.film.get())
        try await body(player, ended)
        player.close()
        liar.join()
    }

    @Test(arguments: cases) private func `the film ends in its own time`(_ row: Case) async throws {
        try await play(row.lie) { player, ended in
            // Its own time is half a second; what takes longer than this stands.
            let hasEnded = ended.wait(until: MonotonicClock.shared.now() + .seconds(60)) { $0 }
            #expect(hasEnded != nil, "it stands at \(player.position)")
            let statistics = player.statistics
            // A frame that comes too late on a busy machine counts as well.
            let seen = statistics.framesDropped.reduce(statistics.framesPresented) { $0 + $1.count }
            #expect(row.lost.map { seen >= Self.frames - $0 } ?? true, "\(statistics.framesPresented) shown of \(seen)")
        }
    }

    /// A film of stills says the same: the time is believed, and the viewer may go elsewhere.
    @Test func `a film that says that it goes on in hours obeys the viewer meanwhile`() async throws {
        let lie = Case("later") { if $1 >= 10 { Self.move(&$0, by: Self.hour) } }.stating(Self.hour.multiplied(by: 2)).lie
        try await play(lie) { player, ended in
            #expect(Polling.until { player.statistics.framesPresented > 0 })
            #expect(ended.withLock { $0 } == nil)
            try await player.seek(to: .zero)
            try await player.seek(to: Self.hour + MediaTime(value: 1, timescale: 1))
            #expect(ended.withLock { $0 } != false)
        }
    }
}
