import AudioSink
import DisplaySink
import Foundation
import Media
import Player
import TestSupport
import Testing

/// A player that plays one film after the other, and what it tells of them.
private final class Cinema: Sendable {
    let player: Player
    private let rest: Monitor<[String]>
    private let state = Monitor(State())

    struct State: Sendable {
        var ends: [FilmEnd] = []
        var titles: [String] = []
        var refused: [String] = []
        var hasEnded = false
    }

    init(_ films: [String], sink: any DisplaySink, configuration: PlayerConfiguration) throws {
        var configuration = configuration
        configuration.joins = true
        rest = Monitor(Array(films.dropFirst()))
        player = Player(sink: sink, configuration: configuration) { [state] event in
            if case .ended = event { state.change { $0.hasEnded = true } }
        }
        var succession = Succession()
        succession.wanted = { [weak self] in self?.choose() }
        succession.began = { [weak self] end in
            guard let self else { return }
            let title = player.title
            state.change { state in
                state.ends.append(end)
                state.titles.append(title)
            }
            choose()
        }
        player.onSuccession(succession)
        try player.open(films[0])
    }

    var seen: State { state.withLock { $0 } }

    /// Another thread than the one that tells.
    private func choose() {
        _ = LoopThread(name: "choose") { [self] in if player.claimNext() { openNext() } }
    }

    private func openNext() {
        guard let next = rest.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else { return player.endFilms() }
        player.follow(with: .place(next), title: nil) { [self] outcome in
            switch outcome {
            case .success(true): break
            case .success(false): state.change { $0.refused.append(next) }
            case .failure:
                state.change { $0.refused.append(next) }
                _ = LoopThread(name: "choose") { [self] in openNext() }
            }
        }
    }

    func waitForEnd() -> Bool { state.wait(until: MonotonicClock.shared.now() + .seconds(60)) { $0.hasEnded ? true : nil } ?? false }
    func waitForFilms(_ count: Int) -> Bool {
        state.wait(until: MonotonicClock.shared.now() + .seconds(60)) { $0.ends.count >= count ? true : nil } ?? false
    }
}

@Suite struct JoinTests {
    private static func configuration(_ hasSound: Bool = false) -> PlayerConfiguration {
        var configuration = PlayerConfiguration()
        configuration.playsAudio = hasSound
        configuration.audioDevice = "null"
        configuration.rate = hasSound ? 2 : 4
        configuration.imageDuration = MediaTime(value: 3, timescale: 10)
        return configuration
    }

    /// The frames of one film alone.
    private static func alone(_ name: String, _ configuration: PlayerConfiguration) throws -> [ExactSink.Shown] {
        let sink = ExactSink(hashes: true), player = Player(sink: sink, configuration: configuration)
        try player.open(TestAssets.path(name))
        #expect(Polling.until(within: .seconds(60)) { player.state == .ended })
        player.close()
        return sink.shown
    }

    /// Codecs, sizes, rates, depths, films with and without sound.
    @Test(arguments: [
        (["plain.mp4", "vp9.webm", "hevc-10bit.mp4", "rate-23.976.mp4", "odd-size.webm"], false),
        (["short.mp4", "odd-size.webm", "short.mp4", "short.mp4"], true), (["odd-size.webm", "short.mp4", "odd-size.webm"], true),
    ])
    func `films follow each other with all their frames, each at the end of the one before`(_ names: [String], _ hasSound: Bool) throws {
        let configuration = Self.configuration(hasSound)
        var single: [String: [ExactSink.Shown]] = [:]
        for name in Set(names) { single[name] = try Self.alone(name, configuration) }
        let expected = names.flatMap { single[$0]! }

        // On a busy machine the next film may be opened too late; never too early.
        let late = try withinAttempts {
            let sink = ExactSink(hashes: true)
            let cinema = try Cinema(names.map { TestAssets.path($0) }, sink: sink, configuration: configuration)
            #expect(cinema.waitForEnd())
            #expect(Self.isNear(cinema.player.position, cinema.player.duration))
            cinema.player.close()
            let shown = sink.shown, seen = cinema.seen
            #expect(shown.map(\.hash) == expected.map(\.hash))
            #expect(seen.refused == [] && seen.titles.count == names.count - 1)
            // Each film's own figures.
            let figures = seen.ends.map(\.statistics) + [cinema.player.statistics]
            #expect(figures.map { ($0.file as NSString).lastPathComponent } == names)
            #expect(figures.map(\.framesPresented) == names.map { single[$0]!.count })
            #expect(figures.map(\.framesDecoded) == names.map { single[$0]!.count })
            #expect(figures.allSatisfy { $0.bytesWritten > 0 })
            #expect(seen.ends.allSatisfy { $0.failure == nil })
            return zip(shown, shown.dropFirst()).compactMap { one, next in
                let due = one.time + one.duration
                if Self.isNear(next.time, due) { return nil }
                #expect(next.time > due)
                return "due at \(due), then \(next.time)"
            }
        }
        #expect(late == [] || TestExtent.isSanitized)
    }

