import Foundation
import Media
import SampleQueue
import Sandbox
import TestSupport
import Testing

@testable import Demuxing

/// Subtitles that lists and manifests have beside the frames: ten seconds in parts of two.
@Suite final class AdaptiveTextTests: Sendable {
    private let folder = NSTemporaryDirectory() + "texts-\(UUID().uuidString.prefix(8))"

    init() throws { try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    private struct Cue: Hashable {
        /// Milliseconds.
        var start: Int64, end: Int64
        var text: String

        init(start: Int64, end: Int64, text: String) { (self.start, self.end, self.text) = (start, end, text) }

        /// The cue, but for what is said.
        init(_ cue: Cue, start: Int64? = nil, end: Int64? = nil) { self.init(start: start ?? cue.start, end: end ?? cue.end, text: cue.text) }
    }

    /// One goes on in the next part, and one part has none.
    private static let cues = [
        Cue(start: 500, end: 1500, text: "one"), Cue(start: 3000, end: 4800, text: "two"), Cue(start: 5000, end: 5500, text: "three"),
        Cue(start: 9000, end: 9900, text: "four\nand more"),
    ]

    private static func clock(_ time: Int64) -> String { String(format: "%02d:%02d.%03d", time / 60_000, time / 1000 % 60, time % 1000) }

    /// - Parameters:
    ///   - head: lines behind the first one.
    ///   - shift: of the cues' times, in milliseconds.
    private static func file(_ cues: [Cue], head: String = "", shift: Int64 = 0) -> String {
        "WEBVTT\n\(head)\n" + cues.map { "\(clock($0.start + shift)) --> \(clock($0.end + shift))\n\($0.text)\n\n" }.joined()
    }

    private func write(_ name: String, _ text: String) throws { try write(name, Array(text.utf8)) }
    private func write(_ name: String, _ bytes: [UInt8]) throws { try Data(bytes).write(to: URL(fileURLWithPath: "\(folder)/\(name)")) }

    private static let codec = ["-c:v", "libx264", "-preset", "ultrafast", "-bf", "2", "-g", "25", "-sc_threshold", "0"]

    /// An HLS film in one variant, with subtitles in two languages.
    ///
    /// - Parameters:
    ///   - type: `mpegts` or `fmp4`.
    ///   - isMapped: the parts say which time is which, by a clock of their own.
    ///   - isWhole: the subtitles are one file.
    private func makeList(_ type: String, isMapped: Bool, isWhole: Bool) throws {
        try FFmpeg.run(
            ["-f", "lavfi", "-i", "testsrc2=s=64x64:r=25:d=10"] + Self.codec
                + ["-f", "hls", "-hls_time", "2", "-hls_list_size", "0", "-hls_playlist_type", "vod", "-hls_segment_type", type]
                + ["-hls_fmp4_init_filename", "v.mp4", "\(folder)/v.m3u8"])
        var master = "#EXTM3U\n", head = "", shift: Int64 = 0
        if isMapped {
            // The first frame's time in the container, which is 5 s of the cues.
            let words = ["-v", "error", "-show_entries", "packet=pts", "-of", "csv=p=0", "-read_intervals", "%+#5", "\(folder)/v0.ts"]
            let times = try Tool.run("ffprobe", words).output.split(whereSeparator: { !$0.isNumber }).compactMap { Int64($0) }
            (head, shift) = ("X-TIMESTAMP-MAP=LOCAL:00:00:05.000,MPEGTS:\(try #require(times.min()))\n", 5000)
        }
        for (language, flags) in [("de", "DEFAULT=YES"), ("en-GB", "FORCED=YES")] {
            let names = #"LANGUAGE="\#(language)",NAME="\#(language)",URI="\#(language).m3u8""#
            master += #"#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="t",\#(flags),\#(names)"# + "\n"
            var list = "#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXT-X-MEDIA-SEQUENCE:0\n"
            for part in 0..<(isWhole ? 1 : 5) {
                let length: Int64 = isWhole ? 10_000 : 2000, start = Int64(part) * length
                let own = Self.cues.filter { $0.start < start + length && $0.end > start }
                try write("\(language)\(part).vtt", Self.file(own.reversed(), head: head, shift: shift))
                list += "#EXTINF:\(length / 1000),\n\(language)\(part).vtt\n"
            }
            try write("\(language).m3u8", list + "#EXT-X-ENDLIST\n")
        }
        try write("film.m3u8", master + "#EXT-X-STREAM-INF:BANDWIDTH=1000000,RESOLUTION=64x64,SUBTITLES=\"t\"\nv.m3u8\n")
    }

    /// How a DASH film has its subtitles: as one file (`webVTT`, `timedText`), or in parts of two seconds.
    enum Kind: CaseIterable { case webVTT, webVTTParts, timedText, webVTTMovie, timedTextMovie }

    private func makeManifest(_ kind: Kind) throws {
        try FFmpeg.run(
            ["-f", "lavfi", "-i", "testsrc2=s=64x64:r=25:d=10"] + Self.codec
                + ["-f", "dash", "-seg_duration", "2", "-use_timeline", "0", "-use_template", "1", "\(folder)/film.mpd"])
        let whole = try String(contentsOfFile: folder + "/film.mpd", encoding: .utf8)
        let type =
            switch kind {
            case .webVTT, .webVTTParts: #"mimeType="text/vtt""#
            case .timedText: #"mimeType="application/ttml+xml""#
            case .webVTTMovie: #"mimeType="application/mp4" codecs="wvtt""#
            case .timedTextMovie: #"mimeType="application/mp4" codecs="stpp.ttml.im1t""#
            }
        var text = #"<AdaptationSet contentType="text" \#(type) lang="de"><Role schemeIdUri="urn:mpeg:dash:role:2011" value="caption"/>"#
        switch kind {
        case .webVTT, .timedText:
            text += #"<Representation id="t" bandwidth="256"><BaseURL>de.sub</BaseURL></Representation>"#
            try write("de.sub", kind == .webVTT ? Self.file(Self.cues) : Self.document(Self.cues))
        case .webVTTParts, .webVTTMovie, .timedTextMovie:
            let head = kind == .webVTTParts ? "" : #"initialization="head" "#
            text += #"<SegmentTemplate media="de$Number$.sub" \#(head)duration="2" startNumber="0"/><Representation id="t" bandwidth="256"/>"#
            try write("head", TextMovie.head(kind == .webVTTMovie ? "wvtt" : "stpp"))
            for part in 0..<5 { try write("de\(part).sub", Self.part(Int64(part) * 2000, kind)) }
        }
        try write("film.mpd", whole.replacingOccurrences(of: "</Period>", with: text + "</AdaptationSet></Period>"))
    }

    private static func document(_ cues: [Cue]) -> String {
        let paragraphs = cues.map { cue in
            #"<p begin="\#(cue.start)ms" end="\#(cue.end)ms">\#(cue.text.replacingOccurrences(of: "\n", with: "<br/>"))</p>"#
        }
        return #"<tt xmlns="http://www.w3.org/ns/ttml"><body><div>"# + paragraphs.joined() + "</div></body></tt>"
    }

    private static func part(_ start: Int64, _ kind: Kind) -> [UInt8] {
        let own = cues.filter { $0.start < start + 2000 && $0.end > start }
        if kind == .webVTTParts { return Array(file(own).utf8) }
        if kind == .timedTextMovie { return TextMovie.part([(2000, Array(document(own).utf8))], at: Int(start)) }
        // A sample for each stretch in which the same is shown.
        let places = Set([start, start + 2000] + own.flatMap { [max($0.start, start), min($0.end, start + 2000)] }).sorted()
        let samples = zip(places, places.dropFirst()).map { begin, end -> TextMovie.Sample in
            (Int(end - begin), TextMovie.webVTT(own.filter { $0.start <= begin && $0.end >= end }.map(\.text)))
        }
        return TextMovie.part(samples, at: Int(start))
    }

    private func answer(_ request: LyingServer.Request) -> LyingServer.Answer { .file(in: folder, request) }

    private static func reader(_ server: LyingServer, _ policy: SandboxPolicy = .off, name: String = "film.m3u8") throws -> AdaptiveReader {
        var options = AssetReaderOptions(network: NetworkOptions(timeout: .seconds(0.5)))
        options.network.proxy = ""
        options.lists = .adaptively
        let location = server.address(name), sandbox = SandboxOptions(policy: policy, decoderPath: BuiltPrograms.decoder)
        return try #require(try AdaptiveReader(location, AssetBytes(location, options: options), options, sandbox))
    }

    /// The cues of a track, and how many frames came; the times of samples must not go back.
    private static func read(_ reader: AdaptiveReader, _ track: Int, mayBeLate: Bool = false) throws -> (cues: [Cue], frames: Int) {
        var cues: [Cue] = [], frames = 0, last = MediaTime.negativeInfinity
        while let sample = try reader.nextSample() {
            if !mayBeLate { #expect(sample.decodeTime.seconds > last.seconds - 0.1, "\(sample.decodeTime) behind \(last)") }
            last = max(last, sample.decodeTime)
            guard sample.trackID == track else {
                frames += 1
                continue
            }
            guard case .compressed(let block, _) = sample.content else { continue }
            let start = (sample.presentationTime.seconds * 1000).rounded(), length = (sample.duration.seconds * 1000).rounded()
            let text = unsafe block.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
            let cue = Cue(start: Int64(start), end: Int64(start + length), text: text)
            cues.append(cue)
        }
        return (cues, frames)
    }

    struct Form: Sendable {
        var type: String
        var isMapped = false, isWhole = false
    }

    @Test(
        arguments: [
            Form(type: "mpegts"), Form(type: "mpegts", isMapped: true), Form(type: "fmp4"), Form(type: "mpegts", isMapped: true, isWhole: true),
        ],
        [SandboxPolicy.off, .full])
    func `subtitles of a list come at their times, where they are selected`(_ form: Form, _ policy: SandboxPolicy) throws {
        try makeList(form.type, isMapped: form.isMapped, isWhole: form.isWhole)
        let server = LyingServer { [self] in answer($0) }
        defer { server.stop() }
        let reader = try Self.reader(server, policy)
        #expect(reader.tracks.map(\.kind) == [.video, .subtitle, .subtitle] && reader.tracks.map(\.id) == [0, 1, 2])
        let texts = reader.tracks.dropFirst()
        #expect(texts.allSatisfy { $0.format == .other("webvtt") && $0.isDecodable } && texts.map(\.language) == ["de", "en"])
        #expect(texts.map(\.isDefault) == [true, false] && texts.map(\.isForced) == [false, true] && texts.map(\.title) == ["de", "en-GB"])
        // By themselves they are not read, nor fetched.
        #expect(try Self.read(reader, 1).cues.isEmpty && !server.requests.contains { $0.path.hasSuffix(".vtt") })
        reader.select([0, 1])
        try reader.seek(to: .zero)
        let (cues, frames) = try Self.read(reader, 1)
        #expect(cues == Self.cues && frames == 250, "\(cues)")
        #expect(!server.requests.contains { $0.path.hasPrefix("en") })
    }

    @Test(arguments: Kind.allCases) func `subtitles of a manifest`(_ kind: Kind) throws {
        try makeManifest(kind)
        let server = LyingServer { [self] in answer($0) }
        defer { server.stop() }
        let reader = try Self.reader(server, name: "film.mpd")
        #expect(reader.tracks.map(\.kind) == [.video, .subtitle] && reader.tracks[1].language == "de" && reader.tracks[1].isHearingImpaired)
        reader.select([0, 1])
        let (cues, frames) = try Self.read(reader, 1)
        // Samples of WebVTT end with their part.
        let split = kind == .webVTTMovie ? Self.cues.flatMap { $0.text == "two" ? [Cue($0, end: 4000), Cue($0, start: 4000)] : [$0] } : Self.cues
        #expect(cues == split && frames == 250, "\(cues)")
    }

    @Test func `from a seek on those come that lie there`() throws {
        try makeList("mpegts", isMapped: true, isWhole: false)
        let server = LyingServer { [self] in answer($0) }
        defer { server.stop() }
        let reader = try Self.reader(server)
        reader.select([0, 2])
        try reader.seek(to: MediaTime(value: 4500, timescale: 1000))
        #expect(try Self.read(reader, 2).cues == Array(Self.cues.dropFirst()), "one began in the part before")
        #expect(!server.requests.contains { $0.path == "en-GB0.vtt" } && !server.requests.contains { $0.path.hasPrefix("de") })
        try reader.seek(to: .zero)
        #expect(try Self.read(reader, 2).cues == Self.cues)
        reader.timeRange = MediaTimeRange(start: .zero, end: MediaTime(value: 4, timescale: 1))
        try reader.seek(to: .zero)
        let (cues, frames) = try Self.read(reader, 2)
        #expect(cues == Array(Self.cues.prefix(2)) && frames >= 100 && frames < 110)
    }

    @Test func `of a film that grows they come from where it is joined on`() throws {
        try makeList("mpegts", isMapped: true, isWhole: false)
        let hasEnded = Monitor(false)
        let server = LyingServer { [self] request in
            // The fourth part is the last one that is there at first.
            if request.path == "v3.ts" { hasEnded.withLock { $0 = true } }
            guard request.path == "v.m3u8" || request.path == "de.m3u8", !hasEnded.withLock({ $0 }),
                let whole = try? String(contentsOfFile: "\(folder)/\(request.path)", encoding: .utf8)
            else { return answer(request) }
            let lines = whole.replacingOccurrences(of: "#EXT-X-PLAYLIST-TYPE:VOD\n", with: "").split(separator: "\n")
            let end = lines.firstIndex { $0.hasPrefix("v4.") || $0.hasPrefix("de4.") } ?? lines.endIndex
            return .file(Array((lines[..<(end - 1)].joined(separator: "\n") + "\n").utf8), request)
        }
        defer { server.stop() }
        let reader = try Self.reader(server)
        #expect(!reader.isSeekable)
        reader.select([0, 1])
        let (cues, frames) = try Self.read(reader, 1, mayBeLate: true)
        let expected = Self.cues.dropFirst().map { Cue(start: $0.start - 2000, end: $0.end - 2000, text: $0.text) }
        // Where the film has ended before the list of texts is asked for, that has what is over, too.
        #expect(frames == 200 && cues.filter { $0.end > 0 } == expected, "\(frames), \(cues)")
    }

    @Test(arguments: ["404 Not Found", "503 Not Now", "nonsense", "list"]) func `without a part of them the film is whole`(_ fault: String) throws {
        try makeList("fmp4", isMapped: false, isWhole: false)
        let server = LyingServer { [self] request in
            guard request.path == (fault == "list" ? "de.m3u8" : "de1.vtt") else { return answer(request) }
            return fault == "nonsense" ? .file(Array("<html>".utf8), request) : LyingServer.Answer(status: fault == "list" ? "404 Not Found" : fault)
        }
        defer { server.stop() }
        let reader = try Self.reader(server)
        reader.select([0, 1])
        // The part behind it has it, too, and comes later.
        let (cues, frames) = try Self.read(reader, 1, mayBeLate: true)
        #expect(frames == 250 && cues == (fault == "list" ? [] : Self.cues), "\(cues)")
        #expect(try reader.nextSample() == nil)
    }
}
