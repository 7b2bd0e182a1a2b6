import DisplaySink
import Foundation
import Media
import Subtitles
import TestSupport
import Testing

/// Films and files of each kind of subtitles, from the container to the image.
@Suite struct SubtitleEngineTests {
    private static let srt = "1\n00:00:01,000 --> 00:00:02,000\nHello <i>you</i>\n\n2\n00:00:03,000 --> 00:00:03,500\nÄgypten\n"
    /// The times of those lines in steps of 100 ms.
    private static let expected = Array(stride(from: Int64(1000), to: 2000, by: 100)) + Array(stride(from: Int64(3000), to: 3500, by: 100))
    private let stage: SubtitleStage

    init() throws { stage = try SubtitleStage() }

    @Test(
        arguments: [
            ("film.mkv", ["-c:s", "srt"]), ("film.mp4", ["-c:v", "mpeg4", "-c:s", "mov_text"]), ("film.mkv", ["-c:s", "ass"]),
            ("film.mkv", ["-c:s", "webvtt"]),
        ])
    func `text in a film is shown at its times, at the lower edge`(_ name: String, _ arguments: [String]) throws {
        let path = try stage.film(name, subtitles: stage.write("text.srt", Self.srt), arguments)
        let engine = try SubtitleStage.play(path)
        defer { engine.stop() }
        #expect(engine.times(until: 5000) == Self.expected)
        let image = try #require(engine.shown(at: 1500))
        #expect(
            image.place.y > 100 && image.place.y + image.place.height <= 200 && abs(image.place.x * 2 + image.place.width - 320) <= 16,
            "\(image.place)")
        #expect(image.pixels.contains { $0 & 255 > 200 } && image.pixels.contains { $0 >> 24 > 200 && $0 & 255 < 20 }, "white with a black outline")
    }

    @Test(arguments: [("a.srt", SubtitleEngineTests.srt), ("a.vtt", "WEBVTT\n\n00:01.000 --> 00:02.000\nHello\n\n00:03.000 --> 00:03.500\nBye\n")])
    func `a file is shown at its times`(_ name: String, _ text: String) throws {
        let engine = SubtitleStage.engine([SubtitleTrack(.named(try stage.write(name, text)))])
        defer { engine.stop() }
        #expect(engine.times(until: 5000) == Self.expected)
    }

    @Test func `character sets look alike`() throws {
        var utf16: [UInt8] = [0xff, 0xfe]
        for unit in Self.srt.utf16 { utf16 += [UInt8(unit & 255), UInt8(unit >> 8)] }
        let latin = Self.srt.unicodeScalars.map { UInt8($0.value) }
        let files = try [stage.write("a.srt", Self.srt), stage.write("b.srt", utf16), stage.write("c.srt", latin)]
        let images = files.map { file in
            let engine = SubtitleStage.engine([SubtitleTrack(.found(file))])
            defer { engine.stop() }
            return engine.shown(at: 3200)?.pixels
        }
        #expect(images[0] != nil && images[0] == images[1] && images[0] == images[2])
    }

    @Test func `the font that a film brings is used`() throws {
        // The same letters under a name that no system has.
        let other = "Zzjavu Sans Mono", font = try SubtitleStage.font(named: other)
        let script = """
            [Script Info]
            ScriptType: v4.00+
            PlayResX: 160
            PlayResY: 90
            [V4+ Styles]
            Format: Name, Fontname, Fontsize, PrimaryColour, Alignment
            Style: Default,\(other),20,&H000000FF,7
            [Events]
            Format: Layer, Start, End, Style, Text
            Dialogue: 0,0:00:01.00,0:00:02.00,Default,iiiiiiii

            """
        let path = try stage.film(
            "film.mkv", subtitles: stage.write("a.ass", script),
            ["-c:s", "copy", "-attach", stage.write("mono.ttf", font), "-metadata:s:t", "mimetype=application/x-truetype-font"])
        let widths = try [true, false].map { usesFonts in
            let engine = try SubtitleStage.play(path, usesFonts: usesFonts)
            defer { engine.stop() }
            let image = try #require(engine.shown(at: 1500))
            #expect(image.place.y < 40 && image.place.x < 20, "at the top left: \(image.place)")
            #expect(image.pixels.contains(0xffff_0000), "red")
            return image.place.width
        }
        #expect(widths[0] > widths[1] * 3 / 2, "an i of the film's font is as wide as an m: \(widths)")
    }

    /// The same rectangle as PGS, and as ffmpeg codes it anew.
    @Test(
        arguments: [("a.sup", []), ("film.ts", ["-c:s", "dvbsub"]), ("film.mkv", ["-c:s", "dvdsub"]), ("film.mkv", ["-c:s", "copy"])]
            as [(String, [String])])
    func `images lie where the film says`(_ name: String, _ arguments: [String]) throws {
        // VobSub holds even heights only.
        let file = try stage.write(
            "a.sup",
            PGSFile.bytes(PixelRect(x: 40, y: 60, width: 80, height: 20), on: PixelSize(width: 160, height: 90), times: (1000, 2000)))
        let engine: SubtitleEngine
        if arguments.isEmpty {
            engine = SubtitleStage.engine([SubtitleTrack(.named(file))])
        } else {
            // ffmpeg moves the first image to the beginning of the film.
            let input = ["-itsoffset", "1", "-fix_sub_duration"]
            engine = try SubtitleStage.play(stage.film(name, subtitles: file, input: input, ["-s:s", "160x90"] + arguments))
        }
        defer { engine.stop() }
        let times = engine.times(until: 5000)
        #expect(times.first.map { abs($0 - 1000) <= 100 } ?? false && times.last.map { abs($0 - 1900) <= 100 } ?? false, "\(times)")
        let image = try #require(engine.shown(at: 1500)), place = image.place
        #expect(abs(place.x - 80) <= 4 && abs(place.y - 130) <= 4 && abs(place.width - 160) <= 8 && abs(place.height - 40) <= 8, "\(place)")
        let middle = image.pixels[place.height / 2 * place.width + place.width / 2]
        #expect(middle >> 24 == 255 && middle & 255 >= 230, "white: \(String(middle, radix: 16))")
    }

    @Test func `delay, visibility and the choice of a track take effect at once`() throws {
        let other = try stage.write("b.srt", "1\n00:00:04,000 --> 00:00:05,000\nLater\n")
        let engine = SubtitleStage.engine([SubtitleTrack(.named(try stage.write("a.srt", Self.srt))), SubtitleTrack(.found(other))])
        defer { engine.stop() }
        #expect(engine.shown(at: 1500) != nil && engine.shown(at: 4500) == nil)
        engine.settings.delay = 2600
        #expect(engine.shown(at: 1500) == nil && engine.shown(at: 4500) != nil)
        engine.settings.isVisible = false
        #expect(engine.shown(at: 4500) == nil)
        engine.settings = SubtitleSettings()
        engine.chosen = 1
        #expect(engine.shown(at: 1500) == nil && engine.shown(at: 4500) != nil)
        engine.chosen = nil
        #expect(engine.shown(at: 4500) == nil && engine.shown(at: 1500) == nil)
    }

    @Test func `scale and position move the text`() throws {
        let file = try stage.write("a.srt", Self.srt)
        func place(_ change: (inout SubtitleSettings) -> Void) throws -> PixelRect {
            var settings = SubtitleSettings()
            change(&settings)
            let engine = SubtitleStage.engine([SubtitleTrack(.named(file))], settings: settings)
            defer { engine.stop() }
            return try #require(engine.shown(at: 1500)).place
        }
        let usual = try place { _ in }, large = try place { $0.scale = 2 }, high = try place { $0.position = 50 }
        #expect(large.height > usual.height * 3 / 2 && high.y < usual.y - 40 && abs(high.height - usual.height) <= 1, "\(usual) \(large) \(high)")
    }

    @Test func `lines stay after a seek and are not doubled when they are read again`() throws {
        let path = try stage.film("film.mkv", subtitles: stage.write("text.srt", Self.srt), ["-c:s", "srt"])
        let engine = try SubtitleStage.play(path)
        defer { engine.stop() }
        let before = try #require(engine.shown(at: 1500))
        engine.seek()
        #expect(engine.shown(at: 1500) != nil, "what was read is known")
        let again = try SubtitleStage.samples(path)
        for sample in again { engine.add(sample) }
        let after = try #require(engine.shown(at: 1500))
        #expect(!again.isEmpty && after.place == before.place && after.pixels == before.pixels)
    }

    @Test func `a file that is none is named`() throws {
        for (name, bytes) in [("a.srt", [UInt8](repeating: 0, count: 100)), ("b.mkv", [1, 2, 3]), ("c.srt", [])] as [(String, [UInt8])] {
            let notices = SubtitleStage.Notices(), path = try stage.write(name, bytes)
            let engine = SubtitleStage.engine([SubtitleTrack(.named(path))], notices: notices)
            defer { engine.stop() }
            #expect(notices.wait().allSatisfy { $0.hasPrefix(path) && $0.hasSuffix(".") })
            #expect(engine.shown(at: 0) == nil)
        }
        let notices = SubtitleStage.Notices()
        let engine = SubtitleStage.engine([SubtitleTrack(.named("/nowhere.srt"))], notices: notices)
        defer { engine.stop() }
        #expect(notices.wait() == ["/nowhere.srt is not shown: No such file or directory."])
    }
}
