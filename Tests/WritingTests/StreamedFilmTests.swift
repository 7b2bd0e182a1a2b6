import Demuxing
import Glibc
import Media
import SampleQueue
import TestSupport
import Testing
import Writing

/// Films for HTTP Live Streaming: a film in fragments and its playlist.
@Suite struct StreamedFilmTests {
    private func seconds(_ value: Double) -> MediaTime { MediaTime(value: Int64((value * 1000).rounded()), timescale: 1000) }

    @Test func `a list names the parts by their bytes and how long they last`() {
        var list = SegmentList(fileName: "a film#1.mp4", segmentDuration: seconds(3))
        list.hasVideo = true
        list.headByteCount = 800
        list.note(isVideo: true, end: seconds(4))
        // Sound that lasts longer than the last frame.
        list.note(isVideo: false, end: seconds(4.2))
        list.endSegment(at: seconds(2.5), byteCount: 5000)
        let name = "a%20film%231.mp4"
        func head(_ target: Int) -> String {
            """
            #EXTM3U
            #EXT-X-VERSION:7
            #EXT-X-TARGETDURATION:\(target)
            #EXT-X-MEDIA-SEQUENCE:0
            #EXT-X-PLAYLIST-TYPE:EVENT
            #EXT-X-INDEPENDENT-SEGMENTS
            #EXT-X-MAP:URI="\(name)",BYTERANGE="800@0"

            """
        }
        let first = "#EXTINF:2.500000,\n#EXT-X-BYTERANGE:4200@800\n\(name)\n"
        #expect(list.takeChange() == .replace(head(3) + first))
        list.endSegment(at: seconds(5), byteCount: 6000)
        let second = "#EXTINF:2.500000,\n#EXT-X-BYTERANGE:1000@5000\n\(name)\n"
        #expect(list.takeChange() == .append(second))
        // 4200 and 1000 bytes in 2.5 s each.
        #expect(list.bitRates.peak == 13_440 && list.bitRates.average == 8320)
        // Longer than the list has promised: it begins anew.
        list.endSegment(at: seconds(9), byteCount: 8000)
        let third = "#EXTINF:4.000000,\n#EXT-X-BYTERANGE:2000@6000\n\(name)\n"
        #expect(list.takeChange() == .replace(head(4) + first + second + third))
        list.note(isVideo: true, end: seconds(9.5))
        list.endSegment(at: nil, byteCount: 9000)
        // Nothing has come since.
        list.endSegment(at: nil, byteCount: 9000)
        list.end()
        #expect(list.takeChange() == .append("#EXTINF:0.500000,\n#EXT-X-BYTERANGE:1000@8000\n\(name)\n#EXT-X-ENDLIST\n"))
        // A last part that is too short for a rate of its own does not count alone.
        #expect(list.bitRates.peak == 13_440 && list.bitRates.average == 6906)
    }

    @Test func `a cut asks players to begin where it was wanted`() throws {
        let scratch = Scratch(), path = scratch.path("cut.m3u8")
        var options = FilmCopy.Options()
        options.timeRange = MediaTimeRange(start: seconds(3.5), duration: seconds(3))
        let copy = try FilmCopy(from: TestAssets.demo, to: path, options: options)
        try copy.run()
        #expect(copy.notices.count == 1 && copy.notices[0].contains("1.500 s early"), "\(copy.notices)")
        let lines = Probe.lines("cat '\(path)'")
        #expect(lines.contains("#EXT-X-START:TIME-OFFSET=1.500000,PRECISE=YES"), "\(lines)")
        // FFmpeg does not obey: it shows what lies before, too.
        let whole = Probe.frames(TestAssets.demo), part = Probe.frames(path)
        #expect(Array(part.prefix(135)) == Array(whole[60..<195]), "\(part.count) frames")
    }

    /// Copies a film for streaming, in segments of about two seconds.
    private func copy(_ name: String, _ path: String) throws {
        var options = FilmCopy.Options()
        options.writer.segmentDuration = seconds(2)
        try FilmCopy(from: TestAssets.path(name), to: path, options: options).run()
    }

    /// The segments of a list: how long they last, and their bytes.
    private func segments(_ text: String) -> [(seconds: Double, range: Range<Int>)] {
        var found: [(Double, Range<Int>)] = [], length = 0.0
        for line in text.split(separator: "\n") {
            if line.hasPrefix("#EXTINF:") { length = Double(line.dropFirst(8).dropLast()) ?? -1 }
            guard line.hasPrefix("#EXT-X-BYTERANGE:") else { continue }
            let parts = line.dropFirst(17).split(separator: "@").compactMap { Int($0) }
            if parts.count == 2 { found.append((length, parts[1]..<parts[0] + parts[1])) }
        }
        return found
    }

