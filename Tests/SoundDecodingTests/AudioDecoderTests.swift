import Media
import SoundDecoding
import Testing

/// A track of sound names the decoder that the program opens for it.
@Suite struct AudioDecoderTests {
    @Test(arguments: ["h264", "hevc", "png", "subrip", "dvd_subtitle", "bin_data", "no such codec", ""])
    func `only decoders of sound are opened for sound`(codec: String) {
        let format = AudioFormat(codecName: codec, sampleRate: 48_000, channelCount: 2)
        #expect { try AudioDecoder.check(format) } throws: { ($0 as? AudioError)?.code == .noDecoder }
    }

    @Test func `a layout that counts other channels than the track is not used`() throws {
        let format = AudioFormat(codecName: "pcm_s16le", sampleRate: 48_000, channelCount: 2, channelLayout: "500 channels")
        _ = try AudioDecoder(format: format)
    }

    @Test(arguments: [(0, true), (1, false), (99, false), (100, true), (1_536_000, true), (1_536_001, false)] as [(Int32, Bool)])
    func `sound of a rate between the bounds, or of one that is not known yet, is decoded`(rate: Int32, isDecoded: Bool) {
        let format = AudioFormat(codecName: "pcm_s16le", sampleRate: rate, channelCount: 1)
        #expect(((try? AudioDecoder.check(format)) != nil) == isDecoded)
    }
}
