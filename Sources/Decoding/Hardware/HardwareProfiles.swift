internal import Media

/// Which of VA-API's profiles can decode a stream, by libva's names without `VAProfile`.
enum HardwareProfiles {
    /// FFmpeg's numbers of profiles, and libva's names; best match first. Empty: no driver decodes it.
    static func names(for format: VideoFormat) -> [String] {
        if format.hasAlpha { return [] }
        let all = table[format.codec] ?? []
        guard format.profile >= 0 else { return all.map(\.name) }
        return all.filter { $0.profile == nil || $0.profile == format.profile }.map(\.name)
    }

    /// Why no driver decodes a stream for which there are no `names`, as the end of a sentence.
    static func obstacle(_ format: VideoFormat) -> String {
        "no hardware decoder is made for \(format.codec.name) \(format.hasAlpha ? "with alpha" : "of this profile")"
    }

    /// A profile of the stream that libavcodec knows by `profile`; nil where any will do.
    private struct Entry {
        var profile: Int32?
        var name: String
    }

    private static let table: [VideoCodec: [Entry]] = [
        .h264: [
            Entry(profile: 66 | 1 << 9, name: "H264ConstrainedBaseline"), Entry(profile: 77, name: "H264Main"),
            Entry(profile: 100, name: "H264High"),
        ],
        .hevc: [
            Entry(profile: 1, name: "HEVCMain"), Entry(profile: 3, name: "HEVCMain"), Entry(profile: 2, name: "HEVCMain10"),
        ],
        .vp8: [Entry(profile: nil, name: "VP8Version0_3")],
        .vp9: [Entry(profile: 0, name: "VP9Profile0"), Entry(profile: 2, name: "VP9Profile2")],
        .av1: [Entry(profile: 0, name: "AV1Profile0")],
        .mpeg2: [Entry(profile: 5, name: "MPEG2Simple"), Entry(profile: 4, name: "MPEG2Main")],
    ]
}
