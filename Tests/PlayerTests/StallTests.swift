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
        #expect(waiting.stalls >= 1 && waiting.stalledSeconds > 0)
        #expect(waiting.framesDecoded == waiting.framesPresented + late(waiting))
        #expect(late(waiting) <= waiting.framesDecoded / 10, "\(late(waiting)) of \(waiting.framesDecoded)")
    }

    @Test func `time goes on without it where that is wished for`() throws {
        let going = try play(waits: false)
        #expect(going.stalls == 0 && going.stalledSeconds == 0)
        #expect(late(going) > going.framesDecoded / 4, "\(late(going)) of \(going.framesDecoded)")
    }

    @Test func `a server that stops in mid-film and goes on is waited for, which is told`() async throws {
        let bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: TestAssets.demo))), gate = LyingServer.Gate()
        let server = LyingServer { request in
            .file(bytes, request).pausing(after: bytes.count / 4 - (request.rangeStart ?? 0), until: gate)
        }
        defer { server.stop() }
        defer { gate.open() }
        var configuration = PlayerConfiguration()
        configuration.playsAudio = false
        configuration.rate = 8
        let player = Player(sink: HeadlessSink(), configuration: configuration), events = player.events
        try await player.open(server.address("film.mp4"))
        var states: [PlayerState] = []
        for await event in events {
            if case .ended = event { break }
            guard case .stateChanged(let state) = event else { continue }
            states.append(state)
            if state == .waiting {
                #expect(player.statistics.stalls >= 1 && player.isPlaying)
                gate.open()
            }
        }
        #expect(states.starts(with: [.opening, .preparing, .playing, .waiting, .playing]), "\(states)")
        player.close()
        let statistics = player.statistics
        #expect(statistics.stalls == states.count { $0 == .waiting } && statistics.stalledSeconds > 0)
        #expect(statistics.framesDecoded == 300 && statistics.framesPresented + statistics.framesDropped.reduce(0) { $0 + $1.count } == 300)
    }

    private func late(_ statistics: PlaybackStatistics) -> Int { statistics.framesDropped.first { $0.reason == "late" }?.count ?? 0 }
}
