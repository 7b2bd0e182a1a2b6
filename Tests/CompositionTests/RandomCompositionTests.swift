import Composition
import Demuxing
import Media
import Reading
import SampleQueue
import SurfacePool
import TestSupport
import Testing

/// Compositions that nobody thought of: what is valid is drawn as floating-point arithmetic says, and cuts are exact in any film.
@Suite struct RandomCompositionTests {
    typealias Times = CompositionReadingTests

    /// The number of a film and of the frame of it that a track shows; nil where the track is empty.
    typealias Shown = (film: Int, frame: Int)

    /// Tracks of random segments of `films`, each of 20 frames, and what they show in each frame of the composition.
    static func tracks(_ films: [TestFilm], _ dice: inout Dice) throws -> (film: Composition, shown: [[Shown?]]) {
        var film = Composition(), shown: [[Shown?]] = []
        for _ in 0..<Int.random(in: 1...3, using: &dice) {
            let track = film.addTrack(.video)
            var here: [Shown?] = []
            for _ in 0..<Int.random(in: 1...4, using: &dice) {
                let count = Int.random(in: 1...4, using: &dice), index = Int.random(in: 0..<films.count, using: &dice)
                let first = Int.random(in: 0...(19 - 2 * count), using: &dice), speed = Int.random(in: 1...2, using: &dice)
                let start = here.count
                if Int.random(in: 0..<4, using: &dice) == 0 {
                    // A gap at the end of a track is none: it goes with what follows.
                    here += [Shown?](repeating: nil, count: count)
                } else {
                    try film.insert(
                        Times.range(first * 40, (first + count * speed) * 40), of: films[index].source, into: track, at: Times.time(start * 40),
                        duration: Times.time(count * 40))
                    here += (0..<count).map { (index, first + $0 * speed) }
                }
            }
            while case .some(.none) = here.last { here.removeLast() }
            shown.append(here)
        }
        return (film, shown)
    }

    @Test func `each valid one is drawn frame by frame, and each that is broken is refused with the rule's place`() throws {
        let films = try (0..<3).map { try TestFilm(seed: 200 + UInt64($0), frames: 20) }, size = Drawing.size
        let seed = UInt64.random(in: 0 ... .max)
        var dice = Dice(seed: seed), drawn = 0, refused = 0
        for round in 0..<TestExtent.rounds(30, full: 1000, sanitized: 10) {
            let (film, shown) = try Self.tracks(films, &dice), count = shown.map(\.count).max() ?? 0
            guard count > 0 else { continue }
            var borders = Set([0, count])
            for _ in 0..<3 { borders.insert(Int.random(in: 0...count, using: &dice)) }
            for track in shown { borders.insert(track.count) }
            let edges = borders.sorted()
            var video = VideoComposition(frameDuration: TestFilm.frameDuration, renderSize: size), opacities: [[(track: Int, value: Double)]] = []
            for (start, end) in zip(edges, edges.dropFirst()) {
                // A track is required only where it has frames.
                let usable = shown.indices.filter { index in shown[index].indices.contains { (start..<end).contains($0) && shown[index][$0] != nil } }
                let layers = usable.shuffled(using: &dice).map { (index: Int) -> (Int, Double) in
                    (index, Double(Int.random(in: 1...4, using: &dice)) / 4)
                }
                opacities += [[(track: Int, value: Double)]](repeating: layers.map { (track: $0.0, value: $0.1) }, count: end - start)
                video.instructions.append(
                    VideoCompositionInstruction(
                        timeRange: Times.range(start * 40, end * 40),
                        layers: layers.map { VideoCompositionLayer(track: film.tracks[$0.0].id, opacity: $0.1) }))
            }
            let output = try CompositionVideoOutput(of: film, video)
            var number = 0
            while let frame = try output.nextFrame() {
                var wanted = FloatFrame(size, codes: [16, 128, 128])
                for layer in opacities[number].reversed() {
                    guard shown[layer.track].indices.contains(number), let source = shown[layer.track][number] else { continue }
                    wanted = wanted.under(FloatFrame(size, films[source.film].frames[source.frame]), opacity: layer.value)
                }
                #expect(wanted.difference(FrameBytes(frame)) <= 0.6, "seed \(seed), round \(round), frame \(number)")
                number += 1
            }
            #expect(number == count, "seed \(seed), round \(round)")
            drawn += 1
            // The same without one of its instructions.
            let place = Int.random(in: 0..<video.instructions.count, using: &dice), missing = video.instructions[place].timeRange
            video.instructions.remove(at: place)
            let error = #expect(throws: ReadingError.self) { _ = try CompositionVideoOutput(of: film, video) }
            #expect(error?.code == .composition && error?.description.contains("\(missing.start)") == true, "seed \(seed), round \(round)")
            refused += 1
        }
        #expect(drawn > 0 && refused == drawn)
    }

