import AudioSink
import Composition
import Decoding
import Demuxing
import DisplaySink
import Media
import PixelConversion
import Player
import Reading
import SurfacePool
import TestSupport
import Testing

/// Films made of films, played.
@Suite struct ComposedFilmTests {
    static let frameDuration = MediaTime(value: 1, timescale: 30)
    static let size = PixelSize(width: 640, height: 360)

    static func frames(_ count: Int) -> MediaTime { frameDuration.multiplied(by: count) }

    static func range(_ start: Int, _ count: Int) -> MediaTimeRange { MediaTimeRange(start: frames(start), duration: frames(count)) }

    /// Two tracks of the same film: track 1 begins at its frame 0, track 2 at frame 100.
    static func twoTracks(lasting count: Int) throws -> Composition {
        var film = Composition()
        let source = CompositionSource(url: TestAssets.demo)
        for first in [0, 100] { try film.insert(range(first, count), of: source, into: film.addTrack(.video), at: .zero) }
        return film
    }

    static func showing(_ track: Int, _ range: MediaTimeRange) -> VideoCompositionInstruction {
        VideoCompositionInstruction(timeRange: range, layers: [VideoCompositionLayer(track: track)])
    }

    static func video(_ instructions: [VideoCompositionInstruction], frameDuration: MediaTime = frameDuration) -> VideoComposition {
        VideoComposition(frameDuration: frameDuration, renderSize: size, instructions: instructions)
    }

    static func configuration(paused: Bool = false) -> PlayerConfiguration {
        var configuration = PlayerConfiguration()
        configuration.playsAudio = false
        configuration.startsPaused = paused
        configuration.decoder.hardware = .disable
        return configuration
    }

    /// Collects what the viewer is told, until the end.
    final class Listener: Sendable {
        private let state = Monitor(([String](), PlayerError?.none, false))

        func hear(_ event: PlayerEvent) {
            state.change { state in
                switch event {
                case .notice(let sentence): state.0.append(sentence)
                case .failed(let error): state.1 = error
                case .ended: state.2 = true
                default: break
                }
            }
        }

        var notices: [String] { state.withLock { $0.0 } }

        /// The error that ended the film; nil when it was played to its end, which is waited for.
        func waitForEnd() -> (isPlayed: Bool, PlayerError?) {
            state.wait(until: MonotonicClock.shared.now() + .seconds(120)) { $0.2 || $0.1 != nil ? ($0.2, $0.1) : nil } ?? (false, nil)
        }
    }

    /// Must not be asked for anything.
    final class Unwanted: VideoCompositing {
        let calls = Monitor(0)
        var sourceRequirements: OutputRequirements { OutputRequirements() }
        var renderFormat: PixelFormat { .yuv420p }
        func renderContextChanged(_ context: RenderContext) { calls.withLock { $0 += 1 } }
        func start(_ request: VideoCompositionRequest) throws { calls.withLock { $0 += 1 } }
    }

    @Test func `a track that is passed through goes to the display in the decoder's own surfaces, and nothing is copied`() async throws {
        let sink = WatchingSink(), compositor = Unwanted(), listener = Listener()
        let player = Player(sink: sink, configuration: Self.configuration()) { listener.hear($0) }
        // Sixty frames a second of a film with thirty: each surface comes twice.
        let video = Self.video([Self.showing(2, Self.range(0, 30))], frameDuration: MediaTime(value: 1, timescale: 60))
        try player.open(.composition(ComposedFilm(Self.twoTracks(lasting: 30), video, compositor: compositor)))
        #expect(listener.waitForEnd().isPlayed)
        player.close()
        let statistics = player.statistics, composed = try #require(statistics.composition)
        #expect(compositor.calls.withLock { $0 } == 0 && composed.framesDrawn == 0)
        #expect(composed.framesPassedThrough + composed.framesSkipped == 60)
        #expect(statistics.bytesCopied == 0 && statistics.bytesWritten > 0)
        // No surface but those of the one film's decoder.
        var surfaces: [Int: SurfaceIdentity] = [:]
        for sighting in sink.sightings {
            #expect(surfaces[sighting.number] ?? sighting.surface == sighting.surface)
            surfaces[sighting.number] = sighting.surface
        }
        #expect(Set(surfaces.values.map(\.pool)).count == 1 && surfaces.keys.allSatisfy { (100..<130).contains($0) })
        #expect(listener.notices == [])
    }

