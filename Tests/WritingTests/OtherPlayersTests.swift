import Demuxing
import Foundation
import Media
import SampleQueue
import TestSupport
import Testing
import Writing

/// What other people's programs make of the files that are written: each plays to its end.
@Suite(.enabled(if: Probe.isThere, "no ffmpeg and ffprobe"))
struct OtherPlayersTests {
    struct Row: CustomTestStringConvertible, Sendable {
        var source: String
        var ending: String
        var change: @Sendable (inout AssetWriterOptions) -> Void = { _ in }
        var testDescription: String { "\(source) to \(ending)" }
    }

    static let rows: [Row] = [
        Row(source: "demo.mp4", ending: "mp4"), Row(source: "demo.mp4", ending: "mov"), Row(source: "demo.mp4", ending: "mkv"),
        Row(source: "demo.mp4", ending: "ts"), Row(source: "vp9.webm", ending: "webm"), Row(source: "demo.mp4", ending: "m3u8"),
        Row(source: "demo.mp4", ending: "fragmented.mp4") { $0.isFragmented = true },
        Row(source: "demo.mp4", ending: "fragmented.mkv") { $0.isFragmented = true },
        Row(source: "demo.mp4", ending: "faststart.mp4") { $0.movesIndexToFront = true },
        Row(source: "edit-list.mp4", ending: "mp4"),
    ]

    private func copy(_ row: Row, _ scratch: Scratch, from start: Int64? = nil) throws -> String {
        let path = scratch.path("film.\(row.ending)")
        var options = FilmCopy.Options()
        row.change(&options.writer)
        options.writer.segmentDuration = MediaTime(value: 2, timescale: 1)
        if let start {
            options.timeRange = MediaTimeRange(start: MediaTime(value: start, timescale: 1), duration: MediaTime(value: 3, timescale: 1))
        }
        try FilmCopy(from: TestAssets.path(row.source), to: path, options: options).run()
        return path
    }

    private func frameCount(_ name: String) throws -> Int {
        let reader = try AssetReader(url: TestAssets.path(name))
        var count = 0
        while let sample = try reader.nextSample() { if reader.tracks[sample.trackID].kind == .video { count += 1 } }
        return count
    }

    @Test(.enabled(if: Others.hasGStreamer, "no GStreamer with Python and decoders"), arguments: rows)
    func `GStreamer decodes every frame, to the end`(row: Row) throws {
        let scratch = Scratch(), lines = Others.gstreamer(try copy(row, scratch))
        #expect(lines.last == "end", "\(row.testDescription): \(lines)")
        // Where an edit list leaves frames out, GStreamer shows fewer than lie in the file.
        let wanted = try frameCount(row.source)
        if row.source != "edit-list.mp4" { #expect(lines.contains("video \(wanted)"), "\(row.testDescription): \(lines)") }
        if row.source == "demo.mp4" { #expect(lines.contains { $0.hasPrefix("audio 4") }, "\(row.testDescription): \(lines)") }
    }

    @Test(arguments: rows) func `FFmpeg decodes all of it without a complaint`(row: Row) throws {
        let scratch = Scratch(), path = try copy(row, scratch)
        let lines = Probe.lines("ffmpeg -nostdin -v warning -i '\(path)' -f null - 2>&1")
        #expect(lines == [], "\(row.testDescription)")
        let frames = Probe.frames(path)
        #expect(frames == Probe.frames(TestAssets.path(row.source)) && !frames.isEmpty, "\(row.testDescription)")
    }

    @Test(.enabled(if: Others.program("mpv") != nil, "no mpv"), arguments: rows)
    func `mpv plays it to the end without a complaint`(row: Row) throws {
        let scratch = Scratch(), outcome = Others.mpv(try copy(row, scratch))
        #expect(outcome?.code == 0 && outcome?.lines == [], "\(row.testDescription): \(outcome?.lines ?? [])")
    }

    @Test(.enabled(if: Others.program("mkvinfo") != nil, "no mkvinfo"), arguments: rows.filter { $0.ending.hasSuffix("mkv") || $0.ending == "webm" })
    func `mkvinfo reads every element`(row: Row) throws {
        let scratch = Scratch(), outcome = Others.mkvinfo(try copy(row, scratch))
        let frames = outcome?.lines.filter { $0.contains("Frame with size") || $0.contains("Simple block") }.count ?? 0
        let wanted = try frameCount(row.source)
        #expect(outcome?.code == 0 && frames >= wanted, "\(row.testDescription): \(outcome?.lines.suffix(3) ?? [])")
        #expect(outcome?.lines.contains { $0.contains("Cues") } == true)
    }

    @Test(.enabled(if: Others.hasGStreamer, "no GStreamer with Python and decoders"), arguments: rows.filter { ["mp4", "mov"].contains($0.ending) })
    func `a cut plays to its end, too`(row: Row) throws {
        let scratch = Scratch(), lines = Others.gstreamer(try copy(row, scratch, from: row.source == "demo.mp4" ? 4 : 0))
        #expect(lines.last == "end" && lines.contains { $0.hasPrefix("video ") && $0 != "video 0" }, "\(row.testDescription): \(lines)")
    }

    // MARK: Boxes

    @Test func `the reader of boxes notices what is wrong`() throws {
        let scratch = Scratch(), path = try copy(Self.rows[0], scratch)
        let bytes = try #require(TextFile.bytes(of: path)), whole = BoxReader(bytes)
        #expect(whole.faults == [] && whole.tracks.map(\.samples.count) == [300, 470])
        #expect(BoxReader(bytes.dropLast(9)).faults.count > 0)
        var moved = bytes
        let places = try #require(bytes.firstRange(of: Array("stco".utf8)))
        moved[places.upperBound + 11] &+= 1
        #expect(BoxReader(moved).tracks[0].samples != whole.tracks[0].samples)
        moved[places.upperBound + 8] = 0x70
        #expect(BoxReader(moved).faults.contains { $0.hasPrefix("track 1: a sample lies at") })
    }

    @Test(arguments: rows.filter { $0.ending.hasSuffix("mp4") || $0.ending == "mov" || $0.ending == "m3u8" })
    func `the sizes of boxes add up, and the index points at the samples`(row: Row) throws {
        let scratch = Scratch(), path = try copy(row, scratch)
        let file = path.hasSuffix(".m3u8") ? scratch.path("film.mp4") : path
        let boxes = BoxReader(try #require(TextFile.bytes(of: file)))
        #expect(boxes.faults == [], "\(row.testDescription)")
        let hashes = Probe.packets(file).sorted { $0.key < $1.key }.map { $0.value.map(\.hash) }
        try #require(boxes.tracks.count >= hashes.count, "\(row.testDescription)")
        for (track, wanted) in zip(boxes.tracks, hashes) {
            let found = track.samples.map { "MD5:" + Checksum.md5(Array(boxes.bytes[$0])) }
            #expect(found == wanted, "\(row.testDescription): \(found.count) and \(wanted.count) samples")
        }
    }
}
