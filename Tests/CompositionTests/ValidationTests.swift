import Composition
import Media
import TestSupport
import Testing

/// What is wrong with a video composition is named, with its place.
@Suite(.unsanitized)
struct ValidationTests {
    typealias Times = EditingTests
    typealias Fault = VideoCompositionFault

    static func faults(_ video: VideoComposition, _ film: Composition, _ range: MediaTimeRange? = nil) -> [Fault] {
        var found: [Fault] = []
        let isValid = video.isValid(for: film, range: range) {
            found.append($0)
            return true
        }
        #expect(isValid == found.isEmpty)
        return found
    }

    /// Two tracks of 4 s, one of them empty in its first second, and a dissolve from 2 s to 3 s.
    static func example() throws -> (film: Composition, video: VideoComposition) {
        var film = Composition()
        let (a, b) = (film.addTrack(.video), film.addTrack(.video))
        _ = film.addTrack(.sound)
        try film.insert(Times.range(0, 40), of: CompositionSource(url: "a"), into: a, at: .zero)
        try film.insert(Times.range(0, 30), of: CompositionSource(url: "b"), into: b, at: Times.time(10))
        var video = VideoComposition(frameDuration: MediaTime(value: 1, timescale: 25), renderSize: PixelSize(width: 160, height: 90))
        video.instructions = [
            VideoCompositionInstruction(timeRange: Times.range(0, 20), layers: [VideoCompositionLayer(track: a)]),
            VideoCompositionInstruction.crossDissolve(from: a, to: b, in: Times.range(20, 30)),
            VideoCompositionInstruction(timeRange: Times.range(30, 40), layers: [VideoCompositionLayer(track: b)]),
        ]
        return (film, video)
    }

    @Test func `each rule is named with its place`() throws {
        let (film, whole) = try Self.example()
        #expect(Self.faults(whole, film).isEmpty)
        func first(_ change: (inout VideoComposition) -> Void) -> [Fault] {
            var video = whole
            change(&video)
            return Self.faults(video, film)
        }
        func instruction(_ range: MediaTimeRange, _ layer: VideoCompositionLayer) -> VideoCompositionInstruction {
            VideoCompositionInstruction(timeRange: range, layers: [layer])
        }
        let one = VideoCompositionLayer(track: 1)
        var twice = one, loud = one
        twice.opacity.ramp(from: 0, to: 1, during: Times.range(0, 10))
        twice.opacity.ramp(from: 0, to: 1, during: Times.range(5, 12))
        loud.opacity.set(1.5, at: Times.time(7))
        let cases: [(Fault.Rule, MediaTimeRange, (inout VideoComposition) -> Void)] = [
            (.frameDuration, Times.range(0, 0), { $0.frameDuration = .zero }),
            (.frameDuration, Times.range(0, 0), { $0.frameDuration = .positiveInfinity }),
            (.renderSize, Times.range(0, 0), { $0.renderSize = PixelSize(width: 160, height: 91) }),
            (.renderSize, Times.range(0, 0), { $0.renderSize = PixelSize(width: 0, height: 90) }),
            (.renderSize, Times.range(0, 0), { $0.renderScale = 0 }),
            (.renderSize, Times.range(0, 0), { $0.renderScale = .nan }),
            (.gap, Times.range(20, 30), { $0.instructions.remove(at: 1) }),
            (.gap, Times.range(30, 40), { $0.instructions.removeLast() }),
            (.gap, Times.range(0, 40), { $0.instructions = [] }),
            (.overlap, Times.range(15, 20), { $0.instructions[1] = instruction(Times.range(15, 30), one) }),
            (.outside, Times.range(30, 41), { $0.instructions[2] = instruction(Times.range(30, 41), one) }),
            (.missingTrack, Times.range(0, 20), { $0.instructions[0] = instruction(Times.range(0, 20), VideoCompositionLayer(track: 9)) }),
            (.missingTrack, Times.range(0, 20), { $0.instructions[0] = instruction(Times.range(0, 20), VideoCompositionLayer(track: 3)) }),
            (.ramp, Times.range(5, 5), { $0.instructions[0] = instruction(Times.range(0, 20), twice) }),
            (.ramp, Times.range(7, 7), { $0.instructions[0] = instruction(Times.range(0, 20), loud) }),
            (
                .ramp, Times.range(0, 0),
                { $0.instructions[0] = instruction(Times.range(0, 20), VideoCompositionLayer(track: 1, crop: LayerCrop(left: 0.5, right: 0.2))) }
            ),
            (
                .ramp, Times.range(0, 0),
                { $0.instructions[0] = instruction(Times.range(0, 20), VideoCompositionLayer(track: 1, transform: LayerTransform(scaleX: .nan))) }
            ),
            (.passthrough, Times.range(0, 20), { $0.instructions[0] = OddInstruction(timeRange: Times.range(0, 20)) }),
        ]
        for (number, (rule, range, change)) in cases.enumerated() {
            let found = first(change)
            #expect(found.count == 1 && found.first?.rule == rule && found.first?.range == range, "case \(number): \(found)")
        }
        // A track that has frames only later, in an instruction of its own.
        var split = whole
        split.instructions[0] = instruction(Times.range(0, 10), VideoCompositionLayer(track: 2))
        split.instructions.insert(instruction(Times.range(10, 20), one), at: 1)
        #expect(Self.faults(split, film).map(\.rule) == [.withoutMedia])
        #expect(Self.faults(split, film).first?.description == "From 00:00:00.000 to 00:00:01.000: Track 2 is required but has no frames there.")
        #expect(Self.faults(split, film, Times.range(10, 40)).isEmpty, "only the range that was asked for is looked at")
    }

