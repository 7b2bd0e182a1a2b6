import CAV
import Glibc
import Lies
import Media
import Sandbox
import TestSupport
import Testing

@testable import SoundDecoding

/// What a process says that decodes sound, with messages changed as `lying-proxy` changes them: it is ended, or there is sound that can be read.
@Suite struct SoundMutationTests {
    private static let frame = SoundFrame(
        offset: 0, sampleFormat: AV_SAMPLE_FMT_FLTP.rawValue, rate: 48_000, frameCount: 1024, time: 0, channelCount: 2,
        channelOrder: AV_CHANNEL_ORDER_NATIVE.rawValue, channelMask: 3)

    private static func bytes(_ answers: [SoundAnswer]) -> [UInt8] {
        var writer = WireWriter()
        for answer in answers { writer.put(answer) }
        return writer.bytes
    }

    @Test func `messages changed on their way end the process, or give sound that can be read`() throws {
        let film = try SoundFilm(TestAssets.demo)
        let options = SandboxOptions(policy: .decoder, restarts: RestartLimit(count: 0, window: .seconds(3600)), hangDeadline: .seconds(60))
        var liar = Liar(seed: 0x50_0d), changed = 0, heard = 0, ends = 0
        let wanted = TestExtent.rounds(1500, full: 50_000, sanitized: 300), before = OpenDescriptors.count
        while changed < wanted {
            let (ours, work) = try PacketSocket.pair(), (memory, _) = try PacketSocket.pair()
            var script = [Self.bytes([.confined(SandboxReport())]), Self.bytes([.ready])]
            for number in 1...4 as ClosedRange<UInt32> {
                script.append(Self.bytes([.frame(Self.frame), .frame(Self.frame), .done(number: number, damaged: 0)]))
            }
            for (index, bytes) in script.enumerated() {
                // What comes before the sound is read elsewhere (`SandboxedSoundTests`), and would keep most of it from coming.
                let isLie = liar.isInTheMood(oneIn: index < 2 ? 40 : 3)
                liar.remember(bytes)
                for (bytes, _) in isLie ? liar.lies(about: bytes) : [(bytes, true)] where !bytes.isEmpty {
                    var writer = WireWriter()
                    writer.put(bytes: bytes)
                    try work.send(writer)
                }
                if isLie { changed += 1 }
            }
            // A process that was lied away has gone: nobody waits for what does not come.
            let launch = SoundProcessLaunch(program: "/nowhere/decoder", first: SandboxedProcess(work: ours, memory: memory))
            do {
                shutdown(work.rawValue, Int32(SHUT_WR))
                let decoder = try SandboxedSoundDecoder(format: film.format, options, launch)
                for packet in film.packets.prefix(4) {
                    var frames: [SoundFilm.Frame] = []
                    try film.decode(packet, decoder, &frames)
                    heard += frames.reduce(0) { $0 + $1.samples.count }
                }
            } catch is AudioError { ends += 1 }
        }
        #expect(heard > 0 && ends > 0, "\(changed) changed, \(heard) bytes heard, \(ends) ends")
        #expect(Polling.until { OpenDescriptors.count <= before })
        print("mutated messages: of sound, \(changed) changed, \(heard) bytes heard, \(ends) ends")
    }
}
