import DisplaySink
import Foundation
import Media
import Subtitles
import TestSupport
import Testing

/// Subtitles that were made to do harm, or are damaged. Each ends in an image or none, in bounded time and memory.
@Suite struct HostileSubtitleTests {
    private let stage: SubtitleStage

    init() throws { stage = try SubtitleStage() }

    private static func script(_ text: String) -> String {
        "1\n00:00:01,000 --> 00:00:02,000\n\(text)\n\n2\n00:00:03,000 --> 00:00:04,000\nStill here\n"
    }

    @Test(
        arguments: [
            String(repeating: "{\\t(", count: 2000), String(repeating: "{\\fs9999}\\N", count: 200) + "W",
            "{\\fscx99999\\fscy99999\\bord9999\\blur99999}W",
            "{\\p1\\fscx1000000}m 0 0 l 99999999 0 99999999 99999999{\\p0}", "{\\pos(1e30,-1e30)\\frx89.9999\\org(9e9,9e9)}W",
            "{\\clip(m 0 0 l 99999 99999 0 99999)}W", String(repeating: "<font size=\"9\"><i>", count: 500) + "W",
            "\u{202e}\u{feff}{\\fn\u{1}}\u{0301}W",
            String(repeating: "\u{0301}", count: 4000),
        ])
    func `deeply nested and enormous tags do not stop the lines that follow`(_ text: String) throws {
        let engine = SubtitleStage.engine([SubtitleTrack(.named(try stage.write("a.srt", Self.script(text))))])
        defer { engine.stop() }
        _ = engine.shown(at: 1500)
        #expect(engine.shown(at: 3500) != nil)
    }

    @Test func `a line of megabytes is cut`() throws {
        let engine = SubtitleStage.engine([SubtitleTrack(.named(try stage.write("a.srt", Self.script(String(repeating: "W ", count: 2 << 20)))))])
        defer { engine.stop() }
        _ = engine.shown(at: 1500)
        #expect(engine.shown(at: 3500) != nil)
    }

    @Test func `a file of more than 32 MiB is not read`() throws {
        let notices = SubtitleStage.Notices(), path = try stage.write("a.srt", "")
        let status = unsafe truncate(path, 100 << 20)
        try #require(status == 0)
        let engine = SubtitleStage.engine([SubtitleTrack(.named(path))], notices: notices)
        defer { engine.stop() }
        #expect(notices.wait() == ["\(path) is not shown: it is larger than 32 MiB."])
    }

    @Test func `thousands of lines at once are shown in part`() throws {
        let lines = (1...3000).map { "\($0)\n00:00:01,000 --> 00:00:02,000\nLine \($0)\n" }.joined(separator: "\n")
        let engine = SubtitleStage.engine([SubtitleTrack(.named(try stage.write("a.srt", lines)))])
        defer { engine.stop() }
        #expect(engine.shown(at: 1500) != nil)
    }

    @Test func `damaged bytes end in an image or none`() throws {
        let sound = PGSFile.bytes(PixelRect(x: 40, y: 60, width: 80, height: 20), on: PixelSize(width: 160, height: 90), times: (1000, 2000))
        var dice = Dice(seed: 1)
        for round in 0..<TestExtent.rounds(30, full: 1000, sanitized: 10) {
            var bytes = sound
            for _ in 0..<4 { bytes[Int.random(in: 0..<bytes.count, using: &dice)] = .random(in: 0...255, using: &dice) }
            let engine = SubtitleStage.engine([SubtitleTrack(.named(try stage.write("\(round).sup", bytes)))])
            _ = engine.shown(at: 1500)
            engine.stop()
        }
    }
}

/// The films of others that have subtitles.
@Suite struct ThirdPartySubtitleTests {
    @Test(
        .enabled(if: MediaCatalog.shared != nil),
        arguments: [
            ("mkv-webm/androidx/sample_with_srt.mkv", 1), ("mkv-webm/androidx/sample_with_pgs_subtitles.mkv", 1),
            ("mp4/androidx/sample_with_vobsub.mp4", 1),
        ])
    func `something is shown at some time`(_ name: String, _ count: Int) throws {
        let path = try #require(MediaCatalog.shared).path(name)
        let engine = try SubtitleStage.play(path)
        defer { engine.stop() }
        #expect(engine.tracks.count >= count)
        #expect(!engine.times(until: 60_000, step: 250).isEmpty)
    }
}