    struct OddInstruction: VideoCompositionInstructing {
        var timeRange: MediaTimeRange
        let requiredTracks = [1]
        let passthroughTrack: Int? = 2
    }

    @Test func `the search ends when the caller wants no more`() throws {
        var (film, video) = try Self.example()
        video.frameDuration = .zero
        video.instructions = []
        var seen = 0
        #expect(
            !video.isValid(for: film) { _ in
                seen += 1
                return false
            })
        #expect(seen == 1 && !video.isValid(for: film))
        film = Composition()
        #expect(Self.faults(video, film).map(\.rule) == [.frameDuration], "an empty composition has no time that needs an instruction")
    }

    @Test func `the volumes of a mix are checked as well`() throws {
        let film = try Self.example().film
        #expect(AudioMix().isValid(for: film) && AudioMix(volumes: [3: Ramped(2)]).isValid(for: film))
        func fault(_ mix: AudioMix) -> Fault? {
            var found: Fault?
            #expect(
                !mix.isValid(for: film) {
                    found = $0; return true
                })
            return found
        }
        #expect(fault(AudioMix(volumes: [1: Ramped(1)]))?.rule == .missingTrack)
        #expect(fault(AudioMix(volumes: [3: Ramped(-0.1)]))?.rule == .ramp)
        #expect(fault(AudioMix(volumes: [3: Ramped(.infinity)]))?.rule == .ramp)
    }

    @Test func `instructions made from the tracks cover them and show the uppermost`() throws {
        let film = try Self.example().film
        let video = VideoComposition(showing: film, frameDuration: Times.time(1), renderSize: PixelSize(width: 16, height: 16))
        #expect(Self.faults(video, film).isEmpty)
        #expect(video.instructions.map(\.timeRange) == [Times.range(0, 10), Times.range(10, 40)])
        #expect(video.instructions.map(\.passthroughTrack) == [1, 2])
    }

    @Test func `of a thousand random compositions each that is broken is named, and no other`() throws {
        let seed = UInt64.random(in: 0 ... .max)
        var dice = Dice(seed: seed)
        for round in 0..<TestExtent.rounds(1000, full: 20_000) {
            var film = Composition()
            let length = Int.random(in: 4...40, using: &dice)
            for _ in 0..<Int.random(in: 1...3, using: &dice) {
                let track = film.addTrack(.video)
                try film.insert(Times.range(0, length), of: CompositionSource(url: "a"), into: track, at: .zero)
            }
            var video = VideoComposition(frameDuration: Times.time(1, 25), renderSize: PixelSize(width: 16, height: 16))
            let cuts = Set((0..<3).map { _ in Int.random(in: 1..<length, using: &dice) }).union([0, length]).sorted()
            video.instructions = zip(cuts, cuts.dropFirst()).map { start, end in
                var layers = film.tracks.map { VideoCompositionLayer(track: $0.id, opacity: Double.random(in: 0...1, using: &dice)) }
                layers[0].opacity.ramp(from: 1, to: 0, during: Times.range(start, end))
                return VideoCompositionInstruction(timeRange: Times.range(start, end), layers: layers.shuffled(using: &dice))
            }
            #expect(Self.faults(video, film).isEmpty, "seed \(seed), round \(round)")
            let place = Int.random(in: 0..<video.instructions.count, using: &dice)
            guard var broken = video.instructions[place] as? VideoCompositionInstruction else { continue }
            let whole = broken.timeRange
            var expected: Fault.Rule, range = whole
            switch Int.random(in: 0...5, using: &dice) {
            case 0:
                broken.timeRange = MediaTimeRange(start: whole.start, end: whole.end - Times.time(1, 100))
                (expected, range) = (.gap, MediaTimeRange(start: broken.timeRange.end, end: whole.end))
            case 1 where place > 0:
                broken.timeRange = MediaTimeRange(start: whole.start - Times.time(1, 100), end: whole.end)
                (expected, range) = (.overlap, MediaTimeRange(start: broken.timeRange.start, end: whole.start))
            case 2:
                broken.layers[0].track = 99
                expected = .missingTrack
            case 3:
                broken.layers[0].opacity.initial = -1
                (expected, range) = (.ramp, MediaTimeRange(start: whole.start, end: whole.start))
            case 4:
                video.frameDuration = Times.time(-1)
                (expected, range) = (.frameDuration, Times.range(0, 0))
            default:
                video.renderSize.width = 17
                (expected, range) = (.renderSize, Times.range(0, 0))
            }
            video.instructions[place] = broken
            let found = Self.faults(video, film)
            #expect(found.count == 1 && found[0].rule == expected && found[0].range == range, "seed \(seed), round \(round): \(found)")
        }
    }
}
