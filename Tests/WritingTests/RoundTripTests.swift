import Demuxing
import Media
import SampleQueue
import TestSupport
import Testing
import Writing

/// What a display must know survives each container that has a place for it.
@Suite struct RoundTripTests {
    private func format(_ path: String) throws -> VideoFormat {
        let track = try #require(try AssetReader(url: path, options: AssetReaderOptions(isThorough: true)).tracks.first { $0.kind == .video })
        guard case .video(let format) = track.format else { throw Missing() }
        return format
    }

    private struct Missing: Error {}

    private func copied(_ name: String, _ ending: String) throws -> (VideoFormat, VideoFormat) {
        let scratch = Scratch(), path = scratch.path("copy.\(ending)")
        try FilmCopy(from: TestAssets.path(name), to: path).run()
        return try (format(TestAssets.path(name)), format(path))
    }

    @Test(arguments: [("mp4", false), ("mp4", true), ("mov", false), ("mkv", false), ("webm", false)])
    func `HDR metadata and colours`(ending: String, fragmented: Bool) throws {
        var attributes = try format(TestAssets.path("hdr10.mp4")).attributes
        attributes.hdr = HDRStaticMetadata(
            red: .init(x: 34000, y: 16000), green: .init(x: 13250, y: 34500), blue: .init(x: 7500, y: 3000), white: .init(x: 15635, y: 16450),
            maximumLuminance: 10_000_000, minimumLuminance: 50, maximumContentLightLevel: 1000, maximumFrameAverageLightLevel: 400)
        let copy = try rewritten(ending == "webm" ? "vp9.webm" : "hdr10.mp4", ending, attributes, fragmented: fragmented).attributes
        #expect(copy.hdr == attributes.hdr)
        #expect(copy.color.primaries == attributes.color.primaries && copy.color.transfer == 16)
        // VP9 says itself which matrix and range it has.
        if ending != "webm" { #expect(copy.color == attributes.color) }
    }

    /// A copy of a film without sound whose container says something else about the frames.
    private func rewritten(_ name: String, _ ending: String, _ attributes: FrameAttributes, fragmented: Bool = false) throws -> VideoFormat {
        let scratch = Scratch(), path = scratch.path("film.\(ending)")
        let reader = try AssetReader(url: TestAssets.path(name), options: AssetReaderOptions(isThorough: true))
        guard case .video(var format) = reader.tracks[0].format else { throw Missing() }
        format.attributes = attributes
        var options = AssetWriterOptions()
        options.isFragmented = fragmented
        let writer = try AssetWriter(path: path, options: options)
        let input = try writer.addInput(TrackDescription(format: .video(format), timeBase: reader.tracks[0].timeBase))
        try writer.start()
        while let sample = try reader.nextSample() { try input.append(sample) }
        try writer.finish()
        return try self.format(path)
    }

    @Test(arguments: ["mp4", "mov"])
    func `rotation`(ending: String) throws {
        let (source, copy) = try copied("rotation-90.mp4", ending)
        #expect(source.attributes.orientation.rotation == .clockwise90 && copy.attributes.orientation == source.attributes.orientation)
    }

    @Test(arguments: ["mp4", "mov", "mkv", "ts"])
    func `pixel aspect`(ending: String) throws {
        let (source, copy) = try copied("pixel-aspect-2.mp4", ending)
        #expect(source.attributes.pixelAspect.doubleValue == 2 && copy.attributes.pixelAspect.doubleValue == 2)
    }

    @Test func `every orientation has its matrix`() throws {
        for rotation in [FrameOrientation.Rotation.none, .clockwise90, .clockwise180, .clockwise270] {
            for isMirrored in [false, true] {
                let orientation = FrameOrientation(rotation: rotation, isMirrored: isMirrored)
                let copy = try rewritten("plain.mp4", "mp4", FrameAttributes(orientation: orientation))
                #expect(copy.attributes.orientation == orientation)
            }
        }
    }

    @Test(.enabled(if: Probe.isThere, "no ffprobe"), arguments: ["mp4", "mov", "mkv"])
    func `texts, languages and chapters`(ending: String) throws {
        let scratch = Scratch(), path = scratch.path("told.\(ending)")
        let reader = try AssetReader(url: TestAssets.demo)
        var options = AssetWriterOptions()
        options.metadata = ["title": "Übung"]
        let five = MediaTime(value: 5, timescale: 1)
        options.chapters = [
            AssetChapter(range: MediaTimeRange(start: .zero, end: five), title: "First"),
            AssetChapter(range: MediaTimeRange(start: five, duration: five), title: "Second"),
        ]
        let writer = try AssetWriter(path: path, options: options)
        var inputs: [AssetWriterInput] = []
        for track in reader.tracks {
            var description = TrackDescription(track)
            description.language = "ger"
            inputs.append(try writer.addInput(description))
        }
        try writer.start()
        while let sample = try reader.nextSample() { try inputs[sample.trackID].append(sample) }
        try writer.finish()
        let again = try AssetReader(url: path)
        #expect(again.title == "Übung" && again.tracks.prefix(2).allSatisfy { $0.language == "ger" })
        #expect(again.metadata["title"] == "Übung" && again.chapters == options.chapters)
        let chapters = Probe.lines("ffprobe -v quiet -show_chapters -of default=nw=1 '\(path)'")
        #expect(chapters.filter { $0.hasPrefix("TAG:title=") } == ["TAG:title=First", "TAG:title=Second"])
        #expect(chapters.filter { $0.hasPrefix("start_time=") }.compactMap { Double($0.dropFirst(11)) } == [0, 5])
    }

    @Test func `the index lies in front where that is wanted`() throws {
        let scratch = Scratch(), path = scratch.path("fast.mp4")
        var options = FilmCopy.Options()
        options.writer.movesIndexToFront = true
        try FilmCopy(from: TestAssets.demo, to: path, options: options).run()
        let bytes = try #require(TextFile.bytes(of: path))
        let index = try #require(bytes.firstRange(of: Array("moov".utf8))), content = try #require(bytes.firstRange(of: Array("mdat".utf8)))
        #expect(index.lowerBound < content.lowerBound && scratch.names == ["fast.mp4"])
        let copied = Probe.hashes(path), source = Probe.hashes(TestAssets.demo)
        #expect(copied == source)
    }
}
