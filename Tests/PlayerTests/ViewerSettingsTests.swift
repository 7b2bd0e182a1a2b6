import AudioSink
import Deinterlacing
import Demuxing
import DisplaySink
import Foundation
import Media
import Player
import TestSupport
import Testing

/// What a viewer sets holds for the film that is being opened, for the one that is to follow, and for films that have nothing it applies to.
@Suite struct ViewerSettingsTests {
    /// Gives nothing away until it is let go.
    private final class Held: ByteSource {
        private let bytes: MemoryBytes
        private let isLetGo = Monitor(false)
        let isAsked = Monitor(false)

        init(_ path: String) throws { bytes = MemoryBytes([UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))) }
        var byteCount: Int64? { bytes.byteCount }
        var isSeekable: Bool { true }
        func letGo() { isLetGo.change { $0 = true } }
        func cancel() { letGo() }
        func read(into target: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int {
            isAsked.change { $0 = true }
            let _: Void? = isLetGo.wait { $0 ? () : nil }
            return unsafe bytes.read(into: target, at: offset)
        }
    }

    /// Two seconds, interlaced: two tracks of sound, two of subtitles; and the same without sound and subtitles.
    private static let films = Result { () throws -> (full: String, plain: String) in
        let folder = ProcessFolder.url.appendingPathComponent("viewer-settings")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let files = try ["One", "Eins"].map { text in
            let file = folder.appendingPathComponent(text + ".srt")
            try Data("1\n00:00:00,200 --> 00:00:00,600\n\(text)\n".utf8).write(to: file)
            return file.path
        }
        let source = ["-f", "lavfi", "-i", "testsrc2=s=160x96:r=25:d=2"], full = folder.path + "/full.mkv", plain = folder.path + "/plain.mkv"
        let tones = [440, 880].flatMap { ["-f", "lavfi", "-i", "sine=\($0):r=48000:d=2"] }
        let codec = ["-c:v", "mpeg2video", "-g", "10", "-flags", "+ilme+ildct", "-field_order", "tt", "-c:a", "flac", "-c:s", "srt"]
        let texts = files.flatMap { ["-i", $0] }, maps = (0..<5).flatMap { ["-map", "\($0)"] }
        try FFmpeg.run(source + tones + texts + maps + codec + [full])
        try FFmpeg.run(source + codec + [plain])
        return (full, plain)
    }

    private static func configuration() -> PlayerConfiguration {
        var configuration = PlayerConfiguration()
        configuration.audioDevice = "null"
        configuration.startsPaused = true
        configuration.tracks.subtitles = .number(1)
        configuration.subtitles.isTakenByProgram = true
        return configuration
    }

    private static func soon() -> HostTime { MonotonicClock.shared.now() + .seconds(60) }
    private static func time(_ milliseconds: Int64) -> MediaTime { MediaTime(value: milliseconds, timescale: 1000) }

    private static func set(_ player: Player) {
        (player.volume, player.isMuted, player.audioDelay) = (0.5, true, time(300))
        player.deinterlacing = .yes
        (player.subtitleDelay, player.subtitlePosition, player.subtitleScale, player.showsSubtitles) = (time(1000), 10, 2, true)
    }

    private static func expectSettings(_ player: Player, _ sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(player.volume == 0.5 && player.isMuted && player.audioDelay == time(300), sourceLocation: sourceLocation)
        #expect(player.deinterlacing == .yes && player.showsSubtitles && player.subtitleDelay == time(1000), sourceLocation: sourceLocation)
        #expect(player.subtitlePosition == 10 && player.subtitleScale == 2, sourceLocation: sourceLocation)
    }

