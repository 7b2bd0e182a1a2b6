import DisplaySink
import Foundation
import Media
import Sandbox
import TestSupport
import Testing

@testable import Subtitles

/// Programs that show subtitles themselves: text and images of films and files, as a display gets them.
@Suite struct SubtitleTakingTests {
    private static let srt = "1\n00:00:01,000 --> 00:00:02,000\nHello <i>you</i>\nand me\n\n2\n00:00:03,000 --> 00:00:03,500\nÄgypten\n"
    private static let ass = """
        [Script Info]
        ScriptType: v4.00+
        PlayResX: 160
        PlayResY: 90
        [V4+ Styles]
        Format: Name, Fontname, Fontsize, PrimaryColour, Alignment
        Style: Default,DejaVu Serif,20,&H000000FF,7
        Style: Sign,DejaVu Serif,20,&H000000FF,9
        [Events]
        Format: Layer, Start, End, Style, Text
        Dialogue: 0,0:00:01.50,0:00:03.00,Sign,{\\fad(500,0)}Fading
        Dialogue: 0,0:00:01.00,0:00:02.00,Default,{\\i1}Slanted{\\i0}\\Ntext
        Dialogue: 0,0:00:01.00,0:00:02.00,Default,{\\p1}m 0 0 l 10 0 10 10{\\p0}

        """
    private static let sandboxes = [SandboxOptions(), SandboxOptions(policy: .full, decoderPath: BuiltPrograms.decoder, hangDeadline: .seconds(60))]
    private let stage: SubtitleStage

    init() throws { stage = try SubtitleStage() }

    private static func time(_ milliseconds: Int64) -> MediaTime { MediaTime(value: milliseconds, timescale: 1000) }

    private static func shown(_ engine: SubtitleEngine, _ time: Int64, on canvas: OverlayCanvas? = nil) throws -> DrawnSubtitles {
        try #require(engine.shown(at: Self.time(time), on: canvas, until: MonotonicClock.shared.now() + .seconds(60)))
    }

    @Test(
        arguments: [
            ("film.mkv", ["-c:s", "srt"]), ("film.mp4", ["-c:v", "mpeg4", "-c:s", "mov_text"]), ("film.mkv", ["-c:s", "ass"]),
            ("film.mkv", ["-c:s", "webvtt"]),
        ], sandboxes.indices)
    func `plain text of a film comes with its times`(_ kind: (String, [String]), _ sandbox: Int) throws {
        let path = try stage.film(kind.0, subtitles: stage.write("text.srt", Self.srt), kind.1)
        let engine = try SubtitleStage.play(path, sandbox: Self.sandboxes[sandbox])
        defer { engine.stop() }
        let first = try Self.shown(engine, 1500).shown, line = try #require(first.lines.first)
        #expect(first.lines.count == 1 && line.text == "Hello you\nand me" && line.ass?.contains("\\N") == true)
        #expect(line.start == 1000 && line.end == 2000 && first.from == 1000 && first.until == 2000)
        #expect((line.style == nil) == (kind.1.last != "ass"), "\(line)")
        let gap = try Self.shown(engine, 2500).shown, last = try Self.shown(engine, 3499).shown, end = try Self.shown(engine, 3500).shown
        #expect(gap == SubtitleLines(from: 2000, until: 3000) && last.lines.map(\.text) == ["Ägypten"])
        #expect(end == SubtitleLines(from: 3500, until: .max))
    }

    @Test(arguments: sandboxes.indices) func `styled text comes with tags and styles, in the order of its starts`(_ sandbox: Int) throws {
        let engine = SubtitleStage.engine([SubtitleTrack(.named(try stage.write("a.ass", Self.ass)))], sandbox: Self.sandboxes[sandbox])
        defer { engine.stop() }
        let shown = try Self.shown(engine, 1700).shown
        #expect(shown.lines.map(\.text) == ["Slanted\ntext", "", "Fading"] && shown.lines.map(\.style) == ["Default", "Default", "Sign"])
        #expect(shown.lines.map(\.ass) == ["{\\i1}Slanted{\\i0}\\Ntext", "{\\p1}m 0 0 l 10 0 10 10{\\p0}", "{\\fad(500,0)}Fading"])
        #expect(shown.from == 1500 && shown.until == 2000)
        // What moves looks otherwise with each frame, and what stands still after it has moved is drawn anew but is the same image.
        let moving = try [1600, 1601].map { try Self.shown(engine, $0, on: SubtitleStage.canvas) }
        #expect(moving.map(\.shown.from) == [1600, 1601] && moving.map(\.shown.until) == [1601, 1602] && moving[0].serial != moving[1].serial)
        let still = try [2500, 2600].map { try Self.shown(engine, $0, on: SubtitleStage.canvas) }
        #expect(still[0].image != nil && still[0].serial == still[1].serial && still[0].image === still[1].image)
    }

