import Decoding
import Demuxing
import Media
import SampleQueue
import SurfacePool
import TestSupport
import Testing

/// Streams of real films, small enough to go through them often.
struct AnswerFilms {
    struct Film: Sendable {
        var name: String
        var format: VideoFormat
        var samples: [SampleBuffer]
        var syncs: [Int]
    }

    /// A few of each codec, the clip of the project first; picked by the seed.
    static func pick(_ count: Int, seed: UInt64) -> [Film] {
        var dice = Dice(seed: seed)
        var films = film(TestAssets.demo).map { [$0] } ?? []
        guard let catalog = MediaCatalog.shared else { return films }
        for candidate in catalog.films.filter({ $0.group != "malformed" }).shuffled(using: &dice) where films.count < count {
            let sides = candidate.size.split(separator: "x").compactMap { Int($0) }
            guard sides.count == 2, sides[0] * sides[1] <= 400_000, films.count(where: { $0.format.codec.name == candidate.codec }) < 3,
                let film = film(catalog.path(candidate.path))
            else { continue }
            films.append(film)
        }
        return films
    }

    static func film(_ path: String) -> Film? {
        guard let reader = try? AssetReader(url: path), let track = reader.tracks.first(where: { $0.kind == .video }),
            case .video(let format) = track.format
        else { return nil }
        reader.select([track.id])
        var samples: [SampleBuffer] = []
        while samples.count < 200, let sample = try? reader.nextSample() {
            // A change of format is another film's part.
            guard case .compressed(_, .video(let now)) = sample.content, now == format else { break }
            samples.append(sample)
        }
        let syncs = samples.indices.filter { samples[$0].flags.contains(.sync) }
        return syncs.isEmpty ? nil : Film(name: path, format: format, samples: samples, syncs: syncs)
    }

    /// Some bytes changed.
    static func damaged(_ sample: SampleBuffer, _ dice: inout Dice) -> SampleBuffer {
        guard case .compressed(let block, let format) = sample.content, block.count > 0 else { return sample }
        var bytes = unsafe block.withUnsafeBytes { unsafe Array($0) }
        for _ in 0..<Int.random(in: 1...8, using: &dice) {
            bytes[Int.random(in: 0..<bytes.count, using: &dice)] = UInt8.random(in: 0...255, using: &dice)
        }
        if Bool.random(using: &dice) { bytes.removeLast(Int.random(in: 0...bytes.count / 2, using: &dice)) }
        var copy = sample
        copy.content = unsafe .compressed(bytes.withUnsafeBytes { unsafe BlockBuffer(copying: $0) }, format)
        return copy
    }
}

@Suite("one answer for every sample", .serialized)
struct AnswerTests {
    /// Whole films, nothing special: a frame for each sample but those that carry none.
    @Test("films from their beginning to their end", arguments: [1, 3])
    func plain(threads: Int) throws {
        for film in AnswerFilms.pick(TestExtent.rounds(40, full: 40, sanitized: 10), seed: 11) {
            let session = try DecompressionSession(format: film.format, options: DecoderOptions(threads: threads))
            let audit = AnswerAudit(checksOrder: true)
            for sample in film.samples {
                audit.give(sample)
                try session.decode(sample) { audit.receive($0) }
            }
            session.finishDelayedFrames { audit.receive($0) }
            #expect(audit.unanswered == 0 && audit.complaints == [], "\(film.name), threads \(threads)")
            #expect(audit.extras == 0, "\(film.name): \(audit.extras) of \(audit.frames) frames answer nothing")
            #expect(audit.frames > 0, "\(film.name): \(audit.drops)")
        }
    }

    @Test("random samples, instructions, damage, jumps, flushes, drains, changes of film and ends", arguments: [1, 2, 3, 4], [false, true])
    func random(seed: UInt64, isAsynchronous: Bool) throws {
        let films = AnswerFilms.pick(12, seed: seed)
        var dice = Dice(seed: seed)
        for round in 0..<TestExtent.rounds(50, full: 50, sanitized: 10) {
            let isSandboxed = round % 10 == 9
            let complaints = try script(films, &dice) { format, options, audit in
                let session: any DecodingSession =
                    isSandboxed
                    ? try SandboxedSession(format: format, options: options, sandbox: SandboxedSessionTests.options()) as any DecodingSession
                    : try DecompressionSession(format: format, options: options)
                return isAsynchronous ? Deferred(session, audit) : Direct(session, audit)
            }
            #expect(complaints == [], "seed \(seed), round \(round)\(isSandboxed ? ", sandboxed" : "")")
        }
    }

