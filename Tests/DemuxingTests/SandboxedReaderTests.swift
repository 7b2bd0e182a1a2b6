import Foundation
import Media
import SampleQueue
import Sandbox
import TestSupport
import Testing

@testable import Demuxing

/// A film read in a process of its own: the same samples, and a program that outlives the process.
@Suite(.serialized) struct SandboxedReaderTests {
    private static func options(hang: HostSpan = .seconds(30), restarts: Int = 5) -> SandboxOptions {
        SandboxOptions(
            policy: .full, decoderPath: BuiltPrograms.decoder, restarts: RestartLimit(count: restarts, window: .seconds(3600)), hangDeadline: hang)
    }

    private static func reader(_ path: String, _ options: AssetReaderOptions = AssetReaderOptions()) throws -> SandboxedReader {
        try SandboxedReader(url: path, options: options, sandbox: Self.options())
    }

    /// All that a sample says.
    private struct Row: Hashable {
        var track: Int
        var times: [MediaTime]
        var flags: SampleFlags
        var format: MediaFormat
        var bytes: [UInt8]
    }

    private static func rows(_ reader: any AssetReading, limit: Int = .max) throws -> [Row] {
        var rows: [Row] = []
        while rows.count < limit, let sample = try reader.nextSample() {
            guard case .compressed(let block, let format) = sample.content else { continue }
            rows.append(
                Row(
                    track: sample.trackID, times: [sample.presentationTime, sample.decodeTime, sample.duration], flags: sample.flags, format: format,
                    bytes: unsafe block.withUnsafeBytes { unsafe Array($0) }))
        }
        return rows
    }

    private static func expectSame(_ path: String, _ options: AssetReaderOptions = AssetReaderOptions()) throws {
        let inside = try reader(path, options), outside = try AssetReader(url: path, options: options)
        #expect(inside.tracks == outside.tracks, "\(path)")
        #expect(inside.duration == outside.duration && inside.title == outside.title && inside.containerName == outside.containerName, "\(path)")
        #expect(inside.isSeekable == outside.isSeekable, "\(path)")
        #expect(inside.metadata == outside.metadata && inside.chapters == outside.chapters, "\(path)")
        let expected = try rows(outside)
        #expect(try rows(inside) == expected, "\(path)")
        #expect(try inside.nextSample() == nil)
        #expect(!expected.isEmpty)
    }

    @Test(arguments: ["demo.mp4", "edit-list.mp4", "annexb.h264", "av1.mkv", "cover.m4a", "hdr10.mp4", "audio-only.flac"])
    func `tracks and samples are those of a reader in this process`(name: String) throws {
        try Self.expectSame(TestAssets.path(name))
        try Self.expectSame(TestAssets.path(name), AssetReaderOptions(isThorough: true))
    }

    @Test(arguments: ["flac", "ogg", "opus", "mp3", "m4a", "mka"])
    func `how loud a track was measured to be is known from each container`(_ ending: String) throws {
        let folder = NSTemporaryDirectory() + "loudness-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = "\(folder)/sound.\(ending)", process = ChildProcess()
        let codecs = ["flac": "flac", "ogg": "libvorbis", "opus": "libopus", "mp3": "libmp3lame", "m4a": "aac", "mka": "flac"]
        var tags = ["REPLAYGAIN_TRACK_GAIN": "-6.5 dB", "REPLAYGAIN_TRACK_PEAK": "0.75", "REPLAYGAIN_ALBUM_GAIN": "2 dB"]
        if ending == "opus" { tags = ["R128_TRACK_GAIN": "-2944", "R128_ALBUM_GAIN": "-768"] }
        let codec = try #require(codecs[ending])
        var arguments = ["ffmpeg", "-nostdin", "-v", "error", "-f", "lavfi", "-i", "sine=d=0.2:r=48000", "-c:a", codec]
        arguments += ["-movflags", "use_metadata_tags"]
        for (key, value) in tags { arguments += ["-metadata", "\(key)=\(value)"] }
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = arguments + [path]
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
        let peak = ending == "opus" ? nil : 0.75
        let expected = ReplayGain(trackGain: -6.5, trackPeak: peak, albumGain: 2)
        #expect(try AssetReader(url: path).tracks.map(\.replayGain) == [expected])
        #expect(try Self.reader(path).tracks.map(\.replayGain) == [expected])
    }