    @Test(arguments: [("a.sup", []), ("film.ts", ["-c:s", "dvbsub"]), ("film.mkv", ["-c:s", "dvdsub"])] as [(String, [String])], sandboxes.indices)
    func `images come with their places and times`(_ kind: (String, [String]), _ sandbox: Int) throws {
        let file = try stage.write(
            "a.sup", PGSFile.bytes(PixelRect(x: 40, y: 60, width: 80, height: 20), on: PixelSize(width: 160, height: 90), times: (1000, 2000)))
        let sandbox = Self.sandboxes[sandbox], input = ["-itsoffset", "1", "-fix_sub_duration"]
        let engine =
            kind.1.isEmpty
            ? SubtitleStage.engine([SubtitleTrack(.named(file))], sandbox: sandbox)
            : try SubtitleStage.play(stage.film(kind.0, subtitles: file, input: input, ["-s:s", "160x90"] + kind.1), sandbox: sandbox)
        defer { engine.stop() }
        let drawn = try Self.shown(engine, 1500, on: SubtitleStage.canvas), line = try #require(drawn.shown.lines.first)
        let place = try #require(line.place)
        #expect(drawn.shown.lines.count == 1 && line.ass == nil && line.text.isEmpty && abs(line.start - 1000) <= 100)
        #expect(abs(place.x - 40) <= 2 && abs(place.y - 60) <= 2 && abs(place.width - 80) <= 4 && abs(place.height - 20) <= 4, "\(place)")
        // A program of DVB need not say the size that it counts on.
        #expect(line.canvas == PixelSize(width: 160, height: 90) || kind.0 == "film.ts", "\(line.canvas)")
        #expect(abs(drawn.shown.until - 2000) <= 100 && drawn.image != nil)
        let later = try Self.shown(engine, 2500, on: SubtitleStage.canvas)
        #expect(later.shown.lines.isEmpty && later.image == nil && later.serial != drawn.serial)
    }

    @Test(arguments: sandboxes.indices) func `images are those that the display gets`(_ sandbox: Int) throws {
        let path = try stage.film("film.mkv", subtitles: stage.write("a.ass", Self.ass), ["-c:s", "copy"])
        let engine = try SubtitleStage.play(path, sandbox: Self.sandboxes[sandbox])
        defer { engine.stop() }
        var seen = 0
        for time in stride(from: Int64(0), to: 4000, by: 100) {
            let display = engine.shown(at: time).map(SubtitlePixels.init)
            let program = try Self.shown(engine, time, on: SubtitleStage.canvas).image.map(SubtitlePixels.init)
            #expect(display == program, "\(time)")
            if program != nil { seen += 1 }
        }
        #expect(seen == 20)
    }

    @Test func `delay, visibility, the choice of a track and a line that comes later take effect`() throws {
        let film = try stage.film("film.mkv", subtitles: stage.write("text.srt", Self.srt), ["-c:s", "srt"])
        let other = try stage.write("b.srt", "1\n00:00:04,000 --> 00:00:05,000\nLater\n")
        let engine = SubtitleStage.engine(try SubtitleStage.tracks(film) + [SubtitleTrack(.named(other))])
        defer { engine.stop() }
        let before = try Self.shown(engine, 1500)
        #expect(before.shown == SubtitleLines())
        for sample in try SubtitleStage.samples(film) { engine.add(sample) }
        func text(_ time: Int64) throws -> String { try Self.shown(engine, time, on: SubtitleStage.canvas).shown.lines.map(\.text).joined() }
        #expect(try text(1500) == "Hello you\nand me")
        engine.settings.delay = 2000
        let late = try Self.shown(engine, 3500, on: SubtitleStage.canvas)
        #expect(try text(1500).isEmpty && late.shown.lines.map(\.start) == [3000] && late.shown.lines.map(\.end) == [4000] && late.shown.from == 3000)
        engine.settings = SubtitleSettings()
        engine.settings.isVisible = false
        let hidden = try Self.shown(engine, 1500, on: SubtitleStage.canvas)
        #expect(hidden.image == nil && hidden.shown.lines.count == 1, "text is told whether it is shown or not")
        engine.settings.isVisible = true
        engine.chosen = 1
        #expect(try text(1500).isEmpty && text(4500) == "Later")
        engine.chosen = nil
        #expect(try text(4500).isEmpty)
    }

    @Test func `whoever waits gets an answer when the engine ends, and later`() async throws {
        let tracks = [SubtitleTrack(.named(try stage.write("a.srt", Self.srt)))]
        let idle = SubtitleEngine(
            tracks: tracks, chosen: 0, settings: SubtitleSettings(), film: .init(storage: PixelSize(width: 1, height: 1)),
            handlers: .init(changed: {}, notice: { _ in }))
        let answers = Monitor<[Bool]>([])
        idle.show(at: Self.time(1500), on: nil) { drawn in answers.withLock { $0.append(drawn != nil) } }
        #expect(answers.withLock { $0 }.isEmpty, "it does not run yet")
        idle.stop()
        idle.show(at: Self.time(1500), on: nil) { drawn in answers.withLock { $0.append(drawn != nil) } }
        idle.show(at: .invalid, on: nil) { drawn in answers.withLock { $0.append(drawn != nil) } }
        #expect(answers.withLock { $0 } == [false, false, false])
    }
}
