import Composition
import Media
import Reading
import TestSupport
import Testing

/// The sound of a composition lies where it should, to the frame of sound.
@Suite struct CompositionSoundTests {
    typealias Times = CompositionReadingTests

    static func read(_ output: CompositionSoundOutput) throws -> [Float] {
        var all: [Float] = []
        while let buffer = try output.nextBuffer() { all += buffer.samples }
        return all
    }

    /// The first channel of a film's sound.
    static func left(_ film: TestFilm, _ position: Int) -> Float {
        film.sound.indices.contains(2 * position) ? Float(film.sound[2 * position]) / 32768 : 0
    }

    @Test func `cuts, gaps and ramps of several tracks are mixed to the sample`() throws {
        let (a, b) = (try TestFilm(seed: 40, frames: 20, hasSound: true), try TestFilm(seed: 41, frames: 20, hasSound: true))
        var film = Composition()
        let (first, second) = (film.addTrack(.sound), film.addTrack(.sound))
        // 100 ms of the one, a gap of 50 ms and 100 ms from another place; the other over all of it, fading out.
        try film.insert(Times.range(300, 400), of: a.source, into: first, at: .zero)
        try film.insert(Times.range(100, 200), of: a.source, into: first, at: Times.time(150))
        try film.insert(Times.range(0, 250), of: b.source, into: second, at: .zero)
        var fade = Ramped(0.5)
        fade.ramp(from: 0.5, to: 0, during: Times.range(50, 150))
        let output = try CompositionSoundOutput(of: film, AudioMix(volumes: [second: fade]))
        let found = try Self.read(output)
        #expect(found.count == 2 * 12_000)
        var wrong: Float = 0
        for position in 0..<12_000 {
            let time = Double(position) / 48_000
            var wanted = Self.left(b, position) * Float(time < 0.05 ? 0.5 : time >= 0.15 ? 0 : 0.5 * (0.15 - time) / 0.1)
            if position < 4800 { wanted += Self.left(a, position + 14_400) }
            if position >= 7200 { wanted += Self.left(a, position - 7200 + 4800) }
            wrong = max(wrong, abs(found[2 * position] - wanted))
        }
        #expect(wrong < 1e-6)
        // Any range gives the same samples.
        let seed = UInt64.random(in: 0 ... .max)
        var dice = Dice(seed: seed)
        for _ in 0..<10 {
            let start = Int.random(in: 0..<200, using: &dice)
            output.reset(forReadingTimeRange: Times.range(start, start + 40))
            let part = try Self.read(output)
            #expect(part == Array(found[start * 96..<(start + 40) * 96]), "seed \(seed), at \(start) ms")
        }
    }

    @Test func `at another speed sound lasts as long as its frames, and a film that ends early is silent`() throws {
        let a = try TestFilm(seed: 42, frames: 10, hasSound: true)
        var film = Composition()
        let track = film.addTrack(.sound)
        try film.insert(Times.range(0, 100), of: a.source, into: track, at: .zero, duration: Times.time(200))
        try film.insert(Times.range(350, 500), of: a.source, into: track, at: Times.time(200))
        let found = try Self.read(CompositionSoundOutput(of: film))
        #expect(found.count == 2 * 16_800)
        // Half as fast: every second value is one of the film's, and the others lie between.
        for position in stride(from: 0, to: 9000, by: 500) {
            #expect(abs(found[2 * position] - Self.left(a, position / 2)) < 1e-5)
            let between = (Self.left(a, position / 2) + Self.left(a, position / 2 + 1)) / 2
            #expect(abs(found[2 * (position + 1)] - between) < 1e-5)
        }
        #expect(found[2 * 9600] == Self.left(a, 16_800) && found[2 * (9600 + 2399)] == Self.left(a, 19_199))
        #expect(found[(2 * (9600 + 2400))...].allSatisfy { $0 == 0 })
    }

    @Test func `a mix that makes no sense is not read, and a cancelled output ends`() throws {
        var film = Composition()
        let track = film.addTrack(.sound)
        try film.insert(Times.range(0, 100), of: CompositionSource(url: "/nowhere.wav"), into: track, at: .zero)
        #expect(throws: ReadingError.self) { _ = try CompositionSoundOutput(of: film, AudioMix(volumes: [7: Ramped(1)])) }
        let output = try CompositionSoundOutput(of: film)
        output.cancel()
        let error = #expect(throws: ReadingError.self) { _ = try output.nextBuffer() }
        #expect(error?.code == .cancelled)
    }
}
