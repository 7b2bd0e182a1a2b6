import AudioSink
import Demuxing
import DisplaySink
import Foundation
import FrameExport
import Media
import Sandbox
import TestSupport
import Testing

@testable import Player

/// Films with the sound of other files.
@Suite struct SoundFileTests {
    /// A film of one second without sound, in a folder of its own, beside files of sound.
    private static func folder() throws -> String {
        let folder = ProcessFolder.path("sound-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let assets = ["film.mp4": "plain.mp4", "film.flac": "audio-only.flac", "film.de.m4a": "audio-only.m4a", "other.flac": "audio-only.flac"]
        for (name, asset) in assets {
            try FileManager.default.copyItem(atPath: TestAssets.path(asset), toPath: folder + "/" + name)
        }
        return folder
    }

    private static func configuration() -> PlayerConfiguration {
        var configuration = PlayerConfiguration()
        configuration.audioDevice = "null"
        configuration.startsPaused = true
        return configuration
    }

    private struct Row: Sendable {
        let named: [String], isSearched: Bool, number: Int?, languages: [String]
        let tracks: [String], playing: String?
    }

    private static let rows: [Row] = [
        Row(named: [], isSearched: false, number: nil, languages: [], tracks: [], playing: nil),
        Row(named: ["other.flac"], isSearched: false, number: nil, languages: [], tracks: ["other.flac"], playing: "other.flac"),
        Row(
            named: ["film.de.m4a", "other.flac"], isSearched: false, number: 2, languages: [], tracks: ["film.de.m4a", "other.flac"],
            playing: "other.flac"),
        Row(named: [], isSearched: true, number: nil, languages: [], tracks: ["film.de.m4a", "film.flac"], playing: "film.de.m4a"),
        Row(named: [], isSearched: true, number: 2, languages: [], tracks: ["film.de.m4a", "film.flac"], playing: "film.flac"),
        Row(
            named: ["other.flac"], isSearched: true, number: nil, languages: ["de"], tracks: ["other.flac", "film.de.m4a", "film.flac"],
            playing: "other.flac"),
    ]

    @Test(arguments: rows, [SandboxPolicy.off, .full]) private func `files of sound are tracks behind the film's own`(
        _ row: Row, _ policy: SandboxPolicy
    ) throws {
        let folder = try Self.folder()
        var configuration = Self.configuration()
        configuration.sandbox.policy = policy
        configuration.audioFiles = row.named.map { folder + "/" + $0 }
        configuration.findsAudioFiles = row.isSearched
        configuration.tracks.audio = row.number.map { .number($0) } ?? .automatic
        configuration.tracks.audioLanguages = row.languages
        let player = Player(sink: HeadlessSink(), configuration: configuration)
        try player.open(folder + "/film.mp4")
        let film = try #require(player.film)
        let sound = film.tracks.filter { $0.kind == .audio }
        #expect(sound.map { (($0.file ?? "") as NSString).lastPathComponent } == row.tracks)
        let playing = film.tracks.first { $0.id == film.audioTrack }
        #expect(playing?.file.map { ($0 as NSString).lastPathComponent } == row.playing)
        #expect(film.duration == MediaTime(value: 1, timescale: 1))
        player.close()
    }

    @Test func `what cannot be opened is a sentence, and the film plays without it`() throws {
        let folder = try Self.folder(), notices = Monitor([String]())
        var configuration = Self.configuration()
        configuration.audioFiles = [folder + "/nowhere.flac", TestAssets.path("README.md"), TestAssets.path("vp9.webm"), folder + "/film.flac"]
        let player = Player(sink: HeadlessSink(), configuration: configuration) { event in
            if case .notice(let text) = event { notices.change { $0.append(text) } }
        }
        try player.open(folder + "/film.mp4")
        #expect(player.film?.tracks.compactMap(\.file) == [folder + "/film.flac"])
        #expect(Polling.until { notices.withLock { $0.count } == 3 })
        for (notice, name) in zip(notices.withLock { $0 }, ["nowhere.flac", "README.md", "vp9.webm"]) { #expect(notice.contains(name)) }
        player.close()
    }

    /// The samples of a film's sound, with the sound of `files`, of which the track `number` is heard.
    private static func samples(of film: String, _ files: [String], number: Int?) throws -> [Float] {
        let exporter = try AudioExporter(.everything())
        var configuration = PlayerConfiguration()
        (configuration.audioExporter, configuration.audioFiles) = (exporter, files)
        configuration.tracks.audio = number.map { .number($0) } ?? .automatic
        let player = Player(sink: HeadlessSink(isUntimed: true), configuration: configuration)
        try player.open(film)
        var samples: [Float] = []
        while let block = exporter.wait(until: MonotonicClock.shared.now() + .seconds(60)) { samples += block.samples }
        #expect(exporter.isOver)
        player.close()
        return samples
    }

    @Test func `the sound of a file is heard with the film, to the sample`() throws {
        let film = TestAssets.path("plain.mp4"), flac = TestAssets.path("audio-only.flac"), other = TestAssets.path("audio-only.m4a")
        let alone = try Self.samples(of: flac, [], number: nil)
        #expect(alone.count == 96_000 && alone.contains { $0 > 0.1 })
        #expect(try Self.samples(of: film, [flac], number: nil) == alone)
        #expect(try Self.samples(of: film, [other, flac], number: 2) == alone)
        // The film's own sound is the first track.
        #expect(try Self.samples(of: TestAssets.demo, [flac], number: 2) == alone)
        #expect(try Self.samples(of: TestAssets.demo, [flac], number: 1) == Self.samples(of: TestAssets.demo, [], number: nil))
    }

    @Test func `another file is chosen while the film plays, and after a seek`() async throws {
        var configuration = Self.configuration()
        configuration.audioFiles = [TestAssets.path("audio-only.m4a"), TestAssets.path("audio-only.flac")]
        let player = Player(sink: HeadlessSink(), configuration: configuration)
        try await player.open(TestAssets.demo)
        #expect(player.soundNumber == 2)
        for number in [3, 1, 2] {
            player.soundNumber = number
            #expect(Polling.until { player.soundNumber == number && player.state == .paused })
            try await player.seek(to: MediaTime(value: Int64(number), timescale: 4))
            #expect(player.soundNumber == number)
        }
        player.cycleSound(by: 1)
        #expect(Polling.until { player.soundNumber == 3 })
        player.close()
    }
}
