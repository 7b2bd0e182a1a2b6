package import Media

extension AudioFormat {
    /// Why sound of this format is not decoded in this process when the one without rights that should decode it cannot be had; nil when it is.
    ///
    /// The film names the decoder. Only decoders that many films use, and that many people
    /// have attacked, are opened there, and only for numbers that real sound has.
    package var objection: String? {
        if !Self.familiar.contains(codecName), !isPlainPCM { return "\(codecName) is not among the decoders that may run in the program" }
        if !(0...Self.highestRate).contains(sampleRate) { return "no sound has \(sampleRate) samples a second" }
        if !(0...Self.mostChannels).contains(channelCount) { return "no sound has \(channelCount) channels" }
        return nil
    }

    /// 0: the container does not say, and the first packet does.
    private static let highestRate: Int32 = 384_000
    /// 22.2 has 24; third-order ambisonics 16.
    private static let mostChannels: Int32 = 32

    /// libavcodec's names.
    private static let familiar: Set<String> = [
        "aac", "aac_latm", "ac3", "adpcm_ima_qt", "adpcm_ima_wav", "adpcm_ms", "alac", "amr_nb", "amr_wb", "dts", "eac3", "flac", "mlp", "mp1",
        "mp2", "mp3", "opus", "truehd", "vorbis", "wavpack", "wmapro", "wmav1", "wmav2",
    ]

    private var isPlainPCM: Bool {
        codecName.hasPrefix("pcm_")
            && ["alaw", "mulaw", "u8", "s8", "s16", "u16", "s24", "u24", "s32", "f32", "f64", "s64", "bluray", "dvd"].contains {
                codecName.dropFirst(4).hasPrefix($0)
            }
    }
}
