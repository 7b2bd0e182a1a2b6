import CAV
import Glibc
import Media
import SampleQueue
import Sandbox
import TestSupport
import Testing

@testable import SoundDecoding

/// A process that lies about sound: each lie ends it, and none reaches memory that is not the tray's.
@Suite struct LyingSoundTests {
    /// A decoder whose process is the test: it answers `ready`, then what it is told to.
    private static func decode(
        _ answers: [SoundAnswer], deadline: HostSpan = .seconds(60),
        _ check: (SandboxedSoundDecoder, PacketSocket, () throws -> [SoundFilm.Frame]) throws -> Void
    )
        throws
    {
        let film = try SoundFilm(TestAssets.demo)
        let (ours, work) = try PacketSocket.pair(), (memory, _) = try PacketSocket.pair()
        for answer in [.confined(SandboxReport()), .ready] + answers {
            var writer = WireWriter()
            writer.put(answer)
            try work.send(writer)
        }
        let options = SandboxOptions(policy: .decoder, restarts: RestartLimit(count: 0, window: .seconds(3600)), hangDeadline: deadline)
        let launch = SoundProcessLaunch(program: "/nowhere/decoder", first: SandboxedProcess(work: ours, memory: memory))
        let decoder = try SandboxedSoundDecoder(format: film.format, options, launch)
        try check(decoder, work) {
            var frames: [SoundFilm.Frame] = []
            try film.decode(film.packets[0], decoder, &frames)
            return frames
        }
    }

    private static let honest = SoundFrame(
        offset: 0, sampleFormat: AV_SAMPLE_FMT_FLTP.rawValue, rate: 48_000, frameCount: 1024, time: 0, channelCount: 2,
        channelOrder: AV_CHANNEL_ORDER_NATIVE.rawValue, channelMask: 3)

    private static func frame(_ change: (inout SoundFrame) -> Void) -> SoundAnswer {
        var frame = honest
        change(&frame)
        return .frame(frame)
    }

    @Test func `an honest answer is sound`() throws {
        try Self.decode([.frame(Self.honest), .done(number: 1, damaged: 0)]) { _, _, frames in
            let frames = try frames()
            #expect(frames.count == 1 && frames[0].samples.count == 8192 && frames[0].channels == "stereo")
        }
    }

    private static let lies: [(SoundAnswer, String)] = [
        (frame { $0.offset = 1 << 20 }, "beyond the memory"),
        (frame { $0.offset = .max }, "beyond the memory"),
        (frame { $0.frameCount = .max }, "beyond the memory"),
        (frame { $0.frameCount = (1 << 20) / 8 + 1 }, "beyond the memory"),
        (frame { $0.frameCount = 0 }, "beyond the memory"),
        (frame { $0.frameCount = -1 }, "beyond the memory"),
        (frame { $0.sampleFormat = -1 }, "that there is not"),
        (frame { $0.sampleFormat = 1000 }, "that there is not"),
        (frame { $0.rate = 0 }, "that there is not"),
        (frame { $0.rate = .max }, "that there is not"),
        (frame { $0.channelCount = 0 }, "that there is not"),
        (frame { $0.channelCount = 65 }, "that there is not"),
        (frame { $0.channelCount = .max }, "that there is not"),
        (frame { $0.channelMask = 7 }, "in channels"),
        (frame { $0.channelMask = 0 }, "in channels"),
        // A list of names would be at the address that the mask is.
        (frame { ($0.channelOrder, $0.channelMask) = (AV_CHANNEL_ORDER_CUSTOM.rawValue, 0x4141_4141) }, "in channels"),
        (frame { $0.channelOrder = .max }, "in channels"),
        (.done(number: 1, damaged: 2), "not asked"), (.full(number: 2), "not asked"), (.done(number: 2, damaged: 0), "not asked"),
        (.ready, "not asked"),
        (.confined(SandboxReport()), "not asked"),
    ]

    @Test(arguments: lies.indices) func `a lie ends the process`(_ index: Int) throws {
        let (lie, words) = Self.lies[index]
        try Self.decode([lie]) { decoder, _, frames in
            #expect { try frames() } throws: { "\($0)".contains(words) }
            #expect(decoder.deaths == 1)
        }
    }

