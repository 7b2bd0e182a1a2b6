internal import AudioSink
internal import CAV
internal import Media

/// The sound encoders of the installed libavcodec.
public enum SoundEncoders {
    /// libavcodec's names of the encoders for a codec (`aac`, `opus`, `flac`, `mp3`, `pcm_s16le` …), the preferred one first.
    public static func names(for codec: String) -> [String] {
        guard let descriptor = unsafe avcodec_descriptor_get_by_name(codec), unsafe descriptor.pointee.type == AVMEDIA_TYPE_AUDIO else { return [] }
        var found: [String] = []
        var state: UnsafeMutableRawPointer?
        while let encoder = unsafe av_codec_iterate(&state) {
            guard unsafe encoder.pointee.id == descriptor.pointee.id, unsafe av_codec_is_encoder(encoder) != 0 else { continue }
            let name = unsafe String(cString: encoder.pointee.name)
            // Those of FFmpeg's that are experiments do not open without being asked to.
            if unsafe encoder.pointee.capabilities & AV_CODEC_CAP_EXPERIMENTAL == 0 { found.append(name) }
        }
        return found
    }

    /// The codecs that people name most, of those that can be encoded.
    public static var usualCodecs: [String] {
        ["aac", "opus", "flac", "mp3", "vorbis", "alac", "ac3", "pcm_s16le", "pcm_s24le", "pcm_f32le"].filter { !names(for: $0).isEmpty }
    }

    /// Opens an encoder for the rate and the channels that are wanted, or else for the nearest that it takes.
    ///
    /// - Throws: `.noEncoder` with a sentence that lists what there is, `.cannotOpen`.
    static func open(_ wanted: AudioFormat, name: String?) throws(EncodingError) -> SoundEncoder {
        let names = names(for: wanted.codecName)
        guard let chosen = name ?? names.first, names.contains(chosen), let encoder = unsafe avcodec_find_encoder_by_name(chosen) else {
            let label = name.map { "sound encoder \($0)" } ?? "encoder"
            let list = names.isEmpty ? "it encodes \(usualCodecs.joined(separator: ", "))" : "it has \(names.joined(separator: ", "))"
            throw EncodingError(.noEncoder, "this FFmpeg has no \(label) for the sound codec \(wanted.codecName); \(list)")
        }
        var failure: EncodingError?
        for (count, layout) in layouts(for: wanted) {
            for rate in rates(for: wanted.sampleRate) {
                do throws(EncodingError) {
                    return try unsafe SoundEncoder(encoder, wanted, rate: rate, channelCount: count, layout: layout)
                } catch { failure = failure ?? error }
            }
        }
        throw failure ?? EncodingError(.cannotOpen, "the encoder \(chosen) takes no sound")
    }

    /// Hertz, as codecs have them.
    private static let usualRates: [Int32] = [
        8000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 64_000, 88_200, 96_000, 176_400, 192_000,
    ]

    /// The rate itself, then higher ones, which lose nothing, then lower ones, each time the nearest first.
    private static func rates(for rate: Int32) -> [Int32] {
        [rate] + usualRates.filter { $0 > rate } + usualRates.reversed().filter { $0 < rate }
    }

    /// The speakers themselves, then fewer: surround, stereo, mono.
    private static func layouts(for wanted: AudioFormat) -> [(Int32, String)] {
        let count = wanted.channelCount, usual = ChannelOrder.layoutName(Int(count)) ?? ""
        let fewer: [(Int32, String)] = [(8, "7.1"), (6, "5.1"), (2, "stereo"), (1, "mono")].filter { $0.0 < count }
        return [(count, wanted.channelLayout.isEmpty ? usual : wanted.channelLayout)] + fewer
    }
}