    @Test(arguments: ["libx264", "libx265"])
    func `cuts are exact where frames are predicted across the sync samples`(_ encoder: String) throws {
        let parameters = "keyint=6:min-keyint=6:open-gop=1:bframes=3:b-adapt=0:scenecut=0:log-level=none"
        let isAVC = encoder == "libx264"
        let codec = isAVC ? "h264" : "hevc", name = isAVC ? "x264-params" : "x265-params"
        let moving = try TestFilm(
            seed: 210, frames: 40, codec: codec, encoder: [name: isAVC ? parameters.replacing(":log-level=none", with: "") : parameters]
        ) {
            UInt8(truncatingIfNeeded: 16 + ($1 == 0 ? 5 : 3) * $0 + $2 * 2 + $3)
        }
        let reader = try AssetReader(url: moving.path)
        var sync = MediaTime.invalid, isOpen = false
        while let sample = try reader.nextSample() {
            if sample.flags.contains(.sync), sample.presentationTime > .zero { sync = sample.presentationTime }
            if sync.isNumeric, !sample.flags.contains(.sync), sample.presentationTime < sync { isOpen = true }
        }
        #expect(isOpen, "no frame is shown before the sync sample that it follows")
        var all: [FrameBytes] = []
        let linear = try VideoTrackOutput(url: moving.path)
        while let frame = try linear.nextFrame() { all.append(FrameBytes(frame)) }
        #expect(all.count == 40 && Set(all).count == 40)
        // From any frame to the film's end: at the end of the last group the decoder keeps frames to itself that wait for the recovery point.
        for first in 0..<40 {
            try linear.reset(forReadingTimeRanges: [MediaTimeRange(start: Times.time(first * 40), end: .positiveInfinity)])
            var rest: [Int] = []
            while let frame = try linear.nextFrame() { rest.append(all.firstIndex(of: FrameBytes(frame)) ?? -1) }
            #expect(rest == Array(first..<40), "from frame \(first) on")
        }
        let seed = UInt64.random(in: 0 ... .max)
        var dice = Dice(seed: seed), film = Composition(), wanted: [Int] = []
        let track = film.addTrack(.video)
        for _ in 0..<TestExtent.rounds(20, full: 200, sanitized: 8) {
            let first = Int.random(in: 0..<40, using: &dice), count = Int.random(in: 1...(min(5, 40 - first)), using: &dice)
            try film.insert(Times.range(first * 40, (first + count) * 40), of: moving.source, into: track, at: Times.time(wanted.count * 40))
            wanted += first..<(first + count)
        }
        let video = VideoComposition(showing: film, frameDuration: TestFilm.frameDuration, renderSize: Drawing.size)
        let output = try CompositionVideoOutput(of: film, video)
        var number = 0
        while let frame = try output.nextFrame() {
            let found = FrameBytes(frame), shown = all.firstIndex(of: found) ?? -1
            #expect(found == all[wanted[number]], "seed \(seed), frame \(number): of the film \(shown), not \(wanted[number])")
            number += 1
        }
        #expect(number == wanted.count)
    }
}