    /// Time runs on, the decoder has come to the next film, and the last frames of the one before still wait.
    @Test func `a film is over when the display is done with it, however late that is`() throws {
        let sink = ExactSink(), names = ["plain.mp4", "vp9.webm"]
        sink.stand(after: 28)
        let cinema = try Cinema(names.map { TestAssets.path($0) }, sink: sink, configuration: Self.configuration())
        #expect(sink.wait(for: 28))
        let timebase = try #require(sink.timebase), end = cinema.player.duration
        // Twice the time after which a film is on although the display says nothing.
        #expect(Polling.until { timebase.time > end + MediaTime(seconds: 4) })
        #expect(cinema.seen.titles.isEmpty)
        sink.stand(after: .max)
        #expect(cinema.waitForEnd())
        cinema.player.close()
        let figures = try #require(cinema.seen.ends.first).statistics
        #expect(figures.framesPresented + figures.framesDropped.reduce(0) { $0 + $1.count } == 30 && figures.framesDecoded == 30, "\(figures)")
    }

    /// Containers round times to milliseconds.
    private static func isNear(_ one: MediaTime, _ other: MediaTime) -> Bool { (one - other).magnitude <= MediaTime(value: 2, timescale: 1000) }

    @Test func `what cannot be opened is passed over, and a film of other kinds does not follow so`() throws {
        let sink = ExactSink(), names = ["plain.mp4", "README.md", "nowhere.mp4", "vp9.webm", "audio-only.flac"]
        let cinema = try Cinema(names.map { TestAssets.path($0) }, sink: sink, configuration: Self.configuration(true))
        #expect(cinema.waitForEnd())
        cinema.player.close()
        #expect(cinema.seen.refused.map { ($0 as NSString).lastPathComponent } == ["README.md", "nowhere.mp4", "audio-only.flac"])
        #expect(sink.shown.count == 60 && cinema.seen.titles.count == 1)
    }

    @Test func `a seek back in the film that plays, whose next one is read, shows both again`() async throws {
        let sink = ExactSink(), names = ["plain.mp4", "vp9.webm"]
        let cinema = try Cinema(names.map { TestAssets.path($0) }, sink: sink, configuration: Self.configuration())
        // The next one is read by then: two seconds are read ahead.
        #expect(sink.wait(for: 20))
        cinema.player.pause()
        try await cinema.player.seek(to: .zero)
        #expect(cinema.player.position == .zero && cinema.player.title.contains("plain"))
        cinema.player.play()
        #expect(cinema.waitForEnd())
        // What was decided before the pause may be shown after it.
        let all = sink.shown, again = try #require(all.lastIndex { $0.time == .zero }), shown = all[again...]
        #expect(again >= 20 && shown.count == 60)
        for (one, next) in zip(shown, shown.dropFirst()) { #expect(Self.isNear(next.time, one.time + one.duration)) }
        // And in the film that followed.
        let end = sink.shown.count
        cinema.player.pause()
        try await cinema.player.seek(to: MediaTime(value: 1, timescale: 2))
        #expect(cinema.player.position == MediaTime(value: 1, timescale: 2) && cinema.player.title.contains("vp9"))
        cinema.player.play()
        #expect(sink.wait(for: end + 15))
        cinema.player.close()
    }

    /// Sound of films one after the other is that of each alone, to the sample.
    @Test(.measuresTime, arguments: [["audio-only.flac", "audio-only.flac"], ["audio-only.flac", "audio-only.m4a", "audio-only.flac"]])
    func `the sound of a film follows that of the one before to the sample`(_ names: [String]) throws {
        let wrong = try withinAttempts { try Self.heard(names) }
        #expect(wrong.isEmpty, "\(wrong)")
    }

    /// Plays films of sound and says what is wrong with what was heard.
    private static func heard(_ names: [String]) throws -> [String] {
        func record(_ names: [String]) throws -> (samples: [Float], statistics: AudioStatistics) {
            let path = NSTemporaryDirectory() + "join-\(UUID().uuidString.prefix(8)).raw"
            defer { try? FileManager.default.removeItem(atPath: path) }
            var configuration = Self.configuration(true)
            configuration.rate = 1
            configuration.audioDevice = "file:FILE=\(path),FORMAT=raw"
            let cinema = try Cinema(names.map { TestAssets.path($0) }, sink: HeadlessSink(), configuration: configuration)
            #expect(cinema.waitForEnd())
            let statistics = try #require(cinema.player.audioRenderer).statistics
            cinema.player.close()
            let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
            return (unsafe bytes.withUnsafeBytes { unsafe Array($0.bindMemory(to: Float.self)) }, statistics)
        }
        let (all, statistics) = try record(names)
        // A busy machine decodes too late.
        guard statistics.framesMissing == 0, statistics.underruns == 0, statistics.realignments == 0 else { return ["\(statistics)"] }
        let alone = try record(["audio-only.flac"]).samples
        guard let begin = all.firstIndex(where: { $0 != 0 }), let first = alone.firstIndex(where: { $0 != 0 }) else { return ["silence"] }
        var place = 0, wrong: [String] = []
        for (index, name) in names.enumerated() {
            // The first samples of all may still fade in. The last two are silent.
            let isExact = name.hasSuffix("flac"), length = isExact ? 96_000 : 192_000, range = (1920..<length - 4)
            guard all.count >= begin + place + length - 4, alone.count >= first + 96_000 - 4 else { return ["\(all.count), \(alone.count) samples"] }
            let part = all[begin + place..<begin + place + length - 4], loudest = part.reduce(0) { max($0, abs($1)) }
            // AAC's decoder puts out noise that is never the same; what follows lies where it belongs.
            let different = isExact ? range.count { all[begin + place + $0] != alone[first + $0] } : 0
            if different > 0 || loudest < 0.1 { wrong.append("\(name) at \(index): \(different) different, the loudest \(loudest)") }
            place += length
        }
        return wrong
    }
}
