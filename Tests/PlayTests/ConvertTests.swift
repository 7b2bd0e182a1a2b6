import Demuxing
import Foundation
import Media
import TestSupport
import Testing

/// `play convert`.
@Suite struct ConvertTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("convert-\(UUID().uuidString)").path

    private func inFolder(_ body: () throws -> Void) throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try body()
    }

    private func list() -> [String] { ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted() }

    @Test func `it copies a film, and its last line of JSON says so`() throws {
        try inFolder {
            let outcome = try PlayProgram.run(["convert", TestAssets.demo, "\(folder)/film.mkv", "--copy"])
            #expect(outcome.code == 0 && outcome.errors.isEmpty, "\(outcome.errors)")
            #expect(list() == ["film.mkv"])
            let last = outcome.output.split(separator: "\n").last ?? ""
            #expect(last.contains("\"samples\": 770") && last.contains("\"whole\": true"), "\(outcome.output)")
        }
    }

    @Test(.enabled(if: MediaCatalog.shared != nil, "\(MediaCatalog.absence)")) func `a copy in WebM has the film's alpha`() throws {
        try inFolder {
            let film = try #require(MediaCatalog.shared).path("vp9/moviepy/transparent.webm"), copy = "\(folder)/copy.webm"
            #expect(try PlayProgram.run(["convert", film, copy, "--copy"]).code == 0)
            let sums = try [film, copy].map { FrameMD5File(try PlayProgram.run(["--sink", "md5=-", $0]).output)?.lines.map(\.hash) ?? [] }
            #expect(sums[0].count == 150 && sums[0] == sums[1])
            #expect(try PlayProgram.run(["info", copy]).output.contains("vp9, 200x200, alpha, "))
            // MP4 has no place for it.
            for words in [["copy.mp4", "--copy"], ["vp9.mp4", "--video", "vp9"]] {
                let part = words[1] == "--copy" ? [] : ["--duration", "0.2"]
                let outcome = try PlayProgram.run(["convert", film, "\(folder)/\(words[0])"] + words.dropFirst() + part)
                let sentences = outcome.errors.split(separator: "\n").filter { $0.contains("alpha is left out") }
                #expect(outcome.code == 0 && sentences.count == 1, "\(outcome.errors)")
                #expect(sentences.first?.hasSuffix("/\(words[0]): the film's alpha is left out: track 0.") == true, "\(outcome.errors)")
            }
        }
    }

    @Test(
        .enabled(if: MediaCatalog.shared != nil, "\(MediaCatalog.absence)"),
        arguments: [(["film.mkv", "--copy"], 0), (["film.mkv", "--video", "h264"], 1), (["film.mka"], 0)] as [([String], Int)])
    func `captions that frames carry are said to be left out where the frames are encoded anew`(_ words: [String], _ count: Int) throws {
        try inFolder {
            let film = try #require(MediaCatalog.shared).path(MediaCatalog.captioned[3])
            let outcome = try PlayProgram.run(["convert", film, "\(folder)/\(words[0])", "--duration", "0.5"] + words.dropFirst())
            #expect(outcome.code == 0, "\(outcome.errors)")
            let sentences = outcome.errors.split(separator: "\n").filter { $0.contains("closed captions") }
            #expect(sentences.count == count, "\(outcome.errors)")
            let expected = "/film.mkv: the film's closed captions are left out: they lie in frames that are encoded anew."
            #expect(sentences.allSatisfy { $0.hasSuffix(expected) }, "\(outcome.errors)")
        }
    }

    @Test(
        .enabled(if: MediaCatalog.shared != nil, "\(MediaCatalog.absence)"),
        arguments: [("ffv1", "alpha.mkv", 0.0), ("prores", "alpha.mov", 1), ("vp9", "alpha.webm", 2), ("vp8", "alpha.webm", 2)])
    func `an encoder that can keeps the alpha of the film`(_ codec: String, _ name: String, _ tolerance: Double) throws {
        try inFolder {
            let film = try #require(MediaCatalog.shared).path("vp9/moviepy/transparent.webm"), made = "\(folder)/\(name)"
            let outcome = try PlayProgram.run(["convert", film, made, "--video", codec, "--duration", "0.2"])
            #expect(outcome.code == 0 && !outcome.errors.contains("alpha is left out"), "\(outcome.errors)")
            let alphas = try [film, made].map { path in
                // FFmpeg's own decoder of VP9 leaves the alpha out.
                let decoder = path.hasSuffix(".webm") ? ["-c:v", path == made && codec == "vp8" ? "libvpx" : "libvpx-vp9"] : []
                let words = ["-v", "error"] + decoder + ["-i", path, "-frames:v", "5", "-vf", "format=yuva444p,alphaextract", "-f", "rawvideo", "-"]
                let process = ChildProcess(), output = Pipe()
                process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
                process.arguments = ["ffmpeg", "-nostdin"] + words
                process.standardOutput = output
                try process.run()
                let data = try output.fileHandleForReading.readToEnd() ?? Data()
                process.waitUntilExit()
                return [UInt8](data)
            }
            #expect(alphas[0].count == 5 * 200 * 200 && alphas[1].count == alphas[0].count)
            #expect(Set(alphas[0]).count > 5, "the film's alpha has edges")
            let sum = zip(alphas[0], alphas[1]).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }
            #expect(Double(sum) <= tolerance * Double(alphas[0].count), "\(sum)")
        }
    }

    @Test func `it encodes a part of a film, and its last line of JSON says so`() throws {
        try inFolder {
            let words = [
                "convert", TestAssets.demo, "\(folder)/film.mp4", "--video", "libx264:preset=ultrafast", "--scale", "160x", "--start", "1",
                "--duration", "0.5", "--audio", "opus", "--audio-bitrate", "64k",
            ]
            let outcome = try PlayProgram.run(words)
            #expect(outcome.code == 0 && list() == ["film.mp4"], "\(outcome.errors)")
            let last = outcome.output.split(separator: "\n").last ?? ""
            #expect(last.contains("\"durationSeconds\": 0.5") && last.contains("\"whole\": true"), "\(outcome.output)")
            let tracks = try AssetReader(url: "\(folder)/film.mp4").tracks
            #expect(tracks.map(\.kind) == [.video, .audio])
            guard case .video(let video) = tracks[0].format, case .audio(let sound) = tracks[1].format else { return }
            #expect(video.codec == .h264 && video.visible.size == PixelSize(width: 160, height: 90) && sound.codecName == "opus")
        }
    }

    /// A time line of half a second of the film, from one second on, and what else is to be in it.
    private func timeline(_ more: String = "") -> String {
        func range(_ start: Int, _ count: Int) -> String {
            let (one, two) = (
                #"{"OTIO_SCHEMA": "RationalTime.1", "rate": 30, "value": \#(start)}"#,
                #"{"OTIO_SCHEMA": "RationalTime.1", "rate": 30, "value": \#(count)}"#
            )
            return #"{"OTIO_SCHEMA": "TimeRange.1", "start_time": \#(one), "duration": \#(two)}"#
        }
        let clip = #"""
            {"OTIO_SCHEMA": "Clip.1", "name": "part", "source_range": \#(range(30, 15)),
             "media_reference": {"OTIO_SCHEMA": "ExternalReference.1", "target_url": "\#(TestAssets.demo)"}}
            """#
        let tracks = ["Video", "Audio"].map { #"{"OTIO_SCHEMA": "Track.1", "kind": "\#($0)", "children": [\#(clip)\#(more)]}"# }
        return #"{"OTIO_SCHEMA": "Timeline.1", "tracks": {"OTIO_SCHEMA": "Stack.1", "children": [\#(tracks.joined(separator: ","))]}}"#
    }

    @Test func `it makes a film of a time line, says what that has beyond it, and refuses what is none`() throws {
        try inFolder {
            let path = "\(folder)/cut.otio", film = "\(folder)/film.mkv"
            try timeline(#", {"OTIO_SCHEMA": "Poem.1", "name": "x"}"#).write(toFile: path, atomically: true, encoding: .utf8)
            let words = ["convert", path, film, "--video", "libx264:preset=ultrafast", "--scale", "160x90"]
            let outcome = try PlayProgram.run(words)
            #expect(outcome.code == 0 && outcome.output.contains("\"whole\": true"), "\(outcome.errors)")
            let lines = outcome.errors.split(separator: "\n").map(String.init)
            #expect(lines == ["\(path): at 00:00:00.500, Poem “x”: it is not supported."], "\(outcome.errors)")
            let drawing = "\(folder)/cut.svg", checked = try PlayProgram.run(["compose", path, "--diagram", drawing, "--at", "0.2"])
            #expect(
                checked.code == 0 && checked.output == "00:00:00.500  640x360  tracks of frames: 1, of sound: 1, chapters: 0\n", "\(checked.output)")
            let svg = try String(contentsOfFile: drawing, encoding: .utf8)
            #expect(svg.hasPrefix("<svg ") && svg.contains("Frames 1") && svg.contains("Sound 2") && svg.contains("passed through"))
            try FileManager.default.removeItem(atPath: drawing)
            #expect(try PlayProgram.run(["compose", path, "--diagram", "\(folder)/no/cut.svg"]).code == 73)
            let tracks = try AssetReader(url: film).tracks
            #expect(tracks.map(\.kind) == [.video, .audio])
            guard case .video(let video) = tracks[0].format else { return }
            #expect(video.visible.size == PixelSize(width: 160, height: 90))
            #expect(try PlayProgram.run(words + ["--copy"]).code == 64)
            for text in ["{", "{}", timeline().replacingOccurrences(of: "\"rate\": 30", with: "\"rate\": 0")] {
                try text.write(toFile: path, atomically: true, encoding: .utf8)
                let refused = try PlayProgram.run(["convert", path, "\(folder)/none.mkv"])
                #expect(refused.code == 65 && refused.errors.hasPrefix("play: \(path): "), "\(refused.errors)")
            }
            #expect(try PlayProgram.run(["convert", "\(folder)/nowhere.otio", film]).code == 66)
            #expect(list() == ["cut.otio", "film.mkv"])
        }
    }

    /// The checksums of what we show of a film.
    private static func shown(_ path: String) throws -> [String] {
        FrameMD5File(try PlayProgram.run(["--sink", "md5=-", "--no-audio", path]).output)?.lines.map(\.hash) ?? []
    }

    private static let wholeDemo = Result { try shown(TestAssets.demo) }

    @Test(
        arguments: [
            ("cut.mp4", [], 105, ""), ("cut.mov", ["--faststart"], 105, ""),
            ("cut.mkv", [], 60, "begins 1.500 s early, at the sync sample, because matroska has no edit list."),
            ("cut.mp4", ["--fragmented"], 105, ""),
            ("cut.m3u8", [], 105, "begins 1.500 s early, at the sync sample, in players that do not obey the list's EXT-X-START."),
            ("cut.mpd", [], 60, "begins 1.500 s early, at the sync sample, because the parts of a film for web servers are shown whole."),
        ] as [(String, [String], Int, String)])
    func `a part is copied exactly where there is an edit list or a list that says where it begins, and it is said where players show more`(
        name: String, options: [String], first: Int, sentence: String
    ) throws {
        try inFolder {
            let path = "\(folder)/\(name)", words = ["convert", TestAssets.demo, path, "--copy", "--start", "3.5", "--duration", "2"]
            let outcome = try PlayProgram.run(words + options)
            #expect(outcome.code == 0 && outcome.errors == (sentence.isEmpty ? "" : "\(path): \(sentence)\n"), "\(outcome.errors)")
            let whole = try Self.wholeDemo.get(), part = try Self.shown(path)
            #expect(part.first == whole[first] && Array(part.prefix(165 - first)) == Array(whole[first..<165]), "\(part.count)")
            // A film for web servers is shown whole: the two frames that are decoded before the last one are shown after it.
            if first == 105 { #expect(part.count == (name == "cut.m3u8" ? 62 : 60)) }
        }
    }

    @Test func `hardware that is preferred is named where software encodes, and nothing is written where it is required`() throws {
        try inFolder {
            let film = ["convert", TestAssets.path("short.mp4"), "\(folder)/film.mp4", "--video", "h264", "--duration", "0.2"]
            let words = film + ["--device", "/nowhere/renderD128", "--hardware"]
            let reason = "no hardware encoder for h264: cannot open /nowhere/renderD128: "
            let preferred = try PlayProgram.run(words + ["prefer"])
            #expect(preferred.code == 0 && preferred.errors.contains("is encoded by software (libx264), because \(reason)"), "\(preferred.errors)")
            let required = try PlayProgram.run(words + ["require", "--overwrite"])
            #expect(required.code == 65 && required.errors.contains(reason) && required.errors.contains("; software encoders"), "\(required.errors)")
            #expect(list() == ["film.mp4"])
        }
    }

    @Test(
        .enabled(if: !TestExtent.isSanitized, "a sanitized driver cannot be preloaded"),
        arguments: [
            ["--hardware", "require"], ["--hardware", "prefer"], ["--video", "h264_vaapi"], ["--hardware", "require", "--sandbox", "decoder"],
        ])
    func `a device decodes and encodes a film without a copy, every frame as it was, for other people's programs, too`(_ words: [String]) throws {
        try inFolder {
            let switches = ["PLAYER_VA_CHECK": "1", "SCANOUT_DECODER": try SoftwareVADriver.decoder()]
            let environment = SoftwareVADriver.environment(preloads: true).merging(switches) { $1 }
            let film = TestAssets.path("plain.mp4"), made = "\(folder)/film.mp4"
            let outcome = try PlayProgram.run(["convert", film, made, "--device", SoftwareVADriver.device] + words, environment: environment)
            #expect(outcome.code == 0, "\(outcome.errors)")
            #expect(outcome.errors.contains("Track 0 is encoded by h264_vaapi (VA-API: Player software driver"), "\(outcome.errors)")
            #expect(!outcome.errors.contains("converted"), "\(outcome.errors)")
            let sums = try [film, made].map { try FFmpeg.frameSums(of: $0) }
            #expect(sums[0].count == 30 && sums[0] == sums[1])
        }
    }

    @Test func `what the container cannot hold is left out, with a sentence`() throws {
        try inFolder {
            let outcome = try PlayProgram.run(["convert", TestAssets.demo, "\(folder)/film.mp4", "--copy", "--tracks", "1"])
            #expect(outcome.code == 0 && list() == ["film.mp4"])
            let refused = try PlayProgram.run(["convert", TestAssets.demo, "\(folder)/film.webm", "--copy"])
            #expect(refused.code == 65 && refused.errors == "play: \(folder)/film.webm: webm can hold none of the tracks.\n", "\(refused.errors)")
            #expect(list() == ["film.mp4"])
        }
    }

    @Test(.enabled(if: !TestExtent.isSanitized, "the sanitizer's own files would have no room"))
    func `a write that fails is one sentence with its code, and leaves nothing`() throws {
        try inFolder {
            // The shell's limit is in units of 512 or 1024 bytes; the signal that goes with it is ignored.
            let words = ["sh", "-c", "trap '' XFSZ; ulimit -f 64; exec \"$@\"", "sh"]
            let outcome = try PlayProgram.run(["convert", TestAssets.demo, "\(folder)/film.mkv", "--copy"], launcher: words)
            #expect(outcome.code == 74 && outcome.errors.contains("cannot be written: File too large."), "\(outcome.code) \(outcome.errors)")
            #expect(list() == [])
        }
    }

    @Test(
        arguments: [
            (["/nowhere/film.mp4", "--copy"], 73, "/nowhere/film.mp4: cannot be created: No such file or directory."),
            (["/tmp/film.xyz", "--copy"], 65, "its ending names no container"),
            (["/tmp/film.mp4", "--copy", "--quality", "1"], 64, "--copy excludes"),
            (["/tmp/film.mp4", "--bitrate", "1M", "--quality", "1"], 64, "exclude each other"),
            (["/tmp/film.mp4", "--bitrate", "none"], 64, "--bitrate"), (["/tmp/film.mp4", "--quality", "2"], 64, "--quality is from 0 to 1."),
            (["/tmp/film.mp4", "--video", "h999"], 65, "h999: this FFmpeg has no video encoder of that name; it encodes h264"),
            (["/tmp/film.webm", "--video", "h264"], 65, "webm cannot hold h264"),
            (["/tmp/film.mp4", "--copy", "--fragmented", "--faststart"], 64, "exclude each other"),
            (["/tmp/film.mp4", "--copy", "--tracks", "x"], 64, "--tracks"),
        ] as [([String], Int32, String)])
    func refusals(_ arguments: [String], _ code: Int32, _ sentence: String) throws {
        let outcome = try PlayProgram.run(["convert", TestAssets.demo] + arguments)
        #expect(outcome.code == code && outcome.errors.contains(sentence), "\(outcome.code) \(outcome.errors)")
    }
}
