import Media
import SoundDecoding
import Testing

/// Where sound should be decoded in a process and its program is missing, only familiar formats are decoded, with numbers that real sound has.
@Suite struct SoundObjectionTests {
    private static func sound(_ codec: String, rate: Int32 = 48_000, channels: Int32 = 2) -> AudioFormat {
        AudioFormat(codecName: codec, sampleRate: rate, channelCount: channels)
    }

    @Test(arguments: [
        "aac", "ac3", "eac3", "mp3", "opus", "vorbis", "flac", "alac", "dts", "amr_nb", "truehd", "pcm_s16le", "pcm_f32be", "pcm_u8", "pcm_s24le",
        "pcm_bluray", "pcm_mulaw",
    ])
    func `familiar sound is played`(codec: String) {
        #expect(Self.sound(codec).objection == nil)
        #expect(Self.sound(codec, rate: 0, channels: 0).objection == nil)
        #expect(Self.sound(codec, rate: 384_000, channels: 32).objection == nil)
    }

    @Test(arguments: ["h264", "subrip", "twinvq", "cook", "smackaud", "interplay_dpcm", "pcm_vidc", "pcm_lxf", "", "AAC"])
    func `any other is not`(codec: String) { #expect(Self.sound(codec).objection != nil) }

    @Test(
        arguments: [(384_001, 2), (16_777_216, 2), (Int32.max, 2), (-1, 2), (48_000, 33), (48_000, 64), (48_000, Int32.max), (48_000, -1)]
            as [(Int32, Int32)])
    func `numbers that no sound has are refused`(rate: Int32, channels: Int32) {
        #expect(Self.sound("aac", rate: rate, channels: channels).objection != nil)
    }
}