    @Test func `what is set and chosen while a film is being opened holds when it is open`() throws {
        let source = try Held(Self.films.get().full), sink = ExactSink(), isOpen = Monitor(false)
        let player = Player(sink: sink, configuration: Self.configuration())
        defer { player.close() }
        player.beginOpening(.bytes(source, name: "film.mkv")) { _ in isOpen.change { $0 = true } }
        let _: Void? = source.isAsked.wait { $0 ? () : nil }
        Self.set(player)
        player.seek(to: Self.time(1000))
        player.soundNumber = 2
        player.subtitleNumber = 2
        Self.expectSettings(player)
        #expect(!isOpen.withLock { $0 } && player.state == .opening)
        source.letGo()
        let _: Void? = isOpen.wait { $0 ? () : nil }

        Self.expectSettings(player)
        let sound = try #require(player.audioRenderer)
        #expect(sound.volume == 0.5 && sound.isMuted && sound.delay == Self.time(300))
        #expect(player.soundNumber == 2 && player.subtitleNumber == 2)
        #expect(Polling.until { player.position >= Self.time(1000) && player.state == .paused }, "the choices keep the seek: \(player.position)")
        let canvas = SubtitleCanvas(PixelSize(width: 320, height: 192))
        player.seek(to: MediaTime.zero)
        #expect(Polling.until { player.subtitles(at: Self.time(1300), until: Self.soon())?.text == "Eins" }, "a second later than the film says")
        let image = try #require(player.subtitles(at: Self.time(1300), on: canvas, until: Self.soon())?.image)
        #expect(image.place.y < 96, "higher than the middle")
        player.showsSubtitles = false
        #expect(player.subtitles(at: Self.time(1300), on: canvas, until: Self.soon())?.image == nil)
    }

    @Test(arguments: [(Deinterlacing.yes, 100), (.no, 50)])
    func `frames are deinterlaced as was said while the film was being opened`(_ wanted: Deinterlacing, _ count: Int) throws {
        let source = try Held(Self.films.get().plain), sink = ExactSink()
        var configuration = Self.configuration()
        configuration.startsPaused = false
        configuration.deinterlacing = wanted == .yes ? .no : .yes
        let player = Player(sink: sink, configuration: configuration)
        defer { player.close() }
        player.beginOpening(.bytes(source, name: "film.mkv")) { _ in }
        let _: Void? = source.isAsked.wait { $0 ? () : nil }
        player.deinterlacing = wanted
        source.letGo()
        #expect(Polling.until(within: .seconds(60)) { player.state == .ended })
        #expect(sink.shown.count == count)
    }

    /// Before anything is open, and with a film that has neither sound nor subtitles.
    @Test func `a film without sound and subtitles changes nothing of what is set`() throws {
        let player = Player(sink: ExactSink(), configuration: Self.configuration())
        defer { player.close() }
        Self.set(player)
        Self.expectSettings(player)
        try player.open(Self.films.get().plain)
        #expect(player.subtitleCount == 0 && !player.hasSound)
        Self.expectSettings(player)
        player.subtitleDelay = Self.time(-500)
        #expect(player.subtitleDelay == Self.time(-500))
    }

    /// The film that follows is open, and the one before it, which has no subtitles, is still shown.
    @Test func `what is set before a film follows without a gap holds in it`() throws {
        let films = try Self.films.get(), follows = Monitor<Bool?>(nil), hasBegun = Monitor(false)
        var configuration = Self.configuration()
        configuration.joins = true
        configuration.startsPaused = false
        configuration.playsAudio = false
        let player = Player(sink: ExactSink(), configuration: configuration)
        defer { player.close() }
        var succession = Succession()
        succession.wanted = { [weak player] in
            _ = LoopThread(name: "choose") { [weak player] in
                guard let player, player.claimNext() else { return }
                player.follow(with: .place(films.full), title: nil) { outcome in
                    player.subtitleDelay = Self.time(1000)
                    follows.change { if case .success(true) = outcome { $0 = true } else { $0 = false } }
                }
            }
        }
        succession.began = { _ in hasBegun.change { $0 = true } }
        player.onSuccession(succession)
        try player.open(films.plain)
        try #require(follows.wait(until: Self.soon()) { $0 } == true)
        let _: Void? = hasBegun.wait(until: Self.soon()) { $0 ? () : nil }
        #expect(player.subtitleCount == 2 && player.subtitleDelay == Self.time(1000))
        #expect(Polling.until { player.subtitles(at: Self.time(1300), until: Self.soon())?.text == "One" })
    }
}
