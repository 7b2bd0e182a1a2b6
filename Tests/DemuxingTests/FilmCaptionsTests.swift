import Foundation
import Media
import SampleQueue
import Sandbox
import TestSupport
import Testing

@testable import Demuxing

/// Captions inside the frames of films, as a track of their own.
@Suite(.enabled(if: MediaCatalog.shared != nil, "\(MediaCatalog.absence)")) struct FilmCaptionsTests {
    private static let sandbox = SandboxOptions(policy: .full, decoderPath: BuiltPrograms.decoder, hangDeadline: .seconds(60))

    private static func path(_ name: String) throws -> String { try #require(MediaCatalog.shared).path(name) }

    private struct Row: Hashable {
        var time: MediaTime
        var bytes: [UInt8]
    }

    private static func captions(_ reader: any AssetReading) -> [AssetTrack] { reader.tracks.filter(\.isInsideFrames) }

    /// The samples of these tracks up to the end, or to damage.
    private static func samples(_ reader: any AssetReading) -> [SampleBuffer] {
        var samples: [SampleBuffer] = []
        while let sample = try? reader.nextSample() { samples.append(sample) }
        return samples
    }

    /// The captions that are read, with the frames or alone.
    private static func rows(_ reader: any AssetReading, withFrames: Bool = true, from start: MediaTime? = nil) throws -> [Row] {
        let track = try #require(captions(reader).first)
        let frames = withFrames ? reader.tracks.filter { $0.kind == .video }.map(\.id) : []
        reader.select(Set(frames + [track.id]))
        if let start { try reader.seek(to: start) }
        let samples = samples(reader)
        #expect(withFrames == samples.contains { $0.trackID != track.id })
        return samples.filter { $0.trackID == track.id }.map(row)
    }

    private static func row(_ sample: SampleBuffer) -> Row {
        guard case .compressed(let block, _) = sample.content else { return Row(time: sample.presentationTime, bytes: []) }
        return unsafe Row(time: sample.presentationTime, bytes: block.withUnsafeBytes { unsafe Array($0) })
    }

    /// Without those that only say that there are none.
    private static func words(_ rows: [Row]) -> [Row] { rows.filter { $0.bytes != [0xfc, 0x80, 0x80] } }

    @Test(arguments: MediaCatalog.captioned) func `a captioned film has a track more, which is read where it is selected`(_ name: String) throws {
        let path = try Self.path(name), reader = try AssetReader(url: path), tracks = Self.captions(reader)
        let track = try #require(tracks.first)
        #expect(tracks == reader.tracks.suffix(tracks.count) && reader.tracks.map(\.id) == Array(reader.tracks.indices))
        #expect(track.format == .other("eia_608") && track.configuration.isEmpty)
        if name.hasSuffix(".ts") {
            #expect(tracks.dropFirst().map(\.format) == [.other("eia_608"), .other("eia_708")])
            #expect(tracks.dropFirst().map(\.configuration) == [[1], [1]])
        } else {
            #expect(tracks.count == 1, "there is no place for others")
        }
        #expect(track.kind == .subtitle && track.title == "Closed captions" && track.isHearingImpaired && !track.isDefault && track.isDecodable)
        let usual = Self.samples(reader), hidden = Set(tracks.map(\.id))
        #expect(!usual.isEmpty && usual.allSatisfy { !hidden.contains($0.trackID) })
        let tables = try SampleTable.read(AssetReader(url: path))
        #expect(tables.map(\.track.id) == reader.tracks.filter { !$0.isInsideFrames }.map(\.id))
        let other = try SandboxedReader(url: path, options: AssetReaderOptions(), sandbox: Self.sandbox)
        #expect(other.tracks == reader.tracks)
        #expect(Self.samples(other).map(\.trackID) == usual.map(\.trackID))
    }

    @Test(arguments: MediaCatalog.captioned) func `captions are the same with the frames and alone, here and in a sandbox`(_ name: String) throws {
        let path = try Self.path(name), rows = try Self.rows(AssetReader(url: path))
        #expect(Self.words(rows).count > 1 && rows.allSatisfy { $0.bytes.count % 3 == 0 && !$0.bytes.isEmpty })
        #expect(zip(rows, rows.dropFirst()).allSatisfy { $0.time <= $1.time }, "in the order of display")
        let gaps = zip(rows, rows.dropFirst()).map { ($1.time - $0.time).seconds }
        #expect(gaps.allSatisfy { $0 <= 1 }, "how far the film has been read is told: \(gaps)")
        #expect(try Self.rows(AssetReader(url: path), withFrames: false).map(\.bytes) == rows.map(\.bytes))
        for withFrames in [true, false] {
            let reader = try SandboxedReader(url: path, options: AssetReaderOptions(), sandbox: Self.sandbox)
            #expect(try Self.rows(reader, withFrames: withFrames).map(\.bytes) == rows.map(\.bytes))
        }
    }

    @Test func `after a seek captions come from there on`() throws {
        let path = try Self.path("ts-ps/shaka-player/captions-test.ts"), all = try Self.words(Self.rows(AssetReader(url: path)))
        let start = MediaTime(value: 12, timescale: 1)
        let readers: [any AssetReading] = [
            try AssetReader(url: path), try SandboxedReader(url: path, options: AssetReaderOptions(), sandbox: Self.sandbox),
        ]
        for reader in readers {
            let rows = try Self.words(Self.rows(reader, from: start)), first = try #require(rows.first)
            #expect(first.time <= start && rows.count < all.count)
            #expect(rows == all.filter { $0.time >= first.time })
            // Back again.
            #expect(try Self.words(Self.rows(reader, from: .zero)) == all)
        }
    }

    @Test(arguments: [("film.ts", "mpeg2video"), ("film.mkv", "libx264"), ("film.mov", "libx264")])
    func `captions in other codecs and containers`(_ name: String, _ codec: String) throws {
        let folder = NSTemporaryDirectory() + "captions-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let source = try Self.path("ts-ps/mux.js/sintel-captions.ts"), path = "\(folder)/\(name)"
        // Two frames between each two that are coded from earlier ones only.
        try FFmpeg.run(["-i", source, "-an", "-c:v", codec, "-bf", "2", "-a53cc", "1", path])
        let expected = try Self.words(Self.rows(AssetReader(url: source))), rows = try Self.words(Self.rows(AssetReader(url: path)))
        #expect(rows.map(\.bytes) == expected.map(\.bytes))
        let times = zip(rows, expected).map { ($0.time - $1.time).seconds }
        #expect(times.allSatisfy { abs($0 - (times.first ?? 0)) < 0.002 }, "\(times)")
    }

    @Test func `of a film that was cut short, captions come before the error`() throws {
        let source = try Self.path("ts-ps/mux.js/sintel-captions.ts"), path = NSTemporaryDirectory() + "cut-\(UUID().uuidString.prefix(8)).mp4"
        defer { try? FileManager.default.removeItem(atPath: path) }
        try FFmpeg.run(["-i", source, "-an", "-c:v", "libx264", "-bf", "2", "-a53cc", "1", "-movflags", "+faststart", path])
        let all = try Self.words(Self.rows(AssetReader(url: path))), whole = try Data(contentsOf: URL(fileURLWithPath: path))
        for part in 4...12 {
            try whole.prefix(whole.count * part / 16).write(to: URL(fileURLWithPath: path))
            let reader = try AssetReader(url: path), track = try #require(Self.captions(reader).first)
            reader.select(Set(reader.tracks.map(\.id)))
            var frames: Set<MediaTime> = [], captions: [Row] = [], failure: AssetError?
            do throws(AssetError) {
                while let sample = try reader.nextSample() {
                    if sample.trackID == track.id { captions.append(Self.row(sample)) } else { frames.insert(sample.presentationTime) }
                }
            } catch { failure = error }
            #expect(failure != nil)
            #expect(Self.words(captions) == all.filter { frames.contains($0.time) }, "\(part)/16")
        }
    }

    @Test func `a film without captions has no track of them`() throws {
        let reader = try AssetReader(url: TestAssets.demo)
        #expect(Self.captions(reader).isEmpty && !reader.tracks.isEmpty)
    }
}
