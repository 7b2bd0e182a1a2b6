import Demuxing
import DisplaySink
import Foundation
import FrameExport
import Media
import Player
import Sandbox
import TestSupport
import Testing

/// Programs that take frames get the subtitles, too, when they ask for them; others pay nothing.
@Suite struct SubtitleTakingTests {
    private static let first = "1\n00:00:00,200 --> 00:00:00,600\nOne\n\n2\n00:00:00,800 --> 00:00:01,200\n<i>Two</i>\n\n"
    private static let lines: [(text: String, span: Range<Int64>)] = [("One", 200..<600), ("Two", 800..<1200), ("Three", 1200..<1600)]

    /// Two seconds with two tracks of subtitles, and the files that these were made of.
    private static let films = Result { () throws -> (film: String, plain: String, files: [String]) in
        let folder = ProcessFolder.url.appendingPathComponent("subtitled")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let texts = [first + "3\n00:00:01,200 --> 00:00:01,600\nThree\n", "1\n00:00:00,200 --> 00:00:01,600\nAndere\n"]
        let files = try texts.enumerated().map { index, text in
            let file = folder.appendingPathComponent("\(index).srt")
            try Data(text.utf8).write(to: file)
            return file.path
        }
        let source = ["-f", "lavfi", "-i", "testsrc2=s=160x90:r=25:d=2"], codec = ["-c:v", "mpeg2video", "-g", "10"]
        let film = folder.path + "/film.mkv", plain = folder.path + "/plain.mkv"
        try FFmpeg.run(source + ["-i", files[0], "-i", files[1], "-map", "0", "-map", "1", "-map", "2", "-c:s", "srt"] + codec + [film])
        try FFmpeg.run(source + codec + [plain])
        return (film, plain, files)
    }

    private static func text(at time: MediaTime) -> String {
        let count = time.converted(to: 1000).value
        return lines.first { $0.span.contains(count) }?.text ?? ""
    }

    private static func configuration(_ change: (inout PlayerConfiguration) -> Void = { _ in }) -> PlayerConfiguration {
        var configuration = PlayerConfiguration()
        configuration.playsAudio = false
        configuration.tracks.subtitles = .number(1)
        configuration.subtitles.isTakenByProgram = true
        change(&configuration)
        return configuration
    }

    private static let limit = HostSpan.seconds(60)
    private static func soon() -> HostTime { MonotonicClock.shared.now() + limit }

    @Test(arguments: [SandboxPolicy.off, .full], [true, false])
    func `each frame that a program takes has its text and picture`(_ policy: SandboxPolicy, _ isUntimed: Bool) throws {
        let exporter = FrameExporter(FrameExporterConfiguration(policy: .makeDecoderWait))
        let configuration = Self.configuration { configuration in
            configuration.exporters = [exporter]
            configuration.sandbox = SandboxOptions(policy: policy, decoderPath: BuiltPrograms.decoder, hangDeadline: .seconds(60))
        }
        let player = Player(sink: HeadlessSink(isUntimed: isUntimed), configuration: configuration)
        defer { player.close() }
        try player.open(Self.films.get().film)
        #expect(player.readsSubtitles && player.subtitleCount == 2 && player.subtitleNumber == 1)
        let canvas = SubtitleCanvas(PixelSize(width: 320, height: 180))
        var serials: [String: Set<UInt64>] = [:], count = 0
        while let frame = exporter.waitForFrame(until: Self.soon()) {
            let time = frame.description.presentationTime
            let shown = try #require(player.subtitles(at: time, on: canvas, until: Self.soon()))
            #expect(shown.text == Self.text(at: time) && (shown.image != nil) == !shown.text.isEmpty, "\(time)")
            #expect(shown.range.start <= time.converted(to: 1000) && time.converted(to: 1000) < shown.range.end)
            if let place = shown.image?.place {
                #expect(place.y > 90 && place.x >= 0 && place.x + place.width <= 320 && place.y + place.height <= 180)
            }
            serials[shown.text, default: []].insert(shown.serial)
            count += 1
        }
        #expect(count == 50)
        #expect(["One", "Two", "Three"].allSatisfy { serials[$0]?.count == 1 }, "each picture has one number: \(serials)")
    }