    @Test(.enabled(if: Probe.isThere, "no ffmpeg and ffprobe"), arguments: [("demo.mp4", 300), ("audio-only.m4a", 0)])
    func `every segment can be played alone, and together they are the film`(name: String, frames: Int) throws {
        let scratch = Scratch()
        try copy(name, scratch.path("film.m3u8"))
        #expect(scratch.names == ["film.m3u8", "film.master.m3u8", "film.mp4"])
        let list = segments(try #require(TextFile.contents(of: scratch.path("film.m3u8"))))
        let bytes = try #require(TextFile.bytes(of: scratch.path("film.mp4")))
        try #require(list.count >= (frames > 0 ? 3 : 1) && list.allSatisfy { $0.range.upperBound <= bytes.count }, "\(list)")
        var count = 0, all: [String] = []
        for segment in list {
            scratch.write(Array(bytes[..<list[0].range.lowerBound]) + Array(bytes[segment.range]), "part.mp4")
            let packets = Probe.packets(scratch.path("part.mp4"))
            let first = try #require(packets[0])
            #expect(first.first?.isSync == true, "\(segment)")
            all += first.map(\.hash)
            count += frames > 0 ? Probe.frames(scratch.path("part.mp4")).count : 0
        }
        #expect(count == frames && all == Probe.hashes(TestAssets.path(name))[0])
        let length = list.map(\.seconds).reduce(0, +)
        let whole = try AssetReader(url: TestAssets.path(name)).duration.seconds
        #expect(abs(length - whole) < 0.05, "\(length) of \(whole) s")
        // The next segment begins where the one before ends.
        #expect(zip(list, list.dropFirst()).allSatisfy { $0.range.upperBound == $1.range.lowerBound })
    }

    /// A web server with what is in a folder.
    private func server(_ scratch: Scratch) -> LyingServer {
        let files = scratch.names.map { ("/" + $0.replacing(" ", with: "%20"), TextFile.bytes(of: scratch.path($0)) ?? []) }
        let byPath = Dictionary(files) { $1 }
        return LyingServer { request in
            let name = request.path.hasPrefix("/") ? request.path : "/" + request.path
            guard let bytes = byPath[name] else { return LyingServer.Answer(status: "404 Not Found", headers: ["Content-Length: 0"]) }
            return .file(bytes, request)
        }
    }

    @Test(.enabled(if: Probe.isThere, "no ffmpeg and ffprobe"), arguments: ["a film.m3u8", "a film.master.m3u8", "a film.mpd"])
    func `it plays over HTTP, for us and for others`(name: String) throws {
        let scratch = Scratch(), isManifest = name.hasSuffix(".mpd")
        try copy("demo.mp4", scratch.path(isManifest ? name : "a film.m3u8"))
        let server = server(scratch)
        defer { server.stop() }
        let address = server.address(name.replacing(" ", with: "%20")), wanted = Probe.hashes(TestAssets.demo)
        let reader = try AssetReader(url: address)
        var counts: [Int: Int] = [:]
        while let sample = try reader.nextSample() { counts[sample.trackID, default: 0] += 1 }
        #expect(counts.values.sorted() == wanted.values.map(\.count).sorted())
        #expect(Probe.frames(address) == Probe.frames(TestAssets.demo))
        if Others.hasGStreamer {
            let lines = Others.gstreamer(address)
            #expect(lines.last == "end" && lines.contains("video 300"), "\(lines)")
        }
        if let outcome = Others.mpv(address) { #expect(outcome.code == 0 && outcome.lines == [], "\(outcome.lines)") }
        if isManifest { return }
        #expect(server.requests.allSatisfy { $0.path.hasSuffix(".m3u8") || $0.rangeStart != nil }, "parts are fetched by their bytes")
    }

    /// Samples of the demo, one after another, to a writer.
    private func feed(_ path: String, _ afterEach: (Int) throws -> Void) throws -> AssetWriter {
        var options = AssetWriterOptions()
        options.segmentDuration = seconds(2)
        let reader = try AssetReader(url: TestAssets.demo), writer = try AssetWriter(path: path, options: options)
        let inputs = try reader.tracks.map { try writer.addInput(TrackDescription($0)) }
        try writer.start()
        var count = 0
        while let sample = try reader.nextSample() {
            try inputs[sample.trackID].append(sample)
            count += 1
            try afterEach(count)
        }
        return writer
    }

    @Test func `the list grows while the film is written, and what it names is there`() throws {
        let scratch = Scratch(), path = scratch.path("film.m3u8")
        var counts: [Int] = [], last = ""
        let writer = try feed(path) { _ in
            guard let text = TextFile.contents(of: path), text != last else { return }
            let list = segments(text), size = (TextFile.bytes(of: scratch.path("film.mp4")) ?? []).count
            #expect(text.hasPrefix(last) && text.contains("#EXT-X-PLAYLIST-TYPE:EVENT\n") && !text.contains("ENDLIST"))
            #expect(list.allSatisfy { $0.range.upperBound <= size })
            #expect(scratch.names.contains("film.master.m3u8"))
            counts.append(list.count)
            last = text
        }
        #expect(counts == [1, 2, 3, 4])
        try writer.finish()
        let whole = try #require(TextFile.contents(of: path))
        #expect(whole.hasPrefix(last) && whole.hasSuffix("#EXT-X-ENDLIST\n") && segments(whole).count == 5)
        let master = try #require(TextFile.contents(of: scratch.path("film.master.m3u8")))
        let bytes = segments(whole).map { Double($0.range.count) * 8 / $0.seconds }
        let lines = master.split(separator: "\n").map(String.init)
        #expect(lines.count == 5 && lines[4] == "film.m3u8")
        let peak = Int(bytes.max()!.rounded(.up))
        #expect(lines[3].hasPrefix("#EXT-X-STREAM-INF:BANDWIDTH=\(peak),AVERAGE-BANDWIDTH="), "\(master)")
        #expect(lines[3].hasSuffix(",CODECS=\"avc1.64001e,mp4a.40.2\",RESOLUTION=640x360,FRAME-RATE=30.000"), "\(master)")
    }

    @Test(arguments: [
        ("hevc-10bit.mp4", "hvc1.2.4.L60.90", ""), ("hdr10.mp4", "hvc1.2.4.L60.90", ",VIDEO-RANGE=PQ"), ("av1.mkv", "av01.0.00M.08", ""),
        ("vp9.webm", "vp09.00.11.08", ""), ("cover.m4a", "mp4a.40.2", ""), ("audio-only.flac", "fLaC", ""),
    ])
    func `the master list names the codecs as players know them`(name: String, codec: String, range: String) throws {
        let scratch = Scratch()
        var options = FilmCopy.Options()
        let tracks = try AssetReader(url: TestAssets.path(name)).tracks
        options.tracks = [tracks[0].id]
        try FilmCopy(from: TestAssets.path(name), to: scratch.path("film.m3u8"), options: options).run()
        let line = try #require(TextFile.contents(of: scratch.path("film.master.m3u8"))?.split(separator: "\n").dropLast().last)
        let isSound = tracks[0].kind == .audio
        #expect(line.hasSuffix("CODECS=\"\(codec)\"" + (isSound ? "" : ",RESOLUTION=320x180,FRAME-RATE=30.000") + range), "\(line)")
    }

    @Test func `a track without a sample has no file`() throws {
        let scratch = Scratch(), reader = try AssetReader(url: TestAssets.demo)
        let writer = try AssetWriter(path: scratch.path("film.mpd"))
        let inputs = try reader.tracks.map { try writer.addInput(TrackDescription($0)) }
        try writer.start()
        inputs[1].markAsFinished()
        while let sample = try reader.nextSample() { if sample.trackID == 0 { try inputs[0].append(sample) } }
        try writer.finish()
        #expect(scratch.names == ["film.0.mp4", "film.mpd"])
        #expect(try AssetReader(url: scratch.path("film.mpd")).tracks.count == 1)
    }

    @Test(arguments: ["film.m3u8", "film.mp4"]) func `sound that begins after the first fragments begins there`(name: String) throws {
        let scratch = Scratch(), reader = try AssetReader(url: TestAssets.demo)
        var options = AssetWriterOptions(), wanted: MediaTime?, found: MediaTime?
        options.isFragmented = true
        options.segmentDuration = seconds(2)
        let writer = try AssetWriter(path: scratch.path(name), options: options)
        let inputs = try reader.tracks.map { try writer.addInput(TrackDescription($0)) }
        try writer.start()
        while let sample = try reader.nextSample() {
            if sample.trackID == 1, sample.presentationTime < seconds(5) { continue }
            if sample.trackID == 1, wanted == nil { wanted = sample.presentationTime }
            try inputs[sample.trackID].append(sample)
        }
        try writer.finish()
        let film = try AssetReader(url: scratch.path("film.mp4"))
        while found == nil, let sample = try film.nextSample() { if sample.trackID == 1 { found = sample.presentationTime } }
        let begin = try #require(wanted), made = try #require(found)
        #expect(abs((made - begin).seconds) < 0.001, "\(made) instead of \(begin)")
    }

    @Test func `a list whose film fails ends with what there is`() throws {
        let scratch = Scratch(), path = scratch.path("film.m3u8")
        let reader = try AssetReader(url: TestAssets.demo)
        var first: SampleBuffer?
        while first == nil || first?.trackID != 0 { first = try reader.nextSample() }
        let early = try #require(first)
        #expect(throws: WritingError.self) {
            var options = AssetWriterOptions()
            options.segmentDuration = seconds(2)
            let source = try AssetReader(url: TestAssets.demo), writer = try AssetWriter(path: path, options: options)
            let inputs = try source.tracks.map { try writer.addInput(TrackDescription($0)) }
            try writer.start()
            var count = 0
            while let sample = try source.nextSample() {
                try inputs[sample.trackID].append(sample)
                count += 1
                if count == 500 { try inputs[0].append(early) }
            }
        }
        #expect(scratch.names == ["film.m3u8", "film.master.m3u8", "film.mp4"])
        let text = try #require(TextFile.contents(of: path)), size = (TextFile.bytes(of: scratch.path("film.mp4")) ?? []).count
        let list = segments(text)
        #expect(text.hasSuffix("#EXT-X-ENDLIST\n") && list.count >= 2 && list.last?.range.upperBound == size, "\(text)")
    }

    @Test(.enabled(if: Probe.isThere, "no ffmpeg and ffprobe"))
    func `a manifest says what each track needs and where its parts are`() throws {
        let scratch = Scratch(), path = scratch.path("film.mpd")
        let writer = try feed(path) { _ in }
        #expect(scratch.names.allSatisfy { $0.hasSuffix(".part") }, "nothing has its name before all is whole")
        try writer.finish()
        #expect(scratch.names == ["film.0.mp4", "film.1.mp4", "film.mpd"])
        let text = try #require(TextFile.contents(of: path))
        for part in [
            "mediaPresentationDuration=\"PT10.0", "codecs=\"avc1.64001e\"", "width=\"640\" height=\"360\" frameRate=\"30/1\"",
            "codecs=\"mp4a.40.2\"", "audioSamplingRate=\"48000\"", "<BaseURL>film.1.mp4</BaseURL>",
        ] { #expect(text.contains(part), "\(part) in \(text)") }
        // Each index lies where the manifest says, and its parts make up the rest of the file.
        for (number, line) in text.split(separator: "\n").filter({ $0.contains("indexRange") }).enumerated() {
            let numbers = line.split { !$0.isNumber }.compactMap { Int($0) }
            let bytes = try #require(TextFile.bytes(of: scratch.path("film.\(number).mp4")))
            let index = Array(bytes[numbers[0]...numbers[1]])
            #expect(String(decoding: index[4..<8], as: UTF8.self) == "sidx")
            let count = Int(index[30]) << 8 | Int(index[31]) == 0 ? Int(index[38]) << 8 | Int(index[39]) : Int(index[30]) << 8 | Int(index[31])
            #expect(count >= 5, "\(count) parts")
        }
        let wanted = Probe.hashes(TestAssets.demo)
        for track in 0..<2 { #expect(Probe.hashes(scratch.path("film.\(track).mp4"))[0] == wanted[track]) }
        #expect(Probe.frames(path) == Probe.frames(TestAssets.demo))
        // Another one of these names is refused, and a cancelled one leaves nothing.
        let error = #expect(throws: WritingError.self) { _ = try feed(path) { _ in } }
        #expect(error?.code == .exists && scratch.names.count == 3)
        try feed(scratch.path("other.mpd")) { _ in }.cancel()
        #expect(scratch.names.count == 3)
    }

    @Test func `neither file is replaced, and none is left when it is cancelled`() throws {
        let scratch = Scratch(), list = scratch.path("film.m3u8")
        for name in ["film.m3u8", "film.mp4", "film.master.m3u8"] {
            let path = scratch.path(name)
            scratch.write([1], name)
            let error = #expect(throws: WritingError.self) { _ = try AssetWriter(path: list) }
            #expect(error?.code == .exists && error?.description == "\(path): there is a file of this name already.")
            #expect(scratch.names.count == 1)
            _ = unsafe unlink(path)
        }
        let reader = try AssetReader(url: TestAssets.demo), writer = try AssetWriter(path: list)
        let inputs = try reader.tracks.map { try writer.addInput(TrackDescription($0)) }
        try writer.start()
        while let sample = try reader.nextSample() { try inputs[sample.trackID].append(sample) }
        writer.cancel()
        #expect(scratch.names == [])
        var options = AssetWriterOptions()
        options.movesIndexToFront = true
        let error = #expect(throws: WritingError.self) { _ = try AssetWriter(path: list, options: options) }
        #expect(error?.code == .unsupported && scratch.names == [])
    }
}