    @Test func `where the compositor cannot read what is decoded, the statistics name the conversion`() async throws {
        var film = Composition()
        let track = film.addTrack(.video)
        try film.insert(Self.range(0, 30), of: CompositionSource(url: TestAssets.path("hevc-10bit.mp4")), into: track, at: .zero)
        // The first half is passed through, the other one drawn.
        var video = Self.video([
            Self.showing(track, Self.range(0, 15)),
            VideoCompositionInstruction(timeRange: Self.range(15, 15), layers: [VideoCompositionLayer(track: track, opacity: 0.99)]),
        ])
        video.renderSize = PixelSize(width: 320, height: 180)
        let player = Player(sink: WatchingSink(), configuration: Self.configuration(paused: true))
        try await player.open(film, videoComposition: video)
        defer { player.close() }
        try await player.seek(to: Self.frames(2))
        #expect(player.statistics.bytesCopied == 0 && player.statistics.conversion == nil && player.statistics.pixelFormat == .yuv420p10le)
        try await player.seek(to: Self.frames(20))
        let statistics = player.statistics
        #expect(statistics.bytesCopied > 0 && statistics.conversion?.from == "yuv420p10le 320x180", "\(statistics)")
        #expect(statistics.conversion?.to == "yuv420p 320x180" && statistics.conversion?.why.isEmpty == false)
    }

    @Test func `a seek shows the frame of its time, whichever segment it comes from`() async throws {
        var film = Composition()
        let track = film.addTrack(.video), source = CompositionSource(url: TestAssets.demo)
        // The number of the film's frame for each of the composition's.
        var numbers: [Int] = []
        for (first, count) in [(200, 20), (7, 31), (150, 40), (20, 9)] {
            try film.insert(Self.range(first, count), of: source, into: track, at: Self.frames(numbers.count))
            numbers += first..<first + count
        }
        // A dissolve of the same frames is those frames, but drawn.
        let second = film.addTrack(.video)
        try film.insert(Self.range(150, 40), of: source, into: second, at: .zero)
        try film.edit(second) { track throws(CompositionError) in try track.insertEmpty(lasting: Self.frames(51), at: .zero) }
        let all = Self.video([
            Self.showing(1, Self.range(0, 51)), .crossDissolve(from: 1, to: 2, in: Self.range(51, 40)), Self.showing(1, Self.range(91, 9)),
        ])
        let sink = WatchingSink(), player = Player(sink: sink, configuration: Self.configuration(paused: true))
        try await player.open(film, videoComposition: all)
        defer { player.close() }
        #expect(player.duration == Self.frames(100))
        var dice = Dice(seed: 16)
        for place in [0, 99, 51, 90, 50, 91] + (0..<TestExtent.rounds(12, full: 100)).map({ _ in Int.random(in: 0..<100, using: &dice) }) {
            try await player.seek(to: Self.frames(place) + MediaTime(value: 1, timescale: 90))
            #expect(sink.sightings.last?.number == numbers[place], "frame \(place)")
        }
        try await player.seek(to: Self.frames(30))
        player.stepForward()
        #expect(sink.wait { $0.number == numbers[31] })
        player.stepBackward()
        #expect(Polling.until { sink.sightings.last?.number == numbers[30] })
    }