    @Test func `who does not ask pays nothing, and a film without subtitles has none`() async throws {
        let films = try Self.films.get()
        for (film, asks) in [(films.film, false), (films.plain, true), (films.film, true)] {
            let player = Player(
                sink: HeadlessSink(),
                configuration: Self.configuration { configuration in
                    configuration.startsPaused = true
                    configuration.tracks.subtitles = .automatic
                    configuration.subtitles.isTakenByProgram = asks
                })
            defer { player.close() }
            try await player.open(film)
            let isRead = asks && film == films.film
            #expect(player.readsSubtitles == isRead && (player.subtitleCount > 0) == isRead)
            // A thread gives itself its name.
            #expect(isRead ? Polling.until { Self.threads().contains("subtitles") } : !Self.threads().contains("subtitles"))
            let shown = await player.subtitles(at: .zero)
            #expect((shown != nil) == isRead && shown?.lines.isEmpty ?? true && (asks || player.shownSubtitles == nil))
        }
        let player = Player(sink: HeadlessSink(), configuration: Self.configuration())
        let early = await player.subtitles(at: .zero)
        #expect(early == nil)
    }

    /// The names of this process's threads.
    private static func threads() -> Set<String> {
        let numbers = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
        let names = numbers.compactMap { try? String(contentsOfFile: "/proc/self/task/\($0)/comm", encoding: .utf8) }
        return Set(names.map { $0.trimmingCharacters(in: .newlines) })
    }

    // MARK: Events

    /// A player whose events are gathered.
    private final class Listening {
        let player: Player
        let news: Monitor<(shown: [ShownSubtitles], hasEnded: Bool)>

        init(_ film: String, _ configuration: PlayerConfiguration) throws {
            let news = Monitor<(shown: [ShownSubtitles], hasEnded: Bool)>(([], false))
            self.news = news
            player = Player(sink: HeadlessSink(), configuration: configuration) { event in
                switch event {
                case .subtitlesChanged(let shown): news.change { $0.shown.append(shown) }
                case .ended: news.change { $0.hasEnded = true }
                default: break
                }
            }
            try player.open(film)
        }

        deinit { player.close() }

        /// The text of the newest event, once it is that one.
        func wait(for text: String) -> Bool {
            news.wait(until: soon()) { $0.shown.last?.text == text ? true : nil } ?? false
        }
    }

    @Test func `as time runs, lines are told in their order`() throws {
        let stage = try Listening(Self.films.get().film, Self.configuration())
        let told = stage.news.wait(until: Self.soon()) { $0.hasEnded && $0.shown.last?.text == "" ? $0.shown : nil }
        let texts = try #require(told).map(\.text)
        // On a machine that is busy for as long as a line lasts, that one is left out.
        var rest = ["One", "", "Two", "Three", ""][...]
        for text in texts {
            let index = try #require(rest.firstIndex(of: text), "\(texts)")
            rest = rest[(index + 1)...]
        }
        #expect(!texts.isEmpty && zip(texts, texts.dropFirst()).allSatisfy { $0 != $1 })
        #expect(told?.allSatisfy { $0.image == nil } == true)
    }

    @Test func `a seek and another track are told, also while the film is paused`() throws {
        let films = try Self.films.get()
        let stage = try Listening(
            films.plain,
            Self.configuration { configuration in
                configuration.startsPaused = true
                configuration.subtitles.files = films.files
            })
        let player = stage.player
        for (time, text) in [(300, "One"), (700, ""), (1300, "Three"), (900, "Two"), (100, ""), (250, "One")] as [(Int64, String)] {
            player.seek(to: MediaTime(value: time, timescale: 1000))
            #expect(stage.wait(for: text), "\(time)")
            #expect(player.shownSubtitles?.text == text)
        }
        player.subtitleNumber = 2
        #expect(stage.wait(for: "Andere"))
        player.subtitleDelay = MediaTime(value: 1, timescale: 1)
        #expect(stage.wait(for: ""))
        player.subtitleDelay = .zero
        #expect(stage.wait(for: "Andere"))
        player.subtitleNumber = nil
        #expect(stage.wait(for: ""))
        let texts = stage.news.withLock { $0.shown.map(\.text) }
        #expect(zip(texts, texts.dropFirst()).allSatisfy { $0 != $1 }, "what stays is not told again: \(texts)")
        let line = try #require(stage.news.withLock { $0.shown.first }?.lines.first)
        #expect(line.start == MediaTime(value: 200, timescale: 1000) && line.end == MediaTime(value: 600, timescale: 1000) && line.place == nil)
    }

    @Test func `a film that loops tells its lines again`() throws {
        let stage = try Listening(
            Self.films.get().film,
            Self.configuration { configuration in
                configuration.loopCount = .max
                configuration.rate = 4
            })
        #expect(stage.news.wait(until: Self.soon()) { $0.shown.count { !$0.text.isEmpty } > 8 ? true : nil } ?? false)
    }
}
