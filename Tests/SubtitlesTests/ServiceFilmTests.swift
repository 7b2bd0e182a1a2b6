import Demuxing
import DisplaySink
import Foundation
import Media
import SampleQueue
import Sandbox
import TestSupport
import Testing

@testable import Subtitles

/// Digital captions of a real broadcast.
@Suite(.enabled(if: MediaCatalog.shared != nil, "\(MediaCatalog.absence)")) struct ServiceFilmTests {
    private static func film() throws -> String { try #require(MediaCatalog.shared).path("ts-ps/shaka-player/captions-test.ts") }

    /// When windows change, and what is written in them.
    private struct Screen: Hashable {
        var start: Int64
        var words: [String]
    }

    private static func screens(_ samples: [SubtitleSample], _ decoder: ServiceDecoder) -> [Screen] {
        var screens: [Screen] = []
        for sample in samples {
            for case .screen(let start, let text) in decoder.decode(sample.block, start: sample.start, duration: nil) {
                let lines = String(decoding: text, as: UTF8.self).split(separator: "\n").flatMap { line in
                    let words = line.split(separator: ",", maxSplits: 8, omittingEmptySubsequences: false)[8].replacing(/{[^}]*}/, with: "")
                    return words.replacing("\\h", with: " ").components(separatedBy: "\\N")
                }
                screens.append(Screen(start: start, words: lines.map { $0.trimmingCharacters(in: .whitespaces) }))
            }
        }
        return screens
    }

    private static func samples() throws -> (AssetTrack, [SubtitleSample]) {
        let reader = try AssetReader(url: film()), track = try #require(reader.tracks.last)
        reader.select([track.id])
        var samples: [SubtitleSample] = []
        while let sample = try reader.nextSample() { if let sample = SubtitleSample(sample) { samples.append(sample) } }
        return (track, samples)
    }

    @Test func `the words of each window come and go with their frames`() throws {
        let (track, samples) = try Self.samples(), size = PixelSize(width: 1920, height: 1080)
        #expect(track.format == .other("eia_708") && track.configuration == [1] && track.isDecodable)
        let expected = [
            Screen(start: 133, words: ["These are 708 captions", "(top left)"]), Screen(start: 4872, words: []),
            Screen(start: 5205, words: ["These are 708 captions", "(middle)"]), Screen(start: 11_879, words: []),
            Screen(start: 12_212, words: ["These are 708 captions", "(bottom left)"]), Screen(start: 19_219, words: []),
        ]
        let decoder = ServiceDecoder(configuration: track.configuration, film: size)
        #expect(Self.screens(samples, decoder) == expected)
        // Read again after a seek it is the same, and another service says nothing.
        decoder.flush()
        #expect(Self.screens(samples, decoder) == expected)
        #expect(Self.screens(samples, ServiceDecoder(configuration: [2], film: size)).isEmpty)
    }

    @Test func `they are drawn where they were written for, in a sandbox, too`() throws {
        let path = try Self.film(), number = try SubtitleStage.tracks(path).count - 1
        let own = try SubtitleStage.play(path, chosen: number)
        let sandbox = SandboxOptions(policy: .full, decoderPath: BuiltPrograms.decoder, hangDeadline: .seconds(60))
        let other = try SubtitleStage.play(path, chosen: number, sandbox: sandbox)
        defer {
            own.stop()
            other.stop()
        }
        let images = [1000, 6000, 13_000].map { own.shown(at: $0) }
        let places = images.compactMap { $0?.place }
        try #require(places.count == 3)
        // 10 % of the film's 180 rows from its upper edge, 10 above that.
        #expect(abs(places[0].y - 28) <= 1 && abs(places[0].x - 32) <= 2 && abs(places[2].x - places[0].x) <= 2)
        #expect(places[0].y < places[1].y && places[1].y < places[2].y && places[1].x > places[0].x)
        #expect(own.shown(at: 5000) == nil && own.shown(at: 12_000) == nil && own.shown(at: 19_500) == nil)
        #expect(other.shown(at: 6000).map(SubtitlePixels.init) == images[1].map(SubtitlePixels.init))
    }
}
