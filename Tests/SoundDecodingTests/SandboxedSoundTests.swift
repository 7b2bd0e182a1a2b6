import Glibc
import Media
import SampleQueue
import Sandbox
import SoundDecoding
import TestSupport
import Testing

/// Sound decoded in a process of its own: the same frames, and sound that outlives the process.
@Suite struct SandboxedSoundTests {
    private static let films = ["demo.mp4", "audio-only.flac", "audio-only.m4a", "cover.m4a"]

    @Test(arguments: films) func `the process gives the same sound, at the same times`(_ name: String) throws {
        let film = try SoundFilm(TestAssets.path(name))
        let own = try AudioDecoder(format: film.format)
        let expected = try film.decode(own)
        let decoder = try film.sandboxed(.require)
        #expect(try film.decode(decoder) == expected)
        #expect(!expected.isEmpty && decoder.damagedPackets == 0 && decoder.deaths == 0)
        #expect(decoder.report.isConfined)
        // From the beginning again, where the overlap with the end of the film is heard.
        own.flush()
        decoder.flush()
        #expect(try film.decode(decoder) == film.decode(own))
    }

    @Test(.enabled(if: MediaCatalog.shared != nil, Comment(rawValue: MediaCatalog.absence)))
    func `third-party sound is decoded as in the program, that of damaged films too`() throws {
        let catalog = try #require(MediaCatalog.shared)
        var codecs: Set<String> = [], compared = 0
        for (index, entry) in catalog.films.enumerated() where index % MediaCatalog.sweepStep == 0 && entry.group != "hls" {
            guard let film = try? SoundFilm(catalog.path(entry.path)), let own = try? AudioDecoder(format: film.format) else { continue }
            // Every codec, and of each the first films.
            guard TestExtent.isFull || codecs.insert(film.format.codecName).inserted || compared < 12 else { continue }
            compared += 1
            let decoder = try film.sandboxed()
            var frames = try film.decode(decoder), expected = try film.decode(own)
            if entry.group == "malformed" {
                // libavcodec leaves what it cannot decode of a frame as the memory was.
                for index in frames.indices { frames[index].samples = [UInt8](repeating: 0, count: frames[index].samples.count) }
                for index in expected.indices { expected[index].samples = [UInt8](repeating: 0, count: expected[index].samples.count) }
            }
            #expect(frames == expected, "\(entry.path)")
            #expect(decoder.damagedPackets == own.damagedPackets && decoder.deaths == 0, "\(entry.path)")
        }
        #expect(compared > 0)
    }

    @Test func `a frame that is larger than the tray comes in parts, and is whole`() throws {
        // 6 channels of 32 bits: 4 MB in one packet.
        let format = AudioFormat(codecName: "pcm_s32le", sampleRate: 48_000, channelCount: 6, channelLayout: "5.1")
        let film = try SoundFilm(format: format, bytes: (0..<(4 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) })
        let whole = try #require(try film.decode(AudioDecoder(format: format)).first), parts = try film.decode(film.sandboxed())
        #expect(parts.count > 1 && parts.flatMap(\.samples) == whole.samples)
        #expect(parts.map(\.time) == parts.map(\.time).sorted() && parts.first?.time == whole.time)
        #expect(Set(parts.map(\.channels)) == ["5.1"])
    }

    @Test func `packets go together, and none is lost where they are asked for one at a time`() throws {
        let film = try SoundFilm(TestAssets.demo), decoder = try film.sandboxed()
        let together = try film.decode(film.sandboxed())
        var single: [SoundFilm.Frame] = []
        for packet in film.packets { try film.decode(packet, decoder, &single) }
        #expect(single.count > 100 && together.starts(with: single))
        // What was taken and is not wanted any more is forgotten.
        guard case .compressed(let block, _) = film.packets[0].content else { return }
        var after = 0
        try unsafe decoder.decode(block.packet, presentationTime: .zero) { _ in true }
        decoder.flush()
        try unsafe decoder.settle { _ in
            after += 1
            return true
        }
        #expect(after == 0)
    }

    @Test func `a process that is killed costs what it had, and another goes on, a hundred times with --full`() throws {
        let film = try SoundFilm(TestAssets.demo)
        let expected = Set(try film.decode(AudioDecoder(format: film.format)))
        let decoder = try film.sandboxed(restarts: 1000), wanted = TestExtent.rounds(5, full: 100, sanitized: 3)
        var frames: [SoundFilm.Frame] = [], kills = 0, sent = 0, rounds = 0
        while kills < wanted {
            for (index, packet) in film.packets.enumerated() {
                if index % 20 == 10, kills < wanted, let process = decoder.processIdentifier {
                    kill(process, SIGKILL)
                    kills += 1
                }
                try film.decode(packet, decoder, &frames)
                sent += 1
            }
            decoder.flush()
            rounds += 1
        }
        #expect(decoder.deaths == kills && kills == wanted && decoder.damagedPackets == kills)
        // AAC's first frame after a start has no overlap with the one before; in a later round it has one with the film's end.
        #expect(frames.filter { expected.contains($0) }.count >= sent - 3 * kills - 3 * rounds)
    }

