import Media
import Player
import Testing

@testable import PlaySupport

/// The page of statistics over the film.
@Suite struct StatisticsPageTests {
    private static func text(_ statistics: PlaybackStatistics, _ moment: StatisticsPage.Moment) -> [String] {
        StatisticsPage.lines(statistics, moment).map { $0.label.isEmpty ? $0.text : "\($0.label): \($0.text)" }
    }

    @Test func `what is not known is not told`() {
        let lines = Self.text(PlaybackStatistics(), StatisticsPage.Moment())
        let expected = ["File: ", "Frames: 0 shown, 0 dropped", "Late: 0.00 ms median, 0.00 ms p99", "Buffer: 0.0 s", "Copied: 0.0 MiB"]
        #expect(lines.dropLast() == expected[...], "\(lines)")
    }

    @Test func `what is counted is told, but for frames that a seek leaves out`() {
        var statistics = PlaybackStatistics(), moment = StatisticsPage.Moment()
        statistics.framesPresented = 250
        statistics.framesDropped = [("late", 3), ("flushed", 40), ("doNotDisplay", 12), ("superseded", 1)]
        statistics.decoder = "h264 (software)"
        statistics.sandbox = "gave up everything"
        statistics.sink = "wayland"
        statistics.bytesCopied = 3 << 20
        statistics.conversion = .init(from: "yuv420p", to: "bgr0", why: "the compositor may guess")
        statistics.avOffset = .init(mean: -1.25, max: 12.04)
        statistics.presentationError.p50 = 125
        (statistics.stalls, statistics.stalledSeconds) = (2, 1.5)
        statistics.live = .init(target: 0.5, latency: 0.512, jumps: 1, reconnections: 2)
        statistics.live?.latencyByDate = 1.234
        (moment.title, moment.buffered, moment.cached, moment.speed) = ("A film", 1.85, 5 << 20, 1.1)
        let lines = Self.text(statistics, moment)
        for expected in [
            "File: A film", "Decoder: h264 (software), in a sandbox", "Display: wayland  speed: 1.10",
            "Frames: 250 shown, 4 dropped (late 3, superseded 1)", "Late: 0.13 ms median, 0.00 ms p99", "A-V: -1.3 ms mean, 12.0 ms max",
            "Buffer: 1.9 s, 5.0 MiB from the network",
            "Latency: 0.51 s, 0.50 s wanted, jumped 1 times, connected again 2 times, made 1.23 s ago by its sender's clock",
            "Waited: 2 times, 1.5 s", "Copied: 3.0 MiB",
            "yuv420p to bgr0: the compositor may guess",
        ] { #expect(lines.contains(expected), "\(expected) in \(lines)") }
    }
}
