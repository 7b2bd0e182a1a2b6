import Decoding
import Foundation
import Media
import SampleQueue
import TestSupport
import Testing

/// Films with wrong bytes, by the thousand, through the sandboxed decoder: whatever libavcodec makes of them, this process goes on.
@Suite(.serialized) struct MutationTests {
    /// Seconds to go on for; `PLAYER_FUZZ_SECONDS` makes it longer.
    private static let seconds = ProcessInfo.processInfo.environment["PLAYER_FUZZ_SECONDS"].flatMap(Double.init) ?? 8
    /// The same again with the same `PLAYER_FUZZ_SEED`.
    private static let seed = ProcessInfo.processInfo.environment["PLAYER_FUZZ_SEED"].flatMap(UInt64.init) ?? 20_000

    private struct Clip {
        var name: String
        var format: VideoFormat
        var samples: [SampleBuffer]
    }

    private static func clip(_ path: String) -> Clip? {
        guard let reader = try? AssetReader(url: path), let track = reader.tracks.first(where: { $0.kind == .video }),
            case .video(let format) = track.format
        else { return nil }
        reader.select([track.id])
        var samples: [SampleBuffer] = []
        while samples.count < 10, let sample = try? reader.nextSample() { samples.append(sample) }
        return samples.isEmpty ? nil : Clip(name: path, format: format, samples: samples)
    }

    private static func clips(_ dice: inout Dice) -> [String] {
        guard let catalog = MediaCatalog.shared else { return [TestAssets.demo] }
        return [TestAssets.demo] + catalog.films.filter { $0.group != "malformed" }.map { catalog.path($0.path) }.shuffled(using: &dice)
    }

    /// A few bytes, or many, changed, lost or doubled.
    private static func mutated(_ sample: SampleBuffer, _ dice: inout Dice) -> SampleBuffer {
        guard case .compressed(let block, let format) = sample.content, block.count > 0 else { return sample }
        var bytes = unsafe block.withUnsafeBytes { unsafe Array($0) }
        for _ in 0..<Int.random(in: 1...4, using: &dice) where !bytes.isEmpty {
            // Heads decide more than bodies.
            let place =
                Bool.random(using: &dice) ? Int.random(in: 0..<min(bytes.count, 64), using: &dice) : Int.random(in: 0..<bytes.count, using: &dice)
            let length = min(Int.random(in: 1...32, using: &dice), bytes.count - place)
            switch Int.random(in: 0..<6, using: &dice) {
            case 0: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &dice)
            case 1: bytes[place] = UInt8.random(in: 0...255, using: &dice)
            case 2: bytes.replaceSubrange(place..<place + length, with: repeatElement(Bool.random(using: &dice) ? 0xff : 0, count: length))
            case 3: bytes.removeSubrange(place..<place + length)
            case 4: bytes.insert(contentsOf: bytes[place..<place + length], at: place)
            default: bytes.removeSubrange(place...)
            }
        }
        var copy = sample
        copy.content = unsafe .compressed(bytes.withUnsafeBytes { unsafe BlockBuffer(copying: $0) }, format)
        return copy
    }

    /// What came of a sample, its picture given back.
    private enum Kind { case frame, dropped, failed(DecodingError) }

    private static func kind(_ output: consuming DecodeOutput) -> Kind {
        switch consume output {
        case .frame: .frame
        case .dropped: .dropped
        case .failed(_, let error): .failed(error)
        }
    }

    @Test func `mutated films cost no more than their decoder`() throws {
        var dice = Dice(seed: Self.seed)
        let end = Date().addingTimeInterval(Self.seconds)
        var inputs = 0, frames = 0, errors = 0, deaths: [String] = []
        for path in Self.clips(&dice) {
            guard Date() < end else { break }
            guard let clip = Self.clip(path) else { continue }
            var options = SandboxedSessionTests.options(restarts: 100, hang: .seconds(5))
            options.policy = .decoder
            guard let session = try? SandboxedSession(format: clip.format, options: DecoderOptions(threads: 2), sandbox: options) else { continue }
            // One round: the clip with one to three of its samples changed, from its beginning to its end.
            for _ in 0..<100 where Date() < end {
                let victims = Set((0..<Int.random(in: 1...3, using: &dice)).map { _ in Int.random(in: 0..<clip.samples.count, using: &dice) })
                for (index, sample) in clip.samples.enumerated() {
                    let given = victims.contains(index) ? Self.mutated(sample, &dice) : sample
                    try session.decode(given) { output in
                        switch Self.kind(output) {
                        case .frame: frames += 1
                        case .failed(let error):
                            errors += 1
                            if error.code == .decoderDied { deaths.append("\(clip.name), input \(inputs), sample \(index): \(error)") }
                        case .dropped: break
                        }
                    }
                }
                let before = session.statistics.deaths
                session.finishDelayedFrames { if case .frame = Self.kind($0) { frames += 1 } }
                let between = session.statistics.deaths
                session.flush()
                if between > before { deaths.append("\(clip.name), input \(inputs), at its end") }
                if session.statistics.deaths > between { deaths.append("\(clip.name), input \(inputs), at the flush") }
                inputs += 1
            }
        }
        print("mutations: seed \(Self.seed), \(inputs) inputs, \(frames) frames, \(errors) errors, \(deaths.count) decoders died")
        for death in deaths { print("mutations: \(death)") }
        #expect(inputs > 0 && frames > 0)
    }
}
