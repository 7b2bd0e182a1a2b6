internal import CAV
internal import Media

/// Decides which variant of a film is read. A pure value.
struct VariantChoice {
    var preference: VariantPreference
    /// The size in which the film is shown at most; nil when that is unknown.
    var size: PixelSize?

    /// The variant to read.
    ///
    /// - Parameters:
    ///   - throughput: What the network brings, in bits a second.
    ///   - isDecodable: Whether there is a decoder for a codec by its name as in MP4.
    func variant(of variants: [StreamVariant], throughput: Int64, isDecodable: (String) -> Bool = Self.isDecodable) -> Int {
        let rising = candidates(variants, isDecodable)
        func last(upTo limit: Int64) -> Int { rising.last { variants[$0].bitRate <= limit } ?? rising[0] }
        switch preference {
        case .highest: return rising[rising.count - 1]
        case .lowest: return rising[0]
        case .atMost(let limit): return last(upTo: limit)
        case .automatic: return last(upTo: throughput / Self.shares.of * Self.shares.used)
        }
    }

    /// All variants that may be read, in the order in which they are tried: the one to read, then those below it, then those above.
    func order(of variants: [StreamVariant], throughput: Int64, isDecodable: (String) -> Bool = Self.isDecodable) -> [Int] {
        let rising = candidates(variants, isDecodable), first = variant(of: variants, throughput: throughput, isDecodable: isDecodable)
        let place = rising.firstIndex(of: first) ?? 0
        return rising[...place].reversed() + rising[(place + 1)...]
    }

    /// Whether the throughput makes a difference.
    func dependsOnThroughput(_ variants: [StreamVariant], isDecodable: (String) -> Bool = Self.isDecodable) -> Bool {
        preference == .automatic && candidates(variants, isDecodable).count > 1
    }

    /// What is chosen among, by rising bit rate: the variants with frames, without those that cannot be decoded, and with `automatic` without those
    /// that are larger than what is shown, but for the smallest that fills it.
    func candidates(_ variants: [StreamVariant], _ isDecodable: (String) -> Bool = Self.isDecodable) -> [Int] {
        var indices = Array(variants.indices)
        func keep(_ isGood: (StreamVariant) -> Bool) {
            let good = indices.filter { isGood(variants[$0]) }
            if !good.isEmpty { indices = good }
        }
        keep { $0.codecs.allSatisfy(isDecodable) }
        keep { variant in variant.size != nil || variant.codecs.isEmpty || variant.codecs.contains { !Self.soundNames.contains(Self.family($0)) } }
        if preference == .automatic, let size {
            func fills(_ own: PixelSize) -> Bool { own.width >= size.width || own.height >= size.height }
            let enough = indices.compactMap { variants[$0].size }.filter(fills).map { $0.width * $0.height }.min()
            if let enough { keep { ($0.size.map { $0.width * $0.height } ?? 0) <= enough } }
        }
        return indices.sorted { (variants[$0].bitRate, $0) < (variants[$1].bitRate, $1) }
    }

    /// What the network brings is used up to four fifths, since it is never steady.
    private static let shares = (used: Int64(4), of: Int64(5))
    private static let soundNames: Set<String> = ["mp4a", "ac-3", "ec-3", "opus", "flac", "alac", "mp3", "dtsc", "dtse"]

    private static func family(_ codec: String) -> String { codec.prefix { $0 != "." }.lowercased() }

    /// Whether libavcodec has a decoder. A name that nobody knows may be tried; the forms of Dolby Vision that only its own decoders show are not.
    static func isDecodable(_ codec: String) -> Bool {
        let name = family(codec)
        if ["dvh1", "dvhe", "dva1", "dvav"].contains(name) { return false }
        return decoders[name].map { unsafe avcodec_find_decoder($0) != nil } ?? true
    }

    private static let decoders: [String: AVCodecID] = [
        "avc1": AV_CODEC_ID_H264, "avc3": AV_CODEC_ID_H264, "hvc1": AV_CODEC_ID_HEVC, "hev1": AV_CODEC_ID_HEVC, "av01": AV_CODEC_ID_AV1,
        "vp09": AV_CODEC_ID_VP9, "vp08": AV_CODEC_ID_VP8, "mp4a": AV_CODEC_ID_AAC, "ac-3": AV_CODEC_ID_AC3, "ec-3": AV_CODEC_ID_EAC3,
        "opus": AV_CODEC_ID_OPUS, "flac": AV_CODEC_ID_FLAC, "alac": AV_CODEC_ID_ALAC, "mp3": AV_CODEC_ID_MP3, "vvc1": AV_CODEC_ID_VVC,
    ]
}
