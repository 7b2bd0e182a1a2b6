import Composition
import Demuxing
import Glibc
import Media
import Reading
import Sandbox
import SurfacePool
import TestSupport
import Testing

/// Time lines of OpenTimelineIO become compositions.
@Suite struct TimelineTests {
    typealias Text = TimelineText
    typealias Times = CompositionReadingTests

    /// Writes a text beside the films, and reads it.
    static func read(_ text: String, size: PixelSize? = nil) throws -> TimelineFile {
        let path = try write(Array(text.utf8))
        defer { unsafe unlink(path) }
        return try TimelineFile(path, size: size)
    }

    static func write(_ bytes: [UInt8]) throws -> String {
        var template = Array("/tmp/timeline-XXXXXX.otio".utf8CString)
        let file = unsafe mkstemps(&template, 5)
        defer { close(file) }
        guard unsafe Glibc.write(file, bytes, bytes.count) == bytes.count else { throw TestFilm.Failure() }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// The path of a film from the folder that the time lines lie in.
    static func name(_ film: TestFilm) -> String { String(film.path.dropFirst("/tmp/".count)) }

    @Test func `cuts, a dissolve, a gap, speeds, a nested stack and markers, frame by frame`() throws {
        let films = try (0..<3).map { try TestFilm(seed: 80 + UInt64($0), frames: 25, hasSound: true) }
        let names = films.map(Self.name)
        let nested = Text.stack([Text.track("Video", [Text.clip("three", names[2], 2, 10)])], range: Text.range(3, 5))
        let video = Text.track(
            "Video",
            [
                Text.clip("one", names[0], 4, 10), Text.dissolve(2, 3), Text.clip("two", names[1], 5, 10), Text.gap(2), nested,
                Text.clip("fast", "file://\(films[0].path)", 0, 5, effects: Text.warp(2)),
                Text.clip("still", names[1], 7, 3, effects: Text.warp(0)),
                Text.clip("coded", names[2], 90_001, 2, available: Text.range(90_000, 25)),
            ], markers: [Text.marker("First", 0), Text.marker("Second", 12), Text.marker("Behind", 900)])
        let sound = Text.track("Audio", [Text.gap(5), Text.clip("tone", names[0], 0, 20)])
        let file = try Self.read(Text.timeline([video, sound]))
        #expect(file.notices.isEmpty, "\(file.notices)")
        #expect(file.name == "A übung" && file.videoComposition.renderSize == Drawing.size)
        #expect(file.videoComposition.frameDuration == TestFilm.frameDuration)
        #expect(file.composition.markers.map(\.name) == ["First", "Second"] && file.composition.markers[1].time == Times.time(480))
        let output = try CompositionVideoOutput(of: file.composition, file.videoComposition)
        func frame(_ film: Int, _ number: Int) -> FloatFrame { FloatFrame(Drawing.size, films[film].frames[number]) }
        var number = 0
        while let found = try output.nextFrame() {
            let wanted: FloatFrame
            switch number {
            case 0..<8: wanted = frame(0, 4 + number)
            case 8..<13: wanted = frame(0, 4 + number).under(frame(1, 5 + number - 10), opacity: Double(number - 8) / 5)
            case 13..<20: wanted = frame(1, 5 + number - 10)
            case 20..<22: wanted = FloatFrame(Drawing.size, codes: [16, 128, 128])
            case 22..<27: wanted = frame(2, 2 + 3 + number - 22)
            case 27..<32: wanted = frame(0, 2 * (number - 27))
            case 32..<35: wanted = frame(1, 7)
            default: wanted = frame(2, 1 + number - 35)
            }
            #expect(wanted.difference(FrameBytes(found)) <= ((8..<13).contains(number) ? 0.52 : 0), "frame \(number)")
            number += 1
        }
        #expect(number == 37)
        let mixed = try CompositionSoundTests.read(CompositionSoundOutput(of: file.composition))
        #expect(
            mixed.count == 2 * 48 * 1480 && mixed[..<(5 * 3840)].allSatisfy { $0 == 0 } && mixed[5 * 3840] == CompositionSoundTests.left(films[0], 0))
    }

