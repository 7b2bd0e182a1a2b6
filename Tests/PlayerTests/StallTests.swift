import DisplaySink
import Foundation
import Media
import Player
import TestSupport
import Testing

/// A source that brings less than is played, for a while: half of a film through a pipe, a pause longer than what was read ahead, the rest.
@Suite(.serialized) struct StallTests {
    /// Plays the demo's frames so; returns the statistics.
    private func play(waits: Bool) throws -> PlaybackStatistics {
        let fifo = NSTemporaryDirectory() + "stall-\(UUID().uuidString.prefix(8))"
        try #require(unsafe mkfifo(fifo, 0o600) == 0)
        defer { unsafe unlink(fifo) }
        let bytes = try Data(contentsOf: URL(fileURLWithPath: TestAssets.path("annexb.h264")))
        let ended = Monitor(false)
        let writer = LoopThread(name: "source") {
            let pipe = unsafe open(fifo, O_WRONLY | O_CLOEXEC)
            let half = bytes.count / 2
            unsafe bytes.withUnsafeBytes { all in
                _ = unsafe write(pipe, all.baseAddress, half)
                Thread.sleep(forTimeInterval: 3)
                _ = unsafe write(pipe, all.baseAddress! + half, all.count - half)
            }
            close(pipe)
        }
        var configuration = PlayerConfiguration()
        configuration.rawCodec = .h264
        configuration.waitsForSource = waits
        let player = Player(sink: HeadlessSink(), configuration: configuration) { event in
            if case .ended = event { ended.change { $0 = true } }
        }
        try player.open(fifo)
        let limit = MonotonicClock.shared.now() + .seconds(60)
        #expect(ended.wait(until: limit) { $0 ? true : nil } == true)
        player.close()
        writer.join()
        return player.statistics
    }

    @Test func `a film waits for its source and loses nothing`() throws {
        let waiting = try play(waits: true)
        #expect(waiting.framesDecoded == waiting.framesPresented + late(waiting))
        #expect(late(waiting) <= waiting.framesDecoded / 10, "\(late(waiting)) of \(waiting.framesDecoded)")
    }

    @Test func `time goes on without it where that is wished for`() throws {
        let going = try play(waits: false)
        #expect(late(going) > going.framesDecoded / 4, "\(late(going)) of \(going.framesDecoded)")
    }

    private func late(_ statistics: PlaybackStatistics) -> Int { statistics.framesDropped.first { $0.reason == "late" }?.count ?? 0 }
}