    @Test func `fonts are those of a reader in this process, also in the middle of a film, and larger than the tray`() throws {
        let folder = NSTemporaryDirectory() + "fonts-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var dice = Dice(seed: 5), arguments = ["-nostdin", "-v", "error", "-i", TestAssets.demo, "-map", "0", "-c", "copy"]
        let fonts = [(10, "small.ttf"), (9 << 20, "large font.otf"), (4 << 20, "tray.ttf")].map { count, name in
            AttachedFont(name: name, bytes: (0..<count).map { _ in UInt8(truncatingIfNeeded: dice.next()) })
        }
        for font in fonts {
            try Data(font.bytes).write(to: URL(fileURLWithPath: "\(folder)/\(font.name)"))
            arguments += ["-attach", "\(folder)/\(font.name)"]
        }
        for index in fonts.indices { arguments += ["-metadata:s:t:\(index)", "mimetype=application/x-truetype-font"] }
        let path = folder + "/film.mkv", process = ChildProcess()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["ffmpeg"] + arguments + [path]
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
        let reader = try Self.reader(path), expected = try Self.rows(AssetReader(url: path))
        #expect(try reader.fonts == fonts)
        let before = try Self.rows(reader, limit: 40)
        #expect(try reader.fonts == fonts)
        // One that dies has no fonts, which is not the same as a film without any; the next sample replaces it.
        kill(try #require(reader.processIdentifier), SIGKILL)
        #expect(throws: AssetError.self) { try reader.fonts }
        #expect(try before + Self.rows(reader) == expected)
        #expect(try Self.reader(path).fonts == fonts)
        #expect(try Self.reader(TestAssets.demo).fonts.isEmpty)
    }

    @Test(.enabled(if: MediaCatalog.shared != nil, "\(MediaCatalog.absence)"))
    func `third-party containers are read as in this process`() throws {
        let catalog = try #require(MediaCatalog.shared)
        // One of each container, and the lists of other files.
        var seen: Set<String> = []
        let films = catalog.films.filter { $0.frameMD5 != nil && $0.group != "malformed" && !$0.path.hasSuffix(".mpd") }
            .filter { $0.path.hasSuffix(".m3u8") || seen.insert(String($0.path.split(separator: ".").last ?? "")).inserted }
        #expect(films.count > 15)
        for film in films { try Self.expectSame(catalog.path(film.path)) }
    }

    @Test func `seeking, the range and the choice of tracks do as in this process`() throws {
        for seconds in [0, 0.5, 3.7, 9.9, 2] {
            let inside = try Self.reader(TestAssets.demo), outside = try AssetReader(url: TestAssets.demo)
            for reader in [inside, outside] as [any AssetReading] {
                reader.select([0])
                _ = try reader.nextSample()
                try reader.seek(to: MediaTime(seconds: seconds))
            }
            #expect(try Self.rows(inside) == Self.rows(outside), "\(seconds)")
            for reader in [inside, outside] as [any AssetReading] {
                reader.timeRange = MediaTimeRange(start: MediaTime(seconds: seconds), end: MediaTime(seconds: seconds + 1.5))
            }
            #expect(try Self.rows(inside) == Self.rows(outside), "\(seconds)")
        }
    }

    @Test func `a sample larger than the memory between the two comes in parts`() throws {
        let path = "/tmp/sandboxed-reader-\(getpid()).y4m"
        defer { unsafe unlink(path) }
        var dice = Dice(seed: 4)
        let frame = (0..<(2560 * 1440 * 3)).map { _ in UInt8.random(in: 0...255, using: &dice) }
        var file = Data("YUV4MPEG2 W2560 H1440 F25:1 C444\n".utf8)
        for _ in 0..<2 { file += Data("FRAME\n".utf8) + Data(frame) }
        try file.write(to: URL(fileURLWithPath: path))
        try Self.expectSame(path)
    }

    @Test func `what cannot be opened is named, with the cause`() throws {
        for (path, code) in [("/nowhere/film.mp4", AssetError.Code.noSuchFile), (#filePath, .unrecognised), ("http://127.0.0.1:1/a.mp4", .network)] {
            #expect { _ = try Self.reader(path) } throws: { ($0 as? AssetError)?.code == code && "\($0)".hasPrefix("\(path): ") }
        }
        #expect { _ = try SandboxedReader(url: TestAssets.demo, sandbox: SandboxOptions(policy: .full, decoderPath: "/nowhere")) } throws: {
            ($0 as? AssetError)?.code == .sandbox
        }
        #expect { _ = try Self.reader("rtsp://127.0.0.1:1/film") } throws: { ($0 as? AssetError)?.code == .sandbox }
    }

    @Test(arguments: [SIGKILL, SIGSEGV]) func `when the process dies another one goes on with the next sample`(signal: Int32) throws {
        let reader = try Self.reader(TestAssets.demo)
        let expected = try Self.rows(try AssetReader(url: TestAssets.demo))
        let head = try Self.rows(reader, limit: 3)
        kill(try #require(reader.processIdentifier), signal)
        #expect(try head + Self.rows(reader) == expected)
        #expect(reader.deaths == 1)
        // Also where a seek is what finds it dead.
        kill(try #require(reader.processIdentifier), signal)
        try reader.seek(to: .zero)
        #expect(try Self.rows(reader) == expected)
        #expect(reader.deaths == 2)
    }

    @Test func `a reader that is cancelled has lost no process`() throws {
        let reader = try Self.reader(TestAssets.demo)
        _ = try reader.nextSample()
        reader.cancel()
        #expect { while try reader.nextSample() != nil {} } throws: { ($0 as? AssetError)?.code == .cancelled }
        #expect(reader.deaths == 0)
    }

    /// Short and long, with an index and without, sound alone, one where libavformat has to guess times.
    @Test(
        arguments: TestExtent.cases(["demo.mp4", "edit-list.mp4", "av1.mkv", "vp9.webm", "audio-only.flac", "annexb.h264"], sanitizedStep: 3),
        TestExtent.cases([1, 2] as [UInt64], sanitizedStep: 2))
    func `processes that are killed again and again cost no sample`(name: String, seed: UInt64) throws {
        let path = TestAssets.path(name), expected = try Self.rows(try AssetReader(url: path))
        let sandbox = Self.options(restarts: 1000)
        var dice = Dice(seed: seed)
        let reader = try SandboxedReader(url: path, sandbox: sandbox)
        var rows: [Row] = [], kills = 0
        let most = max(expected.count / 15, 1)
        while true {
            let next = try Self.rows(reader, limit: Int.random(in: 1...2 * most, using: &dice))
            rows += next
            if next.isEmpty { break }
            if let pid = reader.processIdentifier, kill(pid, SIGKILL) == 0 { kills += 1 }
        }
        #expect(rows == expected)
        #expect(kills >= 5)
        // After another choice of tracks and within a range too.
        let inside = try SandboxedReader(url: path, sandbox: sandbox), outside = try AssetReader(url: path)
        for reader in [inside, outside] as [any AssetReading] {
            reader.select([0])
            reader.timeRange = MediaTimeRange(start: MediaTime(seconds: 0.5), end: MediaTime(seconds: 4))
        }
        let head = try Self.rows(inside, limit: Int.random(in: 1...most, using: &dice))
        kill(try #require(inside.processIdentifier), SIGKILL)
        #expect(try head + Self.rows(inside) == Self.rows(outside))
    }

    @Test func `a death without a restart ends reading with one sentence, and a seek does not help`() throws {
        let reader = try SandboxedReader(url: TestAssets.demo, sandbox: Self.options(restarts: 0))
        _ = try Self.rows(reader, limit: 3)
        kill(try #require(reader.processIdentifier), SIGKILL)
        #expect { _ = try Self.rows(reader) } throws: {
            ($0 as? AssetError) == AssetError(.readerDied, "\(TestAssets.demo): the process that read it was killed by signal 9 (Killed).")
        }
        #expect(throws: AssetError.self) { try reader.nextSample() }
        #expect(throws: AssetError.self) { try reader.seek(to: .zero) }
    }

    @Test func `one that dies too often is given up`() throws {
        let reader = try SandboxedReader(url: TestAssets.demo, sandbox: Self.options(restarts: 1))
        kill(try #require(reader.processIdentifier), SIGKILL)
        try reader.seek(to: .zero)
        kill(try #require(reader.processIdentifier), SIGKILL)
        #expect { try reader.seek(to: .zero) } throws: { ($0 as? AssetError)?.code == .readerDied }
    }

    @Test(.timeLimit(.minutes(1))) func `one that is stopped is ended long before its deadline, and another one goes on`() throws {
        let sandbox = Self.options(hang: .seconds(600)), expected = try Self.rows(try AssetReader(url: TestAssets.demo))
        let reader = try SandboxedReader(url: TestAssets.demo, sandbox: sandbox)
        kill(try #require(reader.processIdentifier), SIGSTOP)
        #expect(try Self.rows(reader) == expected)
        let last = try SandboxedReader(url: TestAssets.demo, sandbox: Self.options(hang: .seconds(600), restarts: 0))
        kill(try #require(last.processIdentifier), SIGSTOP)
        #expect { _ = try Self.rows(last) } throws: { "\($0)" == "\(TestAssets.demo): the process that read it was stopped, and was ended." }
        #expect(last.processIdentifier == nil)
    }

    @Test func `a shortage of descriptors is told from a sandbox that does not exist`() async {
        await #expect(processExitsWith: .success) {
            let sandbox = Self.options(), film = TestAssets.demo
            let outcomes = Shortage.outcomes { () throws(AssetError) in
                _ = try SandboxedReader(url: film, sandbox: sandbox)
            } isShortage: {
                $0.code != .sandbox
            }
            try #require(outcomes.shortages > 5 && outcomes.successes > 0 && outcomes.others.isEmpty, "\(outcomes)")
        }
    }

    @Test(.timeLimit(.minutes(1))) func `a cancellation ends a wait for a pipe`() throws {
        var ends: [Int32] = [0, 0]
        try #require(unsafe pipe(&ends) == 0)
        let bytes = try #require(TextFile.bytes(of: TestAssets.path("annexb.h264")))
        let (input, output) = (ends[0], ends[1])
        #expect(unsafe write(output, bytes, min(bytes.count, 60_000)) > 0)
        let cancellation = AssetCancellation()
        let canceller = LoopThread(name: "canceller") {
            // It has read all that there is, and waits for more.
            #expect(PipeState.isDrained(input))
            cancellation.cancel()
        }
        #expect { _ = try Self.rows(Self.reader("pipe:\(input)", AssetReaderOptions(containerName: "h264", cancellation: cancellation))) } throws: {
            ($0 as? AssetError)?.code == .cancelled
        }
        canceller.join()
        close(input)
        close(output)
    }

    @Test func `it holds two sockets, two pieces of memory and no right`() throws {
        let reader = try Self.reader(TestAssets.demo)
        let pid = try #require(reader.processIdentifier)
        let descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/fd").compactMap { Int($0) }.sorted()
        #expect(descriptors.count <= 7, "\(descriptors)")
        let status = try #require(TextFile.contents(of: "/proc/\(pid)/status"))
        if reader.report.measures.contains(.systemCallFilter) { #expect(status.contains("Seccomp:\t2")) }
        if reader.report.measures.contains(.noNewPrivileges) { #expect(status.contains("NoNewPrivs:\t1")) }
        let arguments = try #require(TextFile.contents(of: "/proc/\(pid)/cmdline"))
        #expect(!arguments.contains("demo"))
    }
}
