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
        var list = SegmentList(fileName: "a film#1.mp4")
        list.hasVideo = true
        list.headByteCount = 800
        list.note(isVideo: true, end: seconds(4))
        // Sound that lasts longer than the last frame.
        list.note(isVideo: false, end: seconds(4.2))
        list.endSegment(at: seconds(4), byteCount: 5000)
        list.note(isVideo: true, end: seconds(6.5))
        list.endSegment(at: nil, byteCount: 6000)
        // Nothing has come since.
        list.endSegment(at: nil, byteCount: 6000)
        #expect(
            list.text == """
                #EXTM3U
                #EXT-X-VERSION:7
                #EXT-X-TARGETDURATION:4
                #EXT-X-MEDIA-SEQUENCE:0
                #EXT-X-PLAYLIST-TYPE:VOD
                #EXT-X-INDEPENDENT-SEGMENTS
                #EXT-X-MAP:URI="a%20film%231.mp4",BYTERANGE="800@0"
                #EXTINF:4.000000,
                #EXT-X-BYTERANGE:4200@800
                a%20film%231.mp4
                #EXTINF:2.500000,
                #EXT-X-BYTERANGE:1000@5000
                a%20film%231.mp4
                #EXT-X-ENDLIST

                """)
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
        #expect(scratch.names == ["film.m3u8", "film.mp4"])
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

    @Test(.enabled(if: Probe.isThere, "no ffmpeg and ffprobe"))
    func `it plays over HTTP, for us and for others`() throws {
        let scratch = Scratch()
        try copy("demo.mp4", scratch.path("a film.m3u8"))
        let files = ["/a%20film.m3u8": "a film.m3u8", "/a%20film.mp4": "a film.mp4"].mapValues { TextFile.bytes(of: scratch.path($0)) ?? [] }
        let server = LyingServer { request in
            let name = request.path.hasPrefix("/") ? request.path : "/" + request.path
            guard let bytes = files[name] else { return LyingServer.Answer(status: "404 Not Found", headers: ["Content-Length: 0"]) }
            return .file(bytes, request)
        }
        defer { server.stop() }
        let address = server.address("a%20film.m3u8"), wanted = Probe.hashes(TestAssets.demo)
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
        #expect(server.requests.allSatisfy { $0.path.hasSuffix("film.m3u8") || $0.rangeStart != nil }, "parts are fetched by their bytes")
    }

    @Test func `neither file is replaced, and none is left when it is cancelled`() throws {
        let scratch = Scratch(), list = scratch.path("film.m3u8"), film = scratch.path("film.mp4")
        for path in [list, film] {
            scratch.write([1], path == list ? "film.m3u8" : "film.mp4")
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
