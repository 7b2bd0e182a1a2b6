import Foundation
import Media
import SampleQueue
import Sandbox
import TestSupport
import Testing

@testable import Demuxing

/// Films whose variant changes while they are read: ten seconds of 250 frames, in parts of a second, in three sizes.
@Suite(.serialized) final class AdaptiveReaderTests {
    private static let folder = NSTemporaryDirectory() + "variants-\(UUID().uuidString.prefix(8))"
    private static let sizes = [64, 96, 128]

    deinit { try? FileManager.default.removeItem(atPath: Self.folder) }

    private static func run(_ arguments: [String]) throws {
        let process = ChildProcess()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["ffmpeg", "-nostdin", "-v", "error", "-y"] + arguments
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
    }

    /// - Parameters:
    ///   - kind: `ts` or `fmp4`, `aes` (encrypted), `apart` (sound with a list of its own), `ranges` (one file).
    private static func make(_ kind: [String]) throws {
        try? FileManager.default.removeItem(atPath: folder)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let isApart = kind.contains("apart"), type = kind.contains("fmp4") ? "fmp4" : "mpegts"
        var hls = ["-f", "hls", "-hls_time", "1", "-hls_list_size", "0", "-hls_playlist_type", "vod", "-hls_segment_type", type]
        if kind.contains("aes") {
            try Data("0123456789abcdef".utf8).write(to: URL(fileURLWithPath: folder + "/key"))
            try "/key\n\(folder)/key\n".write(toFile: folder + "/info", atomically: true, encoding: .utf8)
            hls += ["-hls_key_info_file", folder + "/info"]
        }
        if kind.contains("ranges") { hls += ["-hls_flags", "single_file"] }
        let sound = ["-f", "lavfi", "-i", "sine=440:r=48000:d=10"], coded = ["-c:a", "aac", "-ac", "2"]
        var master = "#EXTM3U\n"
        if isApart {
            try run(sound + coded + hls + ["-hls_fmp4_init_filename", "s.mp4", "\(folder)/s.m3u8"])
            master += "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",LANGUAGE=\"de-DE\",NAME=\"Deutsch\",DEFAULT=YES,URI=\"s.m3u8\"\n"
        }
        for (index, size) in sizes.enumerated() {
            let film = ["-f", "lavfi", "-i", "testsrc2=s=\(size)x\(size):r=25:d=10"]
            let codec = ["-c:v", "libx264", "-preset", "ultrafast", "-bf", "2", "-g", "25", "-sc_threshold", "0"]
            var words = film + (isApart ? [] : sound) + codec
            words += coded + hls + ["-hls_fmp4_init_filename", "v\(index).mp4", "\(folder)/v\(index).m3u8"]
            try run(words)
            master +=
                "#EXT-X-STREAM-INF:BANDWIDTH=\((index + 1) * 1_000_000),RESOLUTION=\(size)x\(size)\(isApart ? ",AUDIO=\"a\"" : "")\nv\(index).m3u8\n"
        }
        try master.write(toFile: folder + "/film.m3u8", atomically: true, encoding: .utf8)
    }

    /// DASH: `time`, `number` or `list`, which say how the parts are listed; `index`: one file for each, with an index.
    private static func makeManifest(_ kind: [String]) throws {
        try? FileManager.default.removeItem(atPath: folder)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let inputs = ["-f", "lavfi", "-i", "testsrc2=s=128x128:r=25:d=10", "-f", "lavfi", "-i", "sine=440:r=48000:d=10"]
        let codec = ["-c:v", "libx264", "-preset", "ultrafast", "-bf", "2", "-g", "25", "-sc_threshold", "0", "-c:a", "aac", "-ac", "2"]
        guard kind.contains("index") else {
            var streams = ["-map", "0:v", "-map", "0:v", "-map", "0:v", "-map", "1:a"]
            for (index, size) in sizes.enumerated() { streams += ["-s:v:\(index)", "\(size)x\(size)", "-b:v:\(index)", "\(index + 1)M"] }
            let listing = ["-use_timeline", kind.contains("time") ? "1" : "0", "-use_template", kind.contains("list") ? "0" : "1"]
            let dash = ["-f", "dash", "-seg_duration", "1", "-adaptation_sets", "id=0,streams=v id=1,streams=a"] + listing
            return try run(inputs + codec + streams + dash + ["-metadata:s:a", "language=de", "\(folder)/film.mpd"])
        }
        let film = ["-f", "mp4", "-movflags", "+dash+global_sidx", "-frag_duration", "1000000"]
        func representation(_ name: String, _ attributes: String) throws -> String {
            let bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(name)")))
            let place = try #require(bytes.firstRange(of: Array("sidx".utf8))).lowerBound - 4
            let size = bytes[place..<place + 4].reduce(0) { $0 << 8 | Int($1) }
            return "<Representation id=\"\(name)\" \(attributes)><BaseURL>\(name)</BaseURL>"
                + "<SegmentBase indexRange=\"\(place)-\(place + size - 1)\"><Initialization range=\"0-\(place - 1)\"/></SegmentBase></Representation>"
        }
        var frames = "", sound = ""
        for (index, size) in sizes.enumerated() {
            try run(inputs + ["-map", "0:v", "-s", "\(size)x\(size)"] + codec + film + ["\(folder)/v\(index).mp4"])
            frames += try representation("v\(index).mp4", #"bandwidth="\#(index + 1)000000" width="\#(size)" height="\#(size)""#)
        }
        try run(inputs + ["-map", "1:a"] + codec + film + ["\(folder)/a.mp4"])
        sound = try representation("a.mp4", #"bandwidth="64000""#)
        try """
        <?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" mediaPresentationDuration="PT10S"><Period>
        <AdaptationSet contentType="video">\(frames)</AdaptationSet><AdaptationSet contentType="audio" lang="de">\(sound)</AdaptationSet>
        </Period></MPD>
        """.write(toFile: folder + "/film.mpd", atomically: true, encoding: .utf8)
    }

    private static func answer(_ request: LyingServer.Request) -> LyingServer.Answer { .file(in: folder, request) }

    /// - Parameter plan: the variant of each part in the order of fetching; behind its end the last one.
    private static func reader(
        _ server: LyingServer, _ plan: [Int], _ policy: SandboxPolicy = .off, timeout: Double = 30, name: String = "film.m3u8"
    ) throws -> AdaptiveReader {
        var options = AssetReaderOptions(network: NetworkOptions(timeout: .seconds(timeout)))
        options.network.proxy = ""
        options.progress = FetchProgress()
        options.lists = .adaptively
        let location = server.address(name)
        let sandbox = SandboxOptions(policy: policy, decoderPath: BuiltPrograms.decoder)
        return try #require(
            try AdaptiveReader(location, AssetBytes(location, options: options), options, sandbox) { _, part in plan[min(part, plan.count - 1)] })
    }

    private struct Frame: Equatable {
        var time: MediaTime
        var width: Int
    }

    private struct Outcome {
        var frames: [Frame] = []
        var sound: [MediaTimeRange] = []
    }

    /// What would be shown and heard, in the order of the times.
    /// - Parameter waits: called before each sample.
    private static func read(_ reader: AdaptiveReader, _ waits: () -> Void = {}) throws -> Outcome {
        var outcome = Outcome()
        func next() throws -> SampleBuffer? {
            waits()
            return try reader.nextSample()
        }
        while let sample = try next() {
            guard !sample.flags.contains(.doNotDisplay), case .compressed(_, let format) = sample.content else { continue }
            switch format {
            case .video(let format): outcome.frames.append(Frame(time: sample.presentationTime, width: format.visible.size.width))
            case .audio: outcome.sound.append(MediaTimeRange(start: sample.presentationTime, end: sample.presentationTime + sample.duration))
            default: break
            }
        }
        outcome.frames.sort { $0.time < $1.time }
        return outcome
    }

    private static func expected(_ plan: [Int], from first: Int = 0) -> [Frame] {
        (first..<250).map { Frame(time: MediaTime(value: Int64($0), timescale: 25), width: sizes[plan[min($0 / 25, plan.count - 1)]]) }
    }

    /// Where sound does not follow sound. Times are as exact as the container's: a transport stream counts ninety-thousandths of a second.
    private static func gaps(_ sound: [MediaTimeRange]) -> [String] {
        zip(sound, sound.dropFirst()).filter { abs(($1.start - $0.end).seconds) >= 0.001 }.map { "\($0.end) to \($1.start)" }
    }

    private static let kinds = TestExtent.cases(
        ["ts", "fmp4", "ts apart", "fmp4 apart", "ts aes", "ts ranges", "fmp4 ranges apart"], sanitizedStep: 3)

    @Test(arguments: kinds, [SandboxPolicy.off, .full])
    func `each frame is of the variant that was decided, none is lost and none comes twice`(_ kind: String, _ policy: SandboxPolicy) throws {
        try Self.make(kind.split(separator: " ").map(String.init))
        let server = LyingServer(Self.answer)
        defer { server.stop() }
        let plan = [2, 2, 0, 0, 1, 2, 1, 1, 0, 2]
        let reader = try Self.reader(server, plan, policy)
        #expect(reader.duration.seconds > 9.9 && reader.duration.seconds < 10.1 && reader.isSeekable && reader.tracks.count == 2)
        #expect(reader.tracks.map(\.id) == [0, 1] && reader.tracks.map(\.kind) == [.video, .audio])
        let outcome = try Self.read(reader)
        #expect(outcome.frames.map(\.width) == Self.expected(plan).map(\.width))
        let start = try #require(outcome.frames.first).time
        #expect(outcome.frames.map { $0.time - start } == Self.expected(plan).map(\.time))
        // The sound's coder begins earlier, by less than the frames' reordering.
        #expect(start.seconds < 0.1 && Self.gaps(outcome.sound).isEmpty, "\(start): \(Self.gaps(outcome.sound))")
        #expect(outcome.sound.last.map { $0.end.seconds > 9.9 } == true)
        if kind.contains("apart") { #expect(reader.tracks[1].language == "de" && reader.tracks[1].title == "Deutsch") }
        #expect(try reader.nextSample() == nil)
    }

    @Test(arguments: TestExtent.cases(["time", "number", "list", "index"], sanitizedStep: 3), [SandboxPolicy.off, .full])
    func `so is each frame of a manifest, however it lists its parts`(_ kind: String, _ policy: SandboxPolicy) throws {
        try Self.makeManifest([kind])
        let server = LyingServer(Self.answer)
        defer { server.stop() }
        let plan = [2, 2, 0, 0, 1, 2, 1, 1, 0, 2]
        let reader = try Self.reader(server, plan, policy, name: "film.mpd")
        #expect(reader.containerName == "dash" && abs(reader.duration.seconds - 10) < 0.1 && reader.tracks.map(\.kind) == [.video, .audio])
        #expect(reader.tracks[1].language == "de" && reader.offer?.variants.map { $0.size?.width } == Self.sizes)
        let outcome = try Self.read(reader), start = try #require(outcome.frames.first).time
        #expect(outcome.frames.map(\.width) == Self.expected(plan).map(\.width))
        #expect(outcome.frames.map { $0.time - start } == Self.expected(plan).map(\.time))
        #expect(start.seconds < 0.1 && Self.gaps(outcome.sound).isEmpty, "\(start): \(Self.gaps(outcome.sound))")
        #expect(outcome.sound.last.map { $0.end.seconds > 9.9 } == true)
        let fetched = server.requests.count
        try reader.seek(to: MediaTime(value: 7, timescale: 1))
        let frames = try Self.read(reader).frames, first = try #require(frames.first)
        #expect(abs(first.time.seconds - 7) < 0.1 && first.width == Self.sizes[1] && (75...77).contains(frames.count), "\(first) \(frames.count)")
        #expect(server.requests.count == fetched)
    }

    @Test func `a manifest that grows is read from three parts before its end, and on`() throws {
        try Self.makeManifest(["time"])
        let whole = try String(contentsOfFile: Self.folder + "/film.mpd", encoding: .utf8)
        let sound = try #require(whole.firstRange(of: #"<AdaptationSet id="1""#)).lowerBound
        let end = try #require(whole.firstRange(of: "</Period>")).lowerBound
        let ended = whole.replacingCharacters(in: sound..<end, with: "")
        let growing = ended.replacingOccurrences(of: #"type="static""#, with: #"type="dynamic" minimumUpdatePeriod="PT0.5S""#)
            .replacingOccurrences(of: #"r="9""#, with: #"r="5""#)
        try #require(growing.contains(#"r="5""#))
        let hasEnded = Monitor(false)
        let server = LyingServer { request in
            // The sixth part is the last one that is there at first.
            if request.path.hasSuffix("00006.m4s") { hasEnded.withLock { $0 = true } }
            guard request.path == "film.mpd" else { return Self.answer(request) }
            return .file(Array((hasEnded.withLock { $0 } ? ended : growing).utf8), request)
        }
        defer { server.stop() }
        let reader = try Self.reader(server, [1], name: "film.mpd")
        #expect(!reader.isSeekable && !reader.duration.isNumeric)
        let frames = try Self.read(reader).frames
        #expect(frames.count == 175 && frames.allSatisfy { $0.width == 96 }, "\(frames.count)")
        #expect(zip(frames, frames.dropFirst()).allSatisfy { $1.time - $0.time == MediaTime(value: 1, timescale: 25) })
        #expect(!server.requests.contains { $0.path.hasSuffix("00003.m4s") })
    }

    @Test(arguments: ["ts", "fmp4 apart"]) func `a seek goes to the variant in use, with what is in memory where it is`(_ kind: String) throws {
        try Self.make(kind.split(separator: " ").map(String.init))
        let server = LyingServer(Self.answer)
        defer { server.stop() }
        let reader = try Self.reader(server, [0, 0, 0, 0, 0, 2])
        _ = try Self.read(reader)
        let fetched = server.requests.count
        for target in [7.3, 0.5, 0, 9.98] {
            let time = MediaTime(seconds: target, timescale: 1000)
            try reader.seek(to: time)
            let frames = try Self.read(reader).frames, first = try #require(frames.first)
            #expect(abs(first.time.seconds - target) < 0.1, "\(target): \(first)")
            #expect(frames.allSatisfy { $0.width == Self.sizes[$0.time.seconds < 5 ? 0 : 2] || abs($0.time.seconds - 5) < 0.1 })
            #expect(zip(frames, frames.dropFirst()).allSatisfy { $1.time - $0.time == MediaTime(value: 1, timescale: 25) })
        }
        #expect(server.requests.count == fetched)
    }

    @Test(arguments: [("ts", SandboxPolicy.off), ("fmp4", .off), ("ts", .full)])
    func `a list that says when its film was made is read part by part, and its samples say it, too`(_ kind: String, _ policy: SandboxPolicy) throws {
        try Self.make([kind])
        let path = Self.folder + "/v1.m3u8", dates = ["2026-11-27T20:15:00.000Z", "2026-11-27T21:00:00.500Z"]
        let plain = try String(contentsOfFile: path, encoding: .utf8)
        var parts = 0
        let dated = plain.split(separator: "\n").map { line -> String in
            defer { if line.hasPrefix("#EXTINF") { parts += 1 } }
            let date = line.hasPrefix("#EXTINF") ? parts == 0 ? dates[0] : parts == 4 ? dates[1] : nil : nil
            return (date.map { "#EXT-X-PROGRAM-DATE-TIME:\($0)\n" } ?? "") + line
        }
        try (dated.joined(separator: "\n") + "\n").write(toFile: Self.folder + "/dated.m3u8", atomically: true, encoding: .utf8)
        let server = LyingServer(Self.answer)
        defer { server.stop() }
        let reader = try Self.reader(server, [0], policy, name: "dated.m3u8")
        let first = try #require(ProgramDate(iso8601: dates[0])), second = try #require(ProgramDate(iso8601: dates[1]))
        #expect(reader.offer == nil && reader.programDates.time(of: first + MediaTime(value: 1, timescale: 1)) == MediaTime(value: 1, timescale: 1))
        #expect(reader.programDates.time(of: second).map { abs($0.seconds - 4) < 0.1 } == true)
        var said: [(time: MediaTime, date: ProgramDate)] = [], frames = 0
        while let sample = try reader.nextSample() {
            if reader.tracks[sample.trackID].kind == .video { frames += 1 }
            if let date = sample.programDate { said.append((sample.shownTime, date)) }
        }
        #expect(frames == 250 && said.map(\.date) == [first, second] && said.map { ($0.time.seconds * 10).rounded() } == [0, 40], "\(said)")
        // Where nothing says it, libavformat reads the list.
        let location = server.address("v1.m3u8")
        var options = AssetReaderOptions()
        options.network.proxy = ""
        #expect(try AdaptiveReader(location, AssetBytes(location, options: options), options, SandboxOptions()) == nil)
    }

    @Test func `a seek to what is not here fetches nothing in between`() throws {
        try Self.make(["ts"])
        let gate = LyingServer.Gate()
        let server = LyingServer { request in
            // What comes behind the first part waits.
            request.path.hasSuffix("1.ts") ? Self.answer(request).pausing(after: 5000, until: gate) : Self.answer(request)
        }
        defer { server.stop() }
        defer { gate.open() }
        let reader = try Self.reader(server, [1])
        try reader.seek(to: MediaTime(value: 6, timescale: 1))
        let frames = try Self.read(reader).frames
        #expect(frames.count == 100 || frames.count == 101)
        #expect(!server.requests.contains { request in (2...4).contains { request.path == "v1\($0).ts" } })
    }

    @Test func `only the time range is shown, and only what is selected`() throws {
        try Self.make(["ts", "apart"])
        let server = LyingServer(Self.answer)
        defer { server.stop() }
        let reader = try Self.reader(server, [1])
        reader.select([0])
        reader.timeRange = MediaTimeRange(start: MediaTime(value: 3, timescale: 1), end: MediaTime(value: 5, timescale: 1))
        let outcome = try Self.read(reader)
        #expect(outcome.frames.count == 50 && outcome.sound.isEmpty && outcome.frames.first?.time == MediaTime(value: 3, timescale: 1))
    }

    @Test func `a variant that is not there gives way to another, and a part that is not there is left out`() throws {
        try Self.make(["ts"])
        let server = LyingServer { request in
            if request.path == "v0.m3u8" || request.path == "v24.ts" {
                return LyingServer.Answer(status: "404 Not Found", headers: ["Content-Length: 0"])
            }
            return Self.answer(request)
        }
        defer { server.stop() }
        // Variant 0 has no list: what is decided is not to be had.
        let location = server.address("film.m3u8")
        var options = AssetReaderOptions()
        options.network.proxy = ""
        options.lists = .adaptively
        options.shownSize = PixelSize(width: 4000, height: 4000)
        let reader = try #require(try AdaptiveReader(location, AssetBytes(location, options: options), options, SandboxOptions()))
        let frames = try Self.read(reader).frames
        #expect(frames.allSatisfy { $0.width == 128 } && frames.count == 225, "\(frames.count)")
    }

    @Test(arguments: [SandboxPolicy.off, .full]) func `a part that does not come is said at the end`(_ policy: SandboxPolicy) throws {
        try Self.make(["ts"])
        let server = LyingServer { request in
            guard request.path == "v13.ts" else { return Self.answer(request) }
            return (request.rangeStart ?? 0) == 0 ? Self.answer(request).cut(after: 5000) : LyingServer.Answer(status: "503 No", ending: .reset)
        }
        defer { server.stop() }
        let reader = try Self.reader(server, [1], policy, timeout: 0.3)
        var count = 0
        let error = #expect(throws: AssetError.self) { while let sample = try reader.nextSample() { if sample.trackID == 0 { count += 1 } } }
        #expect(error?.code == .cutShort && error?.description.hasSuffix(": a part of it did not come.") == true, "\(error as Any)")
        #expect(count >= 225 && count < 250)
        #expect(try reader.nextSample() == nil)
    }

    @Test func `the network decides where nobody else does`() throws {
        try Self.make(["ts"])
        // Once the film is open, more comes than the largest variant is said to need.
        let isSlow = Monitor(true)
        let server = LyingServer { request in Self.answer(request).limited { isSlow.withLock { $0 } ? 800_000 : 80_000_000 } }
        defer { server.stop() }
        let progress = FetchProgress()
        var options = AssetReaderOptions()
        options.network.proxy = ""
        options.lists = .adaptively
        options.network.cacheAhead = 65_536
        options.progress = progress
        let location = server.address("film.m3u8")
        let reader = try #require(try AdaptiveReader(location, AssetBytes(location, options: options), options, SandboxOptions()))
        #expect(reader.offer?.chosen == 0)
        isSlow.withLock { $0 = false }
        // It is read no faster than it comes: better is fetched only where enough is in memory.
        let frames = try Self.read(reader) {
            let isHere = Polling.until(every: .milliseconds(1)) {
                progress.ahead.bytes > 40_000 || server.requests.contains { $0.path.hasSuffix("9.ts") }
            }
            #expect(isHere)
        }.frames
        #expect(frames.count == 250 && frames.first?.width == 64 && frames.last?.width == 128)
        #expect(progress.variant == 2 && progress.variantSwitches >= 1 && reader.offer?.chosen == 2)
        #expect(zip(frames, frames.dropFirst()).allSatisfy { $1.time - $0.time == MediaTime(value: 1, timescale: 25) })
    }
}