    /// One life of some sessions, one after the other as the formats ask for it. Returns what was wrong.
    private func script(
        _ films: [AnswerFilms.Film], _ dice: inout Dice, make: (VideoFormat, DecoderOptions, AnswerAudit) throws -> any SessionUnderTest
    ) throws -> [String] {
        let isDamaging = Bool.random(using: &dice)
        let options = DecoderOptions(threads: Int.random(in: 1...4, using: &dice), lowDelay: Int.random(in: 0..<5, using: &dice) == 0)
        var film = films.randomElement(using: &dice)!
        var position = 0, complaints: [String] = []
        var audit = AnswerAudit(checksOrder: !isDamaging)
        var session = try make(film.format, options, audit)
        func check(_ after: String) {
            if audit.unanswered > 0 { complaints.append("\(film.name): \(audit.unanswered) of \(audit.given) unanswered after \(after)") }
            audit.jump()
        }
        for _ in 0..<Int.random(in: 1...25, using: &dice) {
            switch Int.random(in: 0..<10, using: &dice) {
            case 0:
                session.flush()
                check("a flush")
                position = film.syncs.randomElement(using: &dice)!
            case 1:
                session.finish()
                check("a drain")
            case 2 where isDamaging:
                // Without telling anybody: what others refer to is missing.
                position = Int.random(in: 0..<film.samples.count, using: &dice)
                audit.jump()
            case 3:
                film = films.randomElement(using: &dice)!
                position = film.syncs.randomElement(using: &dice)!
                session.finish()
                check("the last of a film")
                guard !session.session.canAccept(film.format) else { break }
                session.invalidate()
                audit.end()
                complaints += audit.complaints.map { "\(film.name), \(options.threads) threads, low delay \(options.lowDelay): \($0)" }
                audit = AnswerAudit(checksOrder: !isDamaging)
                session = try make(film.format, options, audit)
            default:
                for _ in 0..<Int.random(in: 1...20, using: &dice) where position < film.samples.count {
                    var sample = film.samples[position]
                    position += 1
                    if isDamaging, Int.random(in: 0..<8, using: &dice) == 0 { sample = AnswerFilms.damaged(sample, &dice) }
                    if Int.random(in: 0..<10, using: &dice) == 0 { sample.flags.insert(.doNotDisplay) }
                    if Int.random(in: 0..<20, using: &dice) == 0 { sample.flags.insert(.droppable) }
                    var instructions = DecodeInstructions(
                        doNotOutput: Int.random(in: 0..<10, using: &dice) == 0, skipsNonReference: Int.random(in: 0..<6, using: &dice) == 0,
                        isFollowed: audit.given % 3 != 2)
                    if Int.random(in: 0..<10, using: &dice) == 0 { instructions.deadline = .distantPast }
                    audit.give(sample)
                    try session.decode(sample, instructions)
                }
            }
        }
        if Bool.random(using: &dice) {
            session.finish()
            check("the last drain")
        }
        session.invalidate()
        audit.end()
        session.finish()
        session.flush()
        #expect(throws: DecodingError.self) { try session.decode(film.samples[0], DecodeInstructions()) }
        return complaints + audit.complaints.map { "\(film.name), \(options.threads) threads, low delay \(options.lowDelay): \($0)" }
    }

    @Test("a session that another thread ends in the middle says nothing afterwards", arguments: [1, 2, 3, 4, 5, 6])
    func endedByAnother(seed: UInt64) throws {
        let film = try #require(AnswerFilms.film(TestAssets.demo))
        for isAsynchronous in [false, true] {
            let audit = AnswerAudit(checksOrder: true)
            let inner = try DecompressionSession(format: film.format, options: DecoderOptions(threads: Int(seed % 3) + 1))
            let session: any SessionUnderTest = isAsynchronous ? Deferred(inner, audit) : Direct(inner, audit)
            let feeder = LoopThread(name: "feeder") {
                for sample in film.samples {
                    audit.give(sample)
                    do { try session.decode(sample, DecodeInstructions()) } catch { return audit.takeBack() }
                }
            }
            audit.wait(forAnswers: Int(seed) * 7)
            session.invalidate()
            audit.end()
            feeder.join()
            #expect(audit.complaints == [], "seed \(seed), asynchronous \(isAsynchronous)")
        }
    }
}

/// A session that is driven by random, with the audit of its answers.
protocol SessionUnderTest: Sendable {
    var session: any DecodingSession { get }
    func decode(_ sample: SampleBuffer, _ instructions: DecodeInstructions) throws(DecodingError)
    /// Every sample has its answer afterwards.
    func finish()
    func flush()
    func invalidate()
}

/// Answers come within the calls.
struct Direct: SessionUnderTest {
    let session: any DecodingSession
    let audit: AnswerAudit

    init(_ session: any DecodingSession, _ audit: AnswerAudit) {
        self.session = session
        self.audit = audit
    }

    func decode(_ sample: SampleBuffer, _ instructions: DecodeInstructions) throws(DecodingError) {
        try session.decode(sample, instructions) { audit.receive($0) }
    }
    func finish() { session.finishDelayedFrames { audit.receive($0) } }
    func flush() { session.flush { audit.receive($0) } }
    func invalidate() { session.invalidate() }
}

/// Answers come on a thread of their own.
struct Deferred: SessionUnderTest {
    let decoder: AsynchronousDecoder

    init(_ session: any DecodingSession, _ audit: AnswerAudit) {
        decoder = AsynchronousDecoder(session, capacity: 3) { audit.receive($0) }
    }

    var session: any DecodingSession { decoder.session }
    func decode(_ sample: SampleBuffer, _ instructions: DecodeInstructions) throws(DecodingError) { try decoder.decode(sample, instructions) }
    func finish() { decoder.waitForAsynchronousFrames() }
    func flush() { decoder.flush() }
    func invalidate() { decoder.invalidate() }
}
