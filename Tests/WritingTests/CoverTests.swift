import Demuxing
import Media
import SampleQueue
import TestSupport
import Testing
import Writing

/// Covers, as MP4, MOV and Matroska hold them.
@Suite(.enabled(if: Probe.isThere, "no ffmpeg and ffprobe"))
struct CoverTests {
    /// An image made by FFmpeg.
    private func image(_ scratch: Scratch, _ name: String) throws -> [UInt8] {
        _ = Probe.lines("ffmpeg -nostdin -v error -f lavfi -i color=red:size=46x32 -frames:v 1 '\(scratch.path(name))' 2>&1")
        return try #require(TextFile.bytes(of: scratch.path(name)))
    }

    /// The bytes of the cover that a file has.
    private func cover(_ path: String) throws -> [UInt8]? {
        let reader = try AssetReader(url: path)
        guard let track = reader.tracks.first(where: { $0.kind == .attachedPicture }) else { return nil }
        reader.select([track.id])
        guard let sample = try reader.nextSample(), case .compressed(let block, _) = sample.content else { return nil }
        return unsafe block.withUnsafeBytes { unsafe Array($0) }
    }

    @Test(arguments: ["mp4", "mov", "mkv", "fragmented.mp4", "fragmented.mov", "m3u8"], ["cover.jpg", "cover.png"])
    func `a program's own cover is in the file, and the film beside it is whole`(ending: String, name: String) throws {
        let scratch = Scratch(), path = scratch.path("film.\(ending)"), bytes = try image(scratch, name)
        var options = FilmCopy.Options()
        let image = try #require(CoverImage(bytes) as CoverImage?)
        #expect(image.size == PixelSize(width: 46, height: 32))
        options.writer.cover = image
        options.writer.isFragmented = ending.hasPrefix("fragmented")
        try FilmCopy(from: TestAssets.demo, to: path, options: options).run()
        let film = ending == "m3u8" ? scratch.path("film.mp4") : path
        #expect(try cover(film) == bytes)
        if ending != "mkv" { #expect(BoxReader(try #require(TextFile.bytes(of: film))).faults == []) }
        let hashes = Probe.hashes(film), wanted = Probe.hashes(TestAssets.demo)
        #expect(hashes[0] == wanted[0] && hashes[1] == wanted[1])
    }

    @Test(arguments: ["mp4", "mov", "mkv"], [false, true])
    func `the cover of a film goes along, copied or encoded anew`(ending: String, encodes: Bool) throws {
        let scratch = Scratch(), path = scratch.path("film.\(ending)"), source = TestAssets.path("cover.m4a")
        if encodes {
            let session = try ExportSession(from: source, to: path)
            try session.run()
            #expect(session.notices.allSatisfy { !$0.contains("left out") }, "\(session.notices)")
        } else {
            let film = try FilmCopy(from: source, to: path)
            #expect(film.notices == [])
            try film.run()
        }
        let original = try cover(source)
        #expect(try original != nil && cover(path) == original)
        // And back again.
        let back = scratch.path("back.mp4")
        try FilmCopy(from: path, to: back).run()
        #expect(try cover(back) == original)
    }

    @Test func `what is no image and a container without a place for one are refused`() throws {
        let scratch = Scratch(), bytes = try image(scratch, "cover.jpg")
        #expect(CoverImage([]) == nil && CoverImage(Array("GIF89a".utf8)) == nil && CoverImage(Array(bytes.prefix(20))) == nil)
        for ending in ["webm", "ts"] {
            var options = AssetWriterOptions()
            options.cover = CoverImage(bytes)
            let error = #expect(throws: WritingError.self) { _ = try AssetWriter(path: scratch.path("film.\(ending)"), options: options) }
            #expect(error?.code == .unsupported && error?.description.hasSuffix("has no place for a cover.") == true)
        }
        #expect(scratch.names == ["cover.jpg"])
    }
}
