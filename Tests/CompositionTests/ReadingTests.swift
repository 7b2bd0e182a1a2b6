import Composition
import Demuxing
import Media
import Reading
import SurfacePool
import TestSupport
import Testing

/// What is decoded, drawn and handed out of a composition, and at which times.
@Suite struct CompositionReadingTests {
    static let size = Drawing.size

    static func time(_ milliseconds: Int) -> MediaTime { MediaTime(value: Int64(milliseconds), timescale: 1000) }
    static func range(_ start: Int, _ end: Int) -> MediaTimeRange { MediaTimeRange(start: time(start), end: time(end)) }

    @Test func `a film that is passed through keeps its surfaces, and only its track is decoded`() throws {
        // Frames of 100 ms, the one at 200 ms first.
        let a = try TestFilm(seed: 20, frames: 10, times: (0..<10).map { $0 * 100 })
        var film = Composition()
        let track = film.addTrack(.video), missing = film.addTrack(.video)
        try film.insert(Self.range(200, 800), of: a.source, into: track, at: .zero)
        try film.insert(Self.range(0, 600), of: CompositionSource(url: "/nowhere.mkv"), into: missing, at: .zero)
        let layers = [VideoCompositionLayer(track: track), VideoCompositionLayer(track: missing)]
        let video = VideoComposition(
            frameDuration: TestFilm.frameDuration, renderSize: Self.size,
            instructions: [VideoCompositionInstruction(timeRange: film.range, layers: layers)])
        let refuser = Refuser()
        let output = try CompositionVideoOutput(of: film, video, compositor: refuser)
        var surfaces: [Int: SurfaceIdentity] = [:], held: [SharedFrame] = [], count = 0
        while let frame = try output.nextFrame() {
            let number = count * 40 / 100
            #expect(FrameBytes(frame).bytes == a.frames[2 + number] && frame.presentationTime == Self.time(40 * count))
            #expect(surfaces[number] ?? frame.surface.identity == frame.surface.identity, "the surface of the decoder")
            surfaces[number] = frame.surface.identity
            held = held.suffix(2) + [SharedFrame(frame)]
            count += 1
        }
        #expect(count == 15 && output.report.framesPassedThrough == 15 && output.report.framesDrawn == 0 && refuser.requests.withLock { $0 } == 0)
        #expect(Set(surfaces.values.map(\.pool)).count == 1)
    }

    /// A compositor that must not be asked.
    final class Refuser: VideoCompositing {
        let requests = Monitor(0)
        let sourceRequirements = LayerCompositor().sourceRequirements
        let renderFormat = PixelFormat.yuv420p
        func start(_ request: VideoCompositionRequest) throws {
            requests.withLock { $0 += 1 }
            throw ReadingError(.composition, "not wanted")
        }
    }

    @Test func `what does not change is drawn once for each source frame`() throws {
        // Four frames of 100 ms are shown at 25 frames a second.
        let slow = try TestFilm(seed: 21, frames: 4, times: [0, 100, 200, 300])
        var film = Composition()
        try film.insert(Self.range(0, 400), of: slow.source, into: film.addTrack(.video), at: .zero)
        let instruction = VideoCompositionInstruction(timeRange: film.range, layers: [VideoCompositionLayer(track: 1, opacity: 0.5)])
        let video = VideoComposition(frameDuration: TestFilm.frameDuration, renderSize: Self.size, instructions: [instruction])
        let output = try CompositionVideoOutput(of: film, video)
        var surfaces: [SurfaceIdentity] = [], held: [SharedFrame] = []
        while let frame = try output.nextFrame() {
            surfaces.append(frame.surface.identity)
            held.append(SharedFrame(frame))
            if held.count > 4 { held.removeFirst() }
        }
        // 0, 40 and 80 ms; 120 and 160; 200, 240 and 280; 320 and 360.
        let runs = zip(surfaces, surfaces.dropFirst()).map { $0 == $1 }
        #expect(runs == [true, true, false, true, false, true, true, false, true])
        #expect(output.report.framesDrawn == 4 && output.report.framesRepeated == 6)
    }

