import Bitstream
import Decoding
import Demuxing
import Media
import SampleQueue
import TestSupport
import Testing

/// Raw films read by the project's own reader, in pieces of random length, against libavformat's demuxer.
@Suite("Raw films in pieces", .enabled(if: MediaCatalog.shared != nil, Comment(rawValue: MediaCatalog.absence)))
struct ElementaryStreamFilmTests {
    static let films: [String] = (MediaCatalog.shared?.sweep ?? []).filter { film in
        ["h264", "hevc"].contains(film.codec) && film.group != "malformed"
            && !["mp4", "mkv", "mov", "ts", "webm", "m3u8", "flv", "avi", "mxf", "m4s", "MTS", "m2ts"].contains { film.path.hasSuffix(".\($0)") }
    }.map(\.path)

    /// Films in which the two rightly differ.
    static let differences = [
        "h264-misc/edge264/finish-frame.264":
            "frames of which slices are missing: by 7.4.1.2.4 they are 12, by the demuxer's count of macroblocks 9"
    ]

    @Test("give the demuxer's frames", arguments: films)
    func frames(path: String) throws {
        let catalog = try #require(MediaCatalog.shared)
        let bytes = try #require(TextFile.bytes(of: catalog.path(path)))
        let container = try AssetReader(url: catalog.path(path)).containerName
        guard let codec = NALCodec(VideoCodec(name: container)) else { return }
        let expected = try FilmDecoder.frames(of: catalog.path(path))
        let seed = path.utf8.reduce(7 as UInt64) { $0 &* 31 &+ UInt64($1) }
        var random = Dice(seed: seed)
        var decoder = FilmDecoder()
        let reader = ElementaryStreamReader(codec: codec)
        var position = 0
        while position < bytes.count {
            let end = min(bytes.count, position + Int.random(in: 1...(Bool.random(using: &random) ? 20 : 20_000), using: &random))
            reader.append(Array(bytes[position..<end]))
            position = end
            while let sample = reader.nextSample() { try decoder.decode(sample) }
        }
        reader.finish()
        while let sample = reader.nextSample() { try decoder.decode(sample) }
        decoder.finish()
        let same = zip(decoder.frames, expected).prefix { $0.hash == $1.hash }.count
        #expect(
            (decoder.frames.map(\.hash) == expected.map(\.hash)) == (Self.differences[path] == nil),
            "seed \(seed): the first \(same) of \(expected.count) frames agree, \(decoder.frames.count) came")
    }
}