    @Test func `a text that is parsed in a process without rights is the same composition`() throws {
        let films = try (0..<2).map { try TestFilm(seed: 95 + UInt64($0), frames: 25, hasSound: true) }, names = films.map(Self.name)
        let sandbox = SandboxOptions(policy: .full, decoderPath: BuiltPrograms.decoder)
        let nested = Text.stack([Text.track("Video", [Text.clip("c", names[1], 2, 10)])], range: Text.range(3, 5), effects: Text.warp(2))
        let children = [
            Text.gap(2), Text.dissolve(1, 1), Text.clip("a \\n\\u001b[2J", names[0], 4, 10), Text.dissolve(2, 3), Text.clip("b", names[1], 5, 10),
            nested,
            Text.clip("fast", "file://\(films[0].path)", 0, 5, effects: Text.warp(2)), Text.clip("lost", "nowhere.mp4", 0, 3),
            Text.clip("web", "https://example.org/film.mp4", 0, 5), Text.clip("early", names[0], 0, 5, available: Text.range(90_000, 25)),
        ]
        let texts = [
            Text.timeline(
                [
                    Text.track("Video", children, markers: [Text.marker("First", 0), Text.marker("Second", 12)]),
                    Text.track("Audio", [Text.clip("a", names[0], 0, 9), Text.dissolve(2, 2), Text.clip("b", names[1], 5, 9)]),
                    Text.track("Subtitle", []),
                ], rate: 29.97),
            Text.timeline([Text.track("Video", [Text.clip("lost", "nowhere.mp4", 0, 3)])]), Text.timeline([]), "{", "",
        ]
        for (number, text) in texts.enumerated() {
            let path = try Self.write(Array(text.utf8))
            defer { unsafe unlink(path) }
            do throws(ReadingError) {
                let outside = try TimelineFile(path), inside = try TimelineFile(path, options: ReadingOptions(sandbox: sandbox))
                #expect(number == 0 && inside.composition == outside.composition && inside.audioMix == outside.audioMix, "text \(number)")
                #expect(inside.notices == outside.notices && inside.notices.count == 4 && inside.name == outside.name, "\(inside.notices)")
                let drawings = [inside, outside].map { CompositionDiagram(of: $0.composition, $0.videoComposition, $0.audioMix, at: nil).svg }
                #expect(drawings[0] == drawings[1] && inside.videoComposition.frameDuration == outside.videoComposition.frameDuration)
            } catch {
                let inside = #expect(throws: ReadingError.self) { _ = try TimelineFile(path, options: ReadingOptions(sandbox: sandbox)) }
                #expect(number > 0 && inside == error, "text \(number): \(error)")
            }
        }
    }

