import Demuxing
import DisplaySink
import Foundation
import Media
import SampleQueue
import Sandbox
import TestSupport
import Testing

@testable import Subtitles

/// Captions of real films: what ffmpeg finds in the same frames, with the same words at the same times.
@Suite(.enabled(if: MediaCatalog.shared != nil, "\(MediaCatalog.absence)")) struct CaptionFilmTests {
    private static let sandbox = SandboxOptions(policy: .full, decoderPath: BuiltPrograms.decoder, hangDeadline: .seconds(60))
    private let stage: SubtitleStage

    init() throws { stage = try SubtitleStage() }

    struct Cue: Hashable {
        var start: Int64
        var end: Int64?
        var words: String
        /// It grew letter by letter.
        var isPainted = false
    }

    private static func path(_ name: String) throws -> String { try #require(MediaCatalog.shared).path(name) }

    /// What ffmpeg finds.
    private func reference(_ path: String) throws -> [Cue] {
        let file = stage.folder + "/reference.srt"
        try FFmpeg.run(["-f", "lavfi", "-i", "movie=\(path)[out0+subcc]", "-map", "s", file])
        let blocks = try String(contentsOfFile: file, encoding: .utf8).components(separatedBy: "\n\n")
        return blocks.compactMap { block in
            let lines = block.replacing("\r\n", with: "\n").split(separator: "\n").map(String.init)
            guard lines.count > 2 else { return nil }
            let times = lines[1].components(separatedBy: " --> ").map(Self.milliseconds)
            let words = lines[2...].joined(separator: "\n").replacing(/<[^>]*>|{[^}]*}/, with: "")
            return Cue(start: times[0], end: times[1], words: words)
        }
    }

    /// `00:00:01,869`.
    private static func milliseconds(_ text: String) -> Int64 {
        let parts = text.split { $0 == ":" || $0 == "," }.compactMap { Int64($0) }
        return ((parts[0] * 60 + parts[1]) * 60 + parts[2]) * 1000 + parts[3]
    }

    /// The samples of the film's captions, read with its frames or alone.
    private static func samples(_ reader: any AssetReading, withFrames: Bool = true) throws -> [SampleBuffer] {
        let captions = reader.tracks.filter { $0.format == .other("eia_608") && $0.configuration.isEmpty }
        #expect(captions.map(\.kind) == [.subtitle] && captions.map(\.title) == ["Closed captions"])
        let frames = withFrames ? reader.tracks.filter { $0.kind == .video } : []
        reader.select(Set((frames + captions).map(\.id)))
        var samples: [SampleBuffer] = []
        while let sample = try reader.nextSample() { if sample.trackID == captions.first?.id { samples.append(sample) } }
        return samples
    }

    /// What the decoder shows of these samples.
    private static func cues(_ samples: [SampleBuffer], configuration: [UInt8] = []) throws -> [Cue] {
        let decoder = try #require(SubtitleDecoder(codec: "eia_608", configuration: configuration))
        var cues: [Cue] = []
        for sample in samples.compactMap(SubtitleSample.init) {
            for case .screen(let start, let text) in decoder.decode(sample.block, start: sample.start, duration: sample.duration) {
                if let last = cues.indices.last, cues[last].end == nil { cues[last].end = start }
                let line = String(decoding: text, as: UTF8.self).split(separator: ",", maxSplits: 8, omittingEmptySubsequences: false)
                let words = String(line.last ?? "").replacing(/{[^}]*}/, with: "").replacing("\\N", with: "\n")
                if let last = cues.indices.last, cues[last].end == start, words.hasPrefix(cues[last].words) {
                    cues[last] = Cue(start: cues[last].start, end: nil, words: words, isPainted: true)
                } else if !words.isEmpty {
                    cues.append(Cue(start: start, end: nil, words: words))
                }
            }
        }
        return cues
    }

    @Test(arguments: MediaCatalog.captioned) func `words and times are those that ffmpeg finds`(_ name: String) throws {
        let path = try Self.path(name), expected = try reference(path)
        let samples = try Self.samples(AssetReader(url: path)), cues = try Self.cues(samples)
        try #require(!expected.isEmpty)
        #expect(cues.map(\.words) == expected.map(\.words))
        for (cue, other) in zip(cues, expected) {
            // For ffmpeg, words that are painted begin when those before have gone.
            #expect(cue.isPainted ? (other.start...other.start + 100).contains(cue.start) : cue.start == other.start, "\(cue)")
            // It makes up an end where nothing follows.
            #expect(cue.end == other.end || cue.end == nil && other == expected.last, "\(cue)")
        }
    }

    @Test(arguments: MediaCatalog.captioned) func `they are shown at their times, in a sandbox, too`(_ name: String) throws {
        let path = try Self.path(name), cues = try Self.cues(Self.samples(AssetReader(url: path)))
        let own = try SubtitleStage.play(path), other = try SubtitleStage.play(path, sandbox: Self.sandbox)
        defer {
            own.stop()
            other.stop()
        }
        for cue in cues {
            let end = cue.end ?? cue.start + 60_000
            for time in [cue.start - 1, cue.start, (cue.start + end) / 2, end - 1, end] {
                let isOn = cues.contains { $0.start <= time && time < $0.end ?? .max }, image = own.shown(at: time).map(SubtitlePixels.init)
                #expect((image != nil) == isOn, "\(time)")
                #expect(other.shown(at: time).map(SubtitlePixels.init) == image, "\(time)")
            }
        }
    }

    /// A copy of a film whose captions lie in the second field.
    private func moved(_ name: String) throws -> String {
        var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: Self.path(name))))
        let head: [UInt8] = [0x47, 0x41, 0x39, 0x34, 0x03]
        var index = 0, count = 0
        while let found = bytes[index...].firstRange(of: head) {
            let first = found.upperBound + 2
            for place in stride(from: first, to: first + 3 * Int(bytes[found.upperBound] & 31), by: 3) where bytes[place] == 0xfc {
                bytes[place] = 0xfd
                count += 1
            }
            index = first
        }
        #expect(count > 10)
        return try stage.write("moved.mp4", bytes)
    }

    @Test(arguments: MediaCatalog.captioned.prefix(2)) func `captions of the second field are those of the first, on a track of their own`(
        _ name: String
    ) throws {
        let path = try moved(name), reader = try AssetReader(url: path), track = try #require(reader.tracks.last)
        #expect(track.title == "Closed captions, second field" && track.format == .other("eia_608"))
        let expected = try Self.cues(Self.samples(AssetReader(url: Self.path(name))))
        reader.select([track.id])
        var samples: [SampleBuffer] = []
        while let sample = try reader.nextSample() { samples.append(sample) }
        let cues = try Self.cues(samples, configuration: track.configuration)
        #expect(!cues.isEmpty && cues == expected)
        let first = try Self.cues(Self.samples(AssetReader(url: path)))
        #expect(first.isEmpty, "nothing is left in the first one")
    }

    @Test func `after a seek they appear with the next change, and those that were read before are known`() throws {
        let path = try Self.path("ts-ps/shaka-player/captions-test.ts")
        for sandbox in [SandboxOptions(), Self.sandbox] {
            let reader = try AssetReader(url: path), track = try #require(reader.tracks.first { $0.format == .other("eia_608") })
            reader.select(Set(reader.tracks.map(\.id)))
            let engines = (0..<2).map { _ in SubtitleStage.engine(reader.tracks.compactMap(SubtitleTrack.init), sandbox: sandbox) }
            defer { for engine in engines { engine.stop() } }
            var engine = engines[0]
            func read(from start: Int64, to end: Int64) throws {
                try reader.seek(to: MediaTime(value: start, timescale: 1))
                engine.seek()
                while let sample = try reader.nextSample(), sample.presentationTime < MediaTime(value: end, timescale: 1) {
                    if sample.trackID == track.id { engine.add(sample) }
                }
            }
            try read(from: 10, to: 18)
            #expect(engine.shown(at: 11_000) == nil, "of 5.239 s, before the sync sample")
            let third = try #require(engine.shown(at: 13_000)).place
            try read(from: 0, to: 10)
            let second = try #require(engine.shown(at: 6000)).place
            #expect(second.y < third.y && engine.shown(at: 3000) == nil)
            #expect(engine.shown(at: 11_000)?.place == second && engine.shown(at: 13_000)?.place == third, "now it is known")
            engine = engines[1]
            try read(from: 0, to: 7)
            #expect(engine.shown(at: 6500)?.place == second)
            try read(from: 9, to: 10)
            #expect(engine.shown(at: 9000) == nil, "what came between is not known")
        }
    }
}