    @Test func `another video composition is shown at once by a paused film`() async throws {
        let film = try Self.twoTracks(lasting: 60), sink = WatchingSink()
        let player = Player(sink: sink, configuration: Self.configuration(paused: true))
        #expect(throws: PlayerError.self) { try player.setVideoComposition(Self.video([])) }
        try await player.open(film, videoComposition: Self.video([Self.showing(1, Self.range(0, 60))]))
        defer { player.close() }
        try await player.seek(to: Self.frames(25))
        #expect(sink.sightings.last?.number == 25)
        try player.setVideoComposition(Self.video([Self.showing(2, Self.range(0, 60))]))
        #expect(sink.wait { $0.number == 125 })
        #expect(Polling.until { player.state == .paused })
        let error = #expect(throws: PlayerError.self) { try player.setVideoComposition(Self.video([Self.showing(9, Self.range(0, 60))])) }
        #expect(error?.code == .unsupportedFormat)
        try await player.seek(to: Self.frames(26))
        #expect(sink.sightings.last?.number == 126)
    }

    @Test func `sound plays with the frames, and both end`() async throws {
        var film = try Self.twoTracks(lasting: 30)
        let sound = film.addTrack(.sound)
        try film.insert(Self.range(0, 30), of: CompositionSource(url: TestAssets.demo), into: sound, at: .zero)
        var volume = Ramped(0.0)
        volume.ramp(from: 0, to: 1, during: Self.range(0, 30))
        // A device leaves out what comes too late on a busy machine.
        let listener = Listener(), exporter = try AudioExporter(.everything())
        var configuration = Self.configuration()
        configuration.playsAudio = true
        configuration.audioExporter = exporter
        let player = Player(sink: WatchingSink(), configuration: configuration) { listener.hear($0) }
        let video = Self.video([Self.showing(1, Self.range(0, 30))])
        try player.open(.composition(ComposedFilm(film, video, AudioMix(volumes: [sound: volume]))))
        var taken = 0
        while let block = exporter.wait(until: MonotonicClock.shared.now() + .seconds(60)) { taken += block.frameCount }
        #expect(taken >= 47_000 && taken <= 49_000, "\(taken) frames of sound")
        #expect(player.hasSound && listener.waitForEnd().isPlayed)
        // From the end it begins again, with its sound.
        player.play()
        let isHeard = Polling.until {
            exporter.wait(until: MonotonicClock.shared.now() + .milliseconds(10))?.presentationTime == .zero
        }
        #expect(isHeard)
        player.close()
        #expect(listener.notices == [])
    }

    @Test func `what breaks a rule is not opened`() async throws {
        let film = try Self.twoTracks(lasting: 30), player = Player(sink: WatchingSink())
        let gap = Self.video([Self.showing(1, Self.range(0, 10)), Self.showing(1, Self.range(20, 10))])
        await #expect { try await player.open(film, videoComposition: gap) } throws: { error in
            (error as? PlayerError)?.code == .unsupportedFormat && "\(error)".contains("00:00:00.333")
        }
        await #expect(throws: PlayerError.self) {
            try await player.open(
                film, videoComposition: Self.video([Self.showing(1, Self.range(0, 30))]), audioMix: AudioMix(volumes: [1: Ramped(1)]))
        }
        player.close()
    }

    @Test func `markers are chapters that a viewer goes to`() async throws {
        let sink = WatchingSink(), listener = Listener()
        let player = Player(sink: sink, configuration: Self.configuration(paused: true)) { listener.hear($0) }
        var film = try Self.twoTracks(lasting: 60)
        film.markers = [
            CompositionMarker(time: Self.frames(30), name: "Second"), CompositionMarker(time: .zero, name: "First"),
            CompositionMarker(time: Self.frames(90), name: "Behind"),
        ]
        try await player.open(film, videoComposition: Self.video([Self.showing(1, Self.range(0, 60))]))
        #expect(player.chapters.map(\.title) == ["First", "Second"] && player.chapters[0].range == Self.range(0, 30))
        #expect(player.chapters[1].range == Self.range(30, 30) && player.chapterNumber == 1)
        let description = try #require(player.film)
        #expect(description.duration == Self.frames(60) && description.videoTrack == 0 && description.audioTrack == nil)
        player.moveChapter(by: 1)
        #expect(Polling.until { player.position == Self.frames(30) && player.chapterNumber == 2 }, "\(player.position)")
        #expect(!player.seek(toChapter: 3))
        player.close()
    }
}
