import Bitstream
import Media
import SampleQueue
import TestSupport
import Testing

@testable import Demuxing

/// Third-party raw streams, without decoding: what the reader makes of them against libavformat's demuxer and against the sizes
/// that are known of the films.
@Suite("Raw films' access units", .enabled(if: MediaCatalog.shared != nil, Comment(rawValue: MediaCatalog.absence)))
struct RawFilmTests {
    static let films = (MediaCatalog.shared?.sweep ?? []).filter { $0.container == "annexb" && NALCodec(VideoCodec(name: $0.codec)) != nil }
    static let whole = films.filter { $0.group != "malformed" }

    /// Films in which the two differ, and how.
    static let differences: [String: String] = [
        // One reference frame: the demuxer takes every frame that begins with an intra slice for one where decoding can begin.
        "h264-jvt/jvt/BA1_Sony_D.jsv": "16 sync flags",
        "h264-jvt/jvt/BASQP1_Sony_C.jsv": "3 sync flags",
        "h264-jvt/jvt/NL1_Sony_D.jsv": "16 sync flags",
        // Slices are missing: by 7.4.1.2.4 the rest are 15 frames; the demuxer goes by the count of macroblocks.
        "h264-misc/edge264/finish-frame.264": "15 samples, 12 there, 12 payloads, 2 sync flags",
        // A sequence parameter set and nothing else: no frame.
        "h264-misc/edge264/max-logs.264": "0 samples, 1 there",
        // The demuxer leaves each prefix unit with the frame before the one that it describes.
        "h264-misc/fuzzcorpus/MVCSPS-2_old.264": "9 payloads",
        // The end of the sequence, and what stands behind it, belong to the frame before (7.4.2.4.4); the demuxer leaves them to the
        // next one, or makes a sample without a frame of them.
        "hevc/dovi_tool/no_aud_bl.hevc": "2 payloads",
        "hevc/dovi_tool/regular.hevc": "259 samples, 260 there, 3 payloads",
    ]

    /// One access unit, comparable.
    private struct Unit: Equatable {
        var bytes: [UInt8]
        var decodeTime: MediaTime
        var duration: MediaTime
        var flags: SampleFlags
        var format: VideoFormat?

        init(_ sample: SampleBuffer) {
            bytes = []
            if case .compressed(let block, .video(let video)) = sample.content {
                bytes = unsafe block.withUnsafeBytes { unsafe Array($0) }
                format = video
            }
            decodeTime = sample.decodeTime
            duration = sample.duration
            flags = sample.flags
        }

        var units: [[UInt8]] { NALPackaging.startCodes.units(in: bytes) }
    }

    private func units(_ bytes: [UInt8], _ codec: NALCodec, cutting dice: Dice? = nil) -> [Unit] {
        ElementaryStreamReaderTests.samples(bytes, ElementaryStreamReader(codec: codec), cutting: dice).map { Unit($0) }
    }

    @Test("do not depend on the pieces in which the bytes come", arguments: films)
    func pieces(film: MediaCatalog.Film) throws {
        let catalog = try #require(MediaCatalog.shared), codec = try #require(NALCodec(VideoCodec(name: film.codec)))
        let bytes = try #require(TextFile.bytes(of: catalog.path(film.path)))
        let seed = film.path.utf8.reduce(7 as UInt64) { $0 &* 31 &+ UInt64($1) }
        #expect(units(bytes, codec, cutting: Dice(seed: seed)) == units(bytes, codec), "seed \(seed)")
    }

    @Test("are the demuxer's", arguments: whole)
    func accessUnits(film: MediaCatalog.Film) throws {
        let catalog = try #require(MediaCatalog.shared), codec = try #require(NALCodec(VideoCodec(name: film.codec)))
        let bytes = try #require(TextFile.bytes(of: catalog.path(film.path)))
        let ours = units(bytes, codec)
        let reader = try AssetReader(url: catalog.path(film.path))
        var theirs: [Unit] = []
        while let sample = try reader.nextSample() { theirs.append(Unit(sample)) }
        var found: [String] = []
        if ours.count != theirs.count { found.append("\(ours.count) samples, \(theirs.count) there") }
        func count(_ what: String, _ differs: (Unit, Unit) -> Bool) {
            let number = zip(ours, theirs).count { differs($0, $1) }
            if number > 0 { found.append("\(number) \(what)") }
        }
        count("payloads") { $0.units != $1.units }
        count("sync flags") { $0.flags.contains(.sync) != $1.flags.contains(.sync) }
        count("durations") { $0.duration != $1.duration }
        #expect(found.joined(separator: ", ") == Self.differences[film.path] ?? "", "\(film.path)")
    }

    @Test("say their size", arguments: whole.filter { !$0.size.isEmpty })
    func size(film: MediaCatalog.Film) throws {
        let catalog = try #require(MediaCatalog.shared), codec = try #require(NALCodec(VideoCodec(name: film.codec)))
        let bytes = try #require(TextFile.bytes(of: catalog.path(film.path)))
        let format = try #require(units(bytes, codec).first?.format)
        #expect("\(format.visible.width)x\(format.visible.height)" == film.size)
    }
}