    /// Sound that lies hours ahead would fill every queue, and the film would stand.
    @Test(
        arguments: [(0, true), (9_000_000_000, true), (-9_000_000_000, true), (11_000_000_000, false), (.min, false), (.max, false)]
            as [(Int64, Bool)])
    func `a time far from the packet's is not believed`(time: Int64, isBelieved: Bool) throws {
        try Self.decode([Self.frame { $0.time = time }, .done(number: 1, damaged: 0)]) { decoder, _, frames in
            let frames = try frames()
            #expect(frames.map(\.time) == [isBelieved ? time : .min] && decoder.deaths == 0)
        }
    }

    /// The sound waits for room where it is heard, as long as playback stands; the process has its time afterwards all the same.
    @Test func `time that the taker of the sound takes does not count`() throws {
        try Self.decode([.frame(Self.honest), .full(number: 1)], deadline: .seconds(5)) { decoder, work, _ in
            let film = try SoundFilm(TestAssets.demo)
            let honest = LoopThread(name: "honest") {
                var more: [UInt8]?
                // Set-up and packets come before it.
                while more?.first != 4 {
                    guard let received = try? work.receive() else { return }
                    switch consume received {
                    case .message(let bytes, _): more = bytes
                    case .nothing: usleep(1000)
                    case .end: return
                    }
                }
                var writer = WireWriter()
                writer.put(.done(number: 1, damaged: 0))
                try? work.send(writer)
            }
            guard case .compressed(let block, _) = film.packets[0].content else { return }
            try unsafe decoder.decode(block.packet, presentationTime: .zero) { _ in true }
            try unsafe decoder.settle { _ in
                usleep(5_500_000)
                return true
            }
            #expect(decoder.deaths == 0)
            honest.join()
        }
    }

    @Test func `answers without end are noticed`() throws {
        try Self.decode([]) { _, work, frames in
            let liar = LoopThread(name: "liar") {
                var writer = WireWriter()
                for _ in 0..<60 { writer.put(.frame(Self.honest)) }
                while (try? work.send(writer, waits: true)) != nil {}
            }
            #expect { try frames() } throws: { "\($0)".contains("without end") }
            liar.join()
        }
    }

    @Test func `messages of any bytes are read or refused`() {
        var dice = Dice(seed: 7)
        var writer = WireWriter()
        for answer in Self.lies.map(\.0) + [.refused(AudioError(.noDecoder, "none"))] { writer.put(answer) }
        var read = 0
        for _ in 0..<TestExtent.rounds(20_000, full: 1_000_000, sanitized: 5_000) {
            var bytes = writer.bytes
            for _ in 0..<Int.random(in: 0..<4, using: &dice) { bytes[.random(in: bytes.indices, using: &dice)] = .random(in: 0...255, using: &dice) }
            var reader = WireReader(bytes.prefix(.random(in: 0...bytes.count, using: &dice)))
            while !reader.isAtEnd, (try? SoundAnswer(&reader)) != nil { read += 1 }
            _ = try? SoundRequest(bytes.prefix(.random(in: 0...bytes.count, using: &dice)))
        }
        #expect(read > 0)
    }

    @Test func `requests are read as they were written`() throws {
        let format = AudioFormat(
            codecName: "aac", sampleRate: 44_100, channelCount: 6, channelLayout: "5.1", encoderDelay: 1024, bitsPerCodedSample: 16, blockAlign: 4,
            bitRate: 128_000, profile: 1, codecTag: 7, frameSize: 1024)
        let packet = SoundPacket(byteCount: 100, sideByteCount: 18, time: -5, flags: 1)
        let packets = SoundPackets(number: 7, isApart: true, packets: Array(repeating: packet, count: SoundPackets.most))
        for request in [.configure(format, configurationByteCount: 5), .packets(packets), .drain(number: 8), .flush(number: 9), .more(number: 10)]
            as [SoundRequest]
        {
            var writer = WireWriter()
            writer.put(request)
            #expect(try SoundRequest(writer.bytes[...]) == request)
            #expect(throws: WireError.self) { try SoundRequest(writer.bytes.dropLast()) }
            #expect(throws: WireError.self) { try SoundRequest((writer.bytes + [0])[...]) }
        }
        var writer = WireWriter()
        writer.put(.packets(SoundPackets(number: 7, isApart: false, packets: packets.packets + [packet])))
        #expect(throws: WireError.self) { try SoundRequest(writer.bytes[...]) }
    }
}
