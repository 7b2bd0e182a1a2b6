import Lies
import Media
import SampleQueue
import Sandbox
import TestSupport
import Testing

@testable import Demuxing

/// A demuxer process that says things of the right form with the wrong numbers, in any order: it is ended, or obeyed within the bounds.
@Suite struct DemuxerMutationTests {
    private static let edges = [
        0, 1, 2, 3, 31, 32, 33, 63, 64, 255, 256, 999, 1000, 1001, 65_535, 65_536, 1 << 20, 1 << 20 + 1, 4 << 20 - 1, 4 << 20, 4 << 20 + 1,
        256 << 20 - 1, 256 << 20, 256 << 20 + 1, Int(Int32.max), 1 << 31, Int(UInt32.max),
    ]
    private static let times: [MediaTime] = [
        .zero, .invalid, .indefinite, .positiveInfinity, .negativeInfinity, MediaTime(value: .max, timescale: 1),
        MediaTime(value: .min, timescale: 1),
        MediaTime(value: -1, timescale: .max), MediaTime(value: 1001, timescale: 30_000),
    ]

    private static func count(_ dice: inout Dice) -> Int {
        Bool.random(using: &dice) ? Int.random(in: 0...200, using: &dice) : edges.randomElement(using: &dice)!
    }
    private static func time(_ dice: inout Dice) -> MediaTime { times.randomElement(using: &dice)! }

    private static func sample(_ dice: inout Dice) -> DemuxedSample {
        DemuxedSample(
            trackID: min(count(&dice), 65_535), presentationTime: time(&dice), decodeTime: time(&dice), duration: time(&dice),
            sourcePresentationTimestamp: .random(in: .min ... .max, using: &dice), sourceDecodeTimestamp: nil, sourceTimeBase: Ratio(0, -1),
            flags: SampleFlags(rawValue: .random(in: .min ... .max, using: &dice)), packetFlags: .random(in: .min ... .max, using: &dice),
            offset: count(&dice), byteCount: count(&dice), sideByteCount: Bool.random(using: &dice) ? 0 : count(&dice))
    }

    private static func answer(_ dice: inout Dice) -> DemuxerAnswer {
        switch Int.random(in: 0...11, using: &dice) {
        case 0: .bytes(source: UInt16(min(count(&dice), 65_535)), offset: Int64(count(&dice)), count: count(&dice))
        case 1: .other(["", "plain.mp4", "../x", "/etc/passwd", "http://127.0.0.1/"].randomElement(using: &dice)!)
        case 2: .closed(source: UInt16(min(count(&dice), 65_535)))
        case 3: .part(byteCount: count(&dice))
        case 4: .end
        case 5: .failed(AssetError(.damaged, "cut short"))
        case 6: .done
        case 7:
            .opened(DemuxedFilm(trackCount: count(&dice), duration: time(&dice), containerName: "", title: nil, isSeekable: true))
        case 8: .text(name: "title", ["", "\u{1b}[2J", "ü"].randomElement(using: &dice)!)
        case 9: .chapter(AssetChapter(range: MediaTimeRange(start: time(&dice), end: time(&dice)), title: "x"))
        default: .sample(sample(&dice))
        }
    }

    @Test func `messages with other numbers, in any order, are refused or obeyed within the bounds`() throws {
        var dice = Dice(seed: 0xde3a_11e5), liar = Liar(seed: 0xde3a), ends = 0, samples = 0
        for _ in 0..<TestExtent.rounds(400, full: 20_000, sanitized: 60) {
            let stage = try DemuxerLinkTests.Stage(), kept = KeptSamples(limit: 64 << 20)
            var unpacking = Unpacking(kept), held: [SampleBuffer] = []
            try stage.link.ask(.read)
            for _ in 0..<Int.random(in: 1...20, using: &dice) {
                var writer = WireWriter()
                writer.put(Self.answer(&dice))
                // Some are changed on their way, as `lying-proxy` does.
                for (bytes, _) in liar.isInTheMood(oneIn: 8) ? liar.lies(about: writer.bytes) : [(writer.bytes, true)] where !bytes.isEmpty {
                    var sent = WireWriter()
                    sent.put(bytes: bytes)
                    try stage.work.send(sent)
                }
            }
            stage.work.shutDown()
            do {
                while true {
                    switch try stage.link.next() {
                    case .sample(let described):
                        held.append(try unpacking.sample(described, of: stage.link.tray, .other("x")))
                        samples += 1
                    case .part(let byteCount): try unpacking.add(byteCount, of: stage.link.tray)
                    default: break
                    }
                    #expect(kept.used <= 64 << 20)
                }
            } catch {
                ends += 1
            }
            stage.link.process.end()
        }
        #expect(
            ends == TestExtent.rounds(400, full: 20_000, sanitized: 60) && samples > TestExtent.rounds(20, full: 20, sanitized: 0),
            "\(ends) ends, \(samples) samples")
    }
}