    @Test func `what is not supported is named with its time, and the rest is read`() throws {
        let film = try TestFilm(seed: 90, frames: 25), name = Self.name(film)
        let missing =
            #"{"OTIO_SCHEMA": "Clip.2", "name": "lost", "source_range": \#(Text.range(0, 5)), "media_references": {"DEFAULT_MEDIA": "#
            + #"{"OTIO_SCHEMA": "MissingReference.1", "name": ""}}, "active_media_reference_key": "DEFAULT_MEDIA"}"#
        let blur = #"{"OTIO_SCHEMA": "Effect.1", "name": "soft", "effect_name": "Blur", "enabled": true}"#
        let tracks = [
            Text.track(
                "Video",
                [
                    Text.clip("a", name, 0, 5, effects: blur), Text.dissolve(1, 1, type: "Custom_Transition"), Text.clip("b", name, 5, 5), missing,
                    Text.clip("web", "https://example.org/film.mp4", 0, 5), Text.clip("back", name, 5, 5, effects: Text.warp(-1)),
                ]), Text.track("Subtitle", []),
        ]
        let file = try Self.read(Text.timeline(tracks))
        let endings = [
            "at 00:00:00.000, Effect “soft”: the effect Blur is not supported.",
            "at 00:00:00.200, Transition: only dissolves between clips that last, and from or to nothing, are supported.",
            "at 00:00:00.400, MissingReference: a clip without a film is shown as a gap.",
            "at 00:00:00.600, Clip “web”: only files are read, not https://example.org/film.mp4.",
            "at 00:00:00.800, LinearTimeWarp: a speed of -1.0 is not supported.",
            "at 00:00:00.000, Track: a track of kind Subtitle is not supported.",
        ]
        #expect(file.notices.count == endings.count, "\(file.notices)")
        for (notice, ending) in zip(file.notices, endings) { #expect(notice.hasSuffix(ending), "\(notice)") }
        #expect(file.composition.duration == Times.time(1000))
        #expect(file.composition.tracks[0].segments.map(\.isEmpty) == [false, false, true, false])
    }

    @Test func `names of the first versions are known, and where nothing is left to show each reason is named`() throws {
        let film = try TestFilm(seed: 94, frames: 10), name = Self.name(film)
        let old = Text.timeline([Text.track("Video", [Text.gap(2), Text.clip("a", name, 0, 3)])])
            .replacing("Track.1", with: "Sequence.1").replacing("Gap.1", with: "Filler.1")
        let file = try Self.read(old)
        #expect(file.notices.isEmpty && file.composition.duration == Times.time(200), "\(file.notices)")
        #expect(file.composition.tracks[0].segments.map(\.isEmpty) == [true, false])
        let clips = ["one.mov", "two.mov"].map { Text.clip($0, $0, 0, 3) }
        let lost = #expect(throws: ReadingError.self) { _ = try Self.read(Text.timeline([Text.track("Video", clips)])) }
        let sentence = lost?.description ?? ""
        #expect(sentence.contains("it has nothing to show: at 00:00:00.000, Clip “one.mov”: its film cannot be read"), "\(sentence)")
        #expect(sentence.contains("; at 00:00:00.120, Clip “two.mov”: its film cannot be read") && sentence.hasSuffix("."), "\(sentence)")
        let beside = Text.timeline([Text.track("Video", [Text.clip("a", name, 0, 3)])])
            .replacing(#""kind": "Video", "source_range": null"#, with: #""kind": "Video", "source_range": \#(Text.range(500, 5))"#)
        let unseen = #expect(throws: ReadingError.self) { _ = try Self.read(beside) }
        #expect(unseen?.description.hasSuffix("at 00:00:00.000, Track: its range shows none of its items.") == true, "\(unseen?.description ?? "")")
    }

    @Test func `frame rates of television are exact`() throws {
        let film = try TestFilm(seed: 91, frames: 2)
        for (rate, duration) in [(23.976023976, MediaTime(value: 1001, timescale: 24000)), (29.97, MediaTime(value: 1001, timescale: 30000))] {
            let clip = Text.clip("a", Self.name(film), 0, 2)
            let file = try Self.read(Text.timeline([Text.track("Video", [clip])], rate: rate))
            #expect(file.videoComposition.frameDuration == duration)
        }
    }

    @Test func `what is no time line is one sentence`() throws {
        let film = try TestFilm(seed: 92, frames: 2), clip = Text.clip("a", Self.name(film), 0, 2)
        let whole = Text.timeline([Text.track("Video", [clip])])
        _ = try Self.read(whole)
        let deep = String(repeating: #"{"children": ["#, count: 10_000)
        let nested = (0..<40).reduce(Text.track("Video", [clip])) { inner, _ in Text.track("Video", [Text.stack([inner])]) }
        let many = Text.track("Video", Array(repeating: Text.gap(1), count: 5000) + [clip])
        let texts = [
            "", "{", "[]", "nothing", deep, String(repeating: "[", count: 200_000), #"{"OTIO_SCHEMA": "Clip.2"}"#, whole + "}",
            whole.replacing("\"rate\": 25.0", with: "\"rate\": 0"), whole.replacing("\"rate\": 25.0", with: "\"rate\": -25"),
            whole.replacing("\"rate\": 25.0", with: "\"rate\": 1e300"), whole.replacing("\"rate\": 25.0", with: "\"rate\": NaN"),
            whole.replacing("\"value\": 2.0", with: "\"value\": 1e300"), whole.replacing("\"value\": 2.0", with: "\"value\": -2"),
            whole.replacing("\"value\": 2.0", with: "\"value\": Infinity"), whole.replacing("\"value\": 2.0", with: "\"value\": \"two\""),
            whole.replacing("\"value\": 2.0", with: "\"value\": 99999999999999999999"), Text.timeline([]), Text.timeline([many]),
            Text.timeline([nested]),
            Text.timeline([Text.track("Video", [Text.clip("a", "nowhere.mkv", 0, 2)])]), Text.timeline([Text.track("Video", [Text.gap(5)])]),
            whole.replacing("A ", with: "A \u{1}"), whole.replacing("\\u00fc", with: "\\u00"),
        ]
        for (number, text) in texts.enumerated() {
            let error = #expect(throws: ReadingError.self, "text \(number)") { _ = try Self.read(text) }
            #expect(error?.code == .composition, "text \(number): \(error?.description ?? "")")
            #expect(error?.description.hasSuffix(".") == true && error?.description.contains("\n") == false, "text \(number)")
        }
        let error = #expect(throws: ReadingError.self) { _ = try TimelineFile("/nowhere.otio") }
        #expect(error?.code == .source(.noSuchFile))
    }

    @Test func `a text with random damage is read or refused`() throws {
        let film = try TestFilm(seed: 93, frames: 2), name = Self.name(film)
        let nested = Text.stack([Text.track("Video", [Text.clip("c", name, 0, 2)])], range: Text.range(0, 1))
        let children = [Text.clip("a", name, 0, 2), Text.dissolve(1, 1), Text.clip("b", name, 0, 2, effects: Text.warp(0.5)), nested]
        let whole = Array(Text.timeline([Text.track("Video", children, markers: [Text.marker("m", 1)])]).utf8)
        let seed = UInt64.random(in: 0 ... .max)
        var dice = Dice(seed: seed), read = 0, refused = 0
        for round in 0..<TestExtent.rounds(150, full: 5000, sanitized: 60) {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...4, using: &dice) {
                let place = Int.random(in: 0..<bytes.count, using: &dice)
                // Digits among the numbers, which all other checks depend on.
                bytes[place] = Bool.random(using: &dice) ? UInt8.random(in: 0x2b...0x39, using: &dice) : UInt8.random(in: .min ... .max, using: &dice)
            }
            let path = try Self.write(bytes)
            defer { unsafe unlink(path) }
            do {
                let file = try TimelineFile(path, size: Drawing.size)
                #expect(file.videoComposition.isValid(for: file.composition), "seed \(seed), round \(round)")
                #expect(file.audioMix.isValid(for: file.composition), "seed \(seed), round \(round)")
                read += 1
            } catch {
                #expect(error.code == .composition, "seed \(seed), round \(round): \(error)")
                refused += 1
            }
        }
        #expect(read > 0 && refused > 0)
    }
}