    @Test func `a stopped process and one that is silent are ended`() throws {
        let film = try SoundFilm(TestAssets.demo)
        let decoder = try film.sandboxed(restarts: 1)
        var frames: [SoundFilm.Frame] = []
        kill(try #require(decoder.processIdentifier), SIGSTOP)
        try film.decode(film.packets[0], decoder, &frames)
        #expect(decoder.deaths == 1 && frames.isEmpty)
        try film.decode(film.packets[1], decoder, &frames)
        try film.decode(film.packets[2], decoder, &frames)
        #expect(decoder.deaths == 1 && !frames.isEmpty)
    }

    @Test func `after too many deaths there is no sound until the next seek`() throws {
        let film = try SoundFilm(TestAssets.demo)
        let decoder = try film.sandboxed(restarts: 1)
        var frames: [SoundFilm.Frame] = []
        kill(try #require(decoder.processIdentifier), SIGKILL)
        try film.decode(film.packets[0], decoder, &frames)
        kill(try #require(decoder.processIdentifier), SIGKILL)
        #expect {
            try film.decode(film.packets[1], decoder, &frames)
        } throws: {
            let error = $0 as? AudioError
            return error?.code == .sandbox
                && error?.description == "the sound was given up after 2 processes died; the last one was killed by signal 9 (Killed)"
        }
        #expect(throws: AudioError.self) { _ = try film.decode(decoder) }
        decoder.flush()
        #expect(try film.decode(decoder).isEmpty == false)
    }

    @Test func `a wait that is cancelled ends`() throws {
        let film = try SoundFilm(TestAssets.demo)
        let isCancelled = Monitor(false)
        let decoder = try film.sandboxed(hang: .seconds(3600)) { isCancelled.withLock { $0 } }
        kill(try #require(decoder.processIdentifier), SIGSTOP)
        isCancelled.withLock { $0 = true }
        var frames: [SoundFilm.Frame] = []
        #expect(throws: AudioError.self) { try film.decode(film.packets[0], decoder, &frames) }
        #expect(decoder.deaths == 0 && decoder.processIdentifier == nil)
    }

    @Test func `without the program familiar sound is decoded here, and no other`() throws {
        let film = try SoundFilm(TestAssets.demo)
        let absent = SandboxOptions(policy: .full, decoderPath: "/nowhere/decoder")
        #expect(absent.isWithoutProgram && !SandboxOptions().isWithoutProgram)
        #expect(!SandboxOptions(policy: .full, decoderPath: BuiltPrograms.decoder).isWithoutProgram)
        #expect(try SoundDecoders.make(for: film.format, absent) is AudioDecoder)
        var strange = film.format
        strange.codecName = "interplay_dpcm"
        #expect { try SoundDecoders.make(for: strange, absent) } throws: { ($0 as? AudioError)?.code == .noDecoder }
        _ = try SoundDecoders.make(for: strange, SandboxOptions(policy: .full, decoderPath: BuiltPrograms.decoder))
        #expect {
            try SoundDecoders.make(for: film.format, SandboxOptions(policy: .require, decoderPath: "/nowhere/decoder"))
        } throws: { ($0 as? AudioError)?.code == .sandbox }
        #expect {
            try SoundDecoders.make(for: film.format, SandboxOptions(policy: .decoder, decoderPath: "/bin/true"))
        } throws: { ($0 as? AudioError)?.code == .sandbox }
    }

    @Test(arguments: [("h264", 2), ("no such codec", 2), ("aac", 65)]) func `what cannot be decoded is refused as in the program`(
        _ codec: String, _ channels: Int32
    ) throws {
        let format = AudioFormat(codecName: codec, sampleRate: 48_000, channelCount: channels)
        let options = SandboxOptions(policy: .decoder, decoderPath: BuiltPrograms.decoder)
        #expect {
            let decoder = try SoundDecoders.make(for: format, options)
            var frames: [SoundFilm.Frame] = []
            let film = try SoundFilm(format: format, bytes: [1, 2, 3, 4])
            try film.decode(film.packets[0], decoder, &frames)
            if frames.isEmpty, decoder.damagedPackets > 0 { throw AudioError(.noDecoder, "nothing is put out") }
        } throws: { [.noDecoder, .unsupportedFormat].contains(($0 as? AudioError)?.code) }
    }
}
