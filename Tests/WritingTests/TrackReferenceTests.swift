import Demuxing
import Media
import SampleQueue
import TestSupport
import Testing

@testable import Writing

/// What tracks are to each other, in MP4 and MOV.
@Suite(.enabled(if: Probe.isThere, "no ffmpeg and ffprobe"))
struct TrackReferenceTests {
    enum Form: CaseIterable { case whole, front, fragmented, streamed }

    /// The demo's video names its sound, and the sound the video.
    private func write(_ path: String, _ form: Form, chapters: Bool = false) throws {
        var options = AssetWriterOptions()
        options.movesIndexToFront = form == .front
        options.isFragmented = form == .fragmented
        if chapters {
            options.chapters = [AssetChapter(range: MediaTimeRange(start: .zero, end: MediaTime(value: 5, timescale: 1)), title: "First")]
        }
        let reader = try AssetReader(url: TestAssets.demo), writer = try AssetWriter(path: path, options: options)
        let inputs = try reader.tracks.map { try writer.addInput(TrackDescription($0)) }
        try inputs[1].addTrackReference(.synchronization, to: inputs[0])
        try inputs[1].addTrackReference(.description, to: inputs[0])
        try inputs[1].addTrackReference(.description, to: inputs[0])
        try inputs[0].addTrackReference(.selectionFollower, to: inputs[1])
        try writer.start()
        #expect(throws: WritingError.self) { try inputs[0].addTrackReference(.subtitles, to: inputs[1]) }
        while let sample = try reader.nextSample() { try inputs[sample.trackID].append(sample) }
        try writer.finish()
    }

    @Test(arguments: ["mp4", "mov"], Form.allCases)
    func `the reader and the boxes say what the writer was told`(ending: String, form: Form) throws {
        let scratch = Scratch(), film = scratch.path("film.\(form == .streamed ? "mp4" : ending)")
        try write(form == .streamed ? scratch.path("film.m3u8") : film, form)
        let tracks = try AssetReader(url: film, options: AssetReaderOptions(isThorough: true)).tracks
        #expect(tracks[0].references == [TrackReference(.selectionFollower, [1])])
        #expect(tracks[1].references == [TrackReference(.synchronization, [0]), TrackReference(.description, [0])])
        let boxes = BoxReader(try #require(TextFile.bytes(of: film)))
        #expect(boxes.faults == [])
        #expect(boxes.tracks.map(\.references) == [["folw": [2]], ["sync": [1], "cdsc": [1]]])
        let hashes = Probe.hashes(film), wanted = Probe.hashes(TestAssets.demo)
        #expect(hashes == wanted)
    }

    @Test(arguments: ["mp4", "mov"])
    func `they stand beside the titles of chapters, and go along with a copy`(ending: String) throws {
        let scratch = Scratch(), first = scratch.path("first.\(ending)"), second = scratch.path("second.mp4")
        try write(first, .whole, chapters: true)
        try FilmCopy(from: first, to: second).run()
        for path in [first, second] {
            let boxes = BoxReader(try #require(TextFile.bytes(of: path)))
            #expect(boxes.faults == [] && boxes.tracks[0].references == ["chap": [3], "folw": [2]])
            let reader = try AssetReader(url: path, options: AssetReaderOptions(isThorough: true))
            #expect(reader.chapters.map(\.title) == ["First"])
            #expect(reader.tracks[0].references == [TrackReference(.chapterList, [2]), TrackReference(.selectionFollower, [1])])
        }
    }

    @Test func `other containers refuse them`() throws {
        let scratch = Scratch()
        for ending in ["mkv", "ts", "mpd"] {
            let reader = try AssetReader(url: TestAssets.demo), writer = try AssetWriter(path: scratch.path("film.\(ending)"))
            let inputs = try reader.tracks.map { try writer.addInput(TrackDescription($0)) }
            let error = #expect(throws: WritingError.self) { try inputs[0].addTrackReference(.subtitles, to: inputs[1]) }
            #expect(error?.code == .unsupported)
            writer.cancel()
        }
        #expect(scratch.names == [])
    }

    /// A track with two chunks; the second lies where an index that grows moves it beyond what four bytes can say.
    @Test(arguments: [(UInt32.max - 100, 50, 50, "stco"), (UInt32.max - 100, 200, 208, "co64")])
    func `chunks that lie too far away take places of eight bytes`(last: UInt32, growth: Int, moved: Int, name: String) throws {
        func box(_ name: String, _ content: [UInt8]) -> [UInt8] { MovieBox.box(name, content) }
        var places = [UInt8](repeating: 0, count: 4) + MovieBox.bigEndian(2, 4) + MovieBox.bigEndian(5000, 4)
        places += MovieBox.bigEndian(Int64(last), 4)
        let track = box("trak", box("mdia", box("minf", box("stbl", box("stco", places)))))
        var movie = MovieBox(box("moov", track + box("free", [])))
        let distance = movie.moveChunks(behind: 1000, by: Int64(growth))
        #expect(distance == Int64(moved) && movie.number(at: 0, 4) == Int64(movie.bytes.count))
        let size = name == "co64" ? 8 : 4
        var expected = [UInt8](repeating: 0, count: 4) + MovieBox.bigEndian(2, 4)
        expected += MovieBox.bigEndian(Int64(5000 + moved), size)
        expected += MovieBox.bigEndian(Int64(last) + Int64(moved), size)
        let table = box("trak", box("mdia", box("minf", box("stbl", box(name, expected)))))
        #expect(movie.bytes == box("moov", table + box("free", [])))
    }
}