    @Test func `speed, cuts and variable frame times are exact`() throws {
        let even = try TestFilm(seed: 22, frames: 25), odd = try TestFilm(seed: 23, frames: 5, times: [0, 30, 150, 155, 400])
        var film = Composition()
        let track = film.addTrack(.video)
        try film.insert(Self.range(0, 800), of: even.source, into: track, at: .zero, duration: Self.time(400))
        try film.insert(Self.range(20, 420), of: odd.source, into: track, at: Self.time(400))
        try film.insert(Self.range(400, 600), of: even.source, into: track, at: Self.time(800), duration: Self.time(400))
        try film.insert(Self.range(0, 400), of: even.source, into: track, at: Self.time(1400))
        let video = VideoComposition(showing: film, frameDuration: TestFilm.frameDuration, renderSize: Self.size)
        let output = try CompositionVideoOutput(of: film, video)
        let oddTimes = [0, 30, 150, 155, 400]
        func wanted(_ number: Int) -> [UInt8] {
            let time = number * 40
            switch time {
            case ..<400: return even.frames[2 * time / 40]
            case ..<800: return odd.frames[oddTimes.lastIndex { $0 <= time - 400 + 20 } ?? 0]
            case ..<1200: return even.frames[(400 + (time - 800) / 2) / 40]
            case ..<1400: return []
            default: return even.frames[(time - 1400) / 40]
            }
        }
        var count = 0
        while let frame = try output.nextFrame() {
            let bytes = FrameBytes(frame)
            if wanted(count).isEmpty {
                #expect(FloatFrame(Self.size, codes: [16, 128, 128]).difference(bytes) == 0, "frame \(count)")
            } else {
                #expect(bytes.bytes == wanted(count), "frame \(count)")
            }
            count += 1
        }
        #expect(count == 45)
        // Any range, also backward.
        let seed = UInt64.random(in: 0 ... .max)
        var dice = Dice(seed: seed)
        for _ in 0..<TestExtent.rounds(20, full: 300, sanitized: 8) {
            let start = Int.random(in: 0..<1800, using: &dice)
            output.reset(forReadingTimeRange: MediaTimeRange(start: Self.time(start), duration: Self.time(100)))
            guard let frame = try output.nextFrame() else { throw TestFilm.Failure() }
            #expect(frame.presentationTime == Self.time(start / 40 * 40), "seed \(seed), at \(start)")
            let expected = wanted(start / 40)
            #expect(expected.isEmpty || FrameBytes(frame).bytes == expected, "seed \(seed), at \(start)")
        }
    }

    @Test func `what breaks a rule is not read, what cannot be read is one sentence, and a cancelled output ends`() throws {
        var film = Composition()
        try film.insert(Self.range(0, 400), of: CompositionSource(url: "/nowhere.mkv"), into: film.addTrack(.video), at: .zero)
        var video = VideoComposition(showing: film, frameDuration: TestFilm.frameDuration, renderSize: Self.size)
        let output = try CompositionVideoOutput(of: film, video)
        func code(_ output: CompositionVideoOutput) -> ReadingError.Code? {
            do {
                _ = try output.nextFrame()
                return nil
            } catch { return error.code }
        }
        #expect(code(output) == .source(.noSuchFile))
        output.cancel()
        #expect(code(output) == .cancelled)
        video.instructions = []
        #expect(throws: ReadingError.self) { try CompositionVideoOutput(of: film, video) }
    }

    @Test func `a task reads frames one by one`() async throws {
        let a = try TestFilm(seed: 24, frames: 5)
        var film = Composition()
        try film.insert(Self.range(0, 200), of: a.source, into: film.addTrack(.video), at: .zero)
        let video = VideoComposition(showing: film, frameDuration: TestFilm.frameDuration, renderSize: Self.size)
        let output = try CompositionVideoOutput(of: film, video)
        var count = 0
        for try await frame in output.frames {
            #expect(FrameBytes(frame.copy()).bytes == a.frames[count])
            count += 1
        }
        #expect(count == 5)
    }

    @Test func `a generator finds the frames of a composition at any times, and draws each once`() async throws {
        let (a, b) = (try TestFilm(seed: 25, frames: 25), try TestFilm(seed: 26, frames: 25)), film = try Drawing.film([a, b])
        let dissolve = VideoCompositionInstruction.crossDissolve(from: 1, to: 2, in: Drawing.second)
        let video = VideoComposition(frameDuration: TestFilm.frameDuration, renderSize: Self.size, instructions: [dissolve])
        func wanted(_ number: Int) -> FloatFrame {
            FloatFrame(Self.size, b.frames[number]).under(FloatFrame(Self.size, a.frames[number]), opacity: 1 - Double(number) / 25)
        }
        let generator = try FrameGenerator(of: film, video)
        let times = [900, 0, 39, 40, 500, 519, 960, 999].map(Self.time)
        var found = 0
        for try await answer in generator.frames(at: times) {
            let number = Int(answer.requestedTime.seconds * 1000 + 0.5) / 40
            #expect(answer.actualTime == Self.time(number * 40))
            #expect(wanted(number).difference(FrameBytes(try answer.frame.copy())) <= 0.52, "at \(answer.requestedTime)")
            found += 1
        }
        #expect(found == times.count && generator.samplesDecoded == 5 && generator.duration == film.duration)
        for (selection, pairs) in [
            (.next, [(0, 0), (1, 40), (40, 40), (930, 960)]), (.nearest, [(0, 0), (20, 0), (21, 40), (999, 960), (5000, 960)]),
        ]
            as [(FrameGeneratorOptions.Selection, [(Int, Int)])]
        {
            let generator = try FrameGenerator(of: film, video, options: FrameGeneratorOptions(selection: selection))
            for (time, expected) in pairs { #expect(try generator.frame(at: Self.time(time)).presentationTime == Self.time(expected)) }
        }
        for (selection, time) in [(.onScreen, 1000), (.next, 961)] as [(FrameGeneratorOptions.Selection, Int)] {
            let generator = try FrameGenerator(of: film, video, options: FrameGeneratorOptions(selection: selection))
            let error = #expect(throws: ReadingError.self) { _ = try generator.frame(at: Self.time(time)) }
            #expect(error?.code == .noFrame)
        }
        generator.cancel()
        let error = #expect(throws: ReadingError.self) { _ = try generator.frame(at: .zero) }
        #expect(error?.code == .cancelled)
    }
}
