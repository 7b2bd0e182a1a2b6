internal import Media
internal import SurfacePool

/// Which of VA-API's profiles a codec is encoded by, and what libavcodec calls them.
struct DeviceProfile: Sendable, Hashable {
    /// libva's name without `VAProfile`.
    let name: String
    /// What the option `profile` of libavcodec's encoder takes; nil where it has none.
    let option: String?
    /// Bits of a sample.
    let depth: Int

    /// Of a codec, the one that keeps most first.
    static func all(of codec: VideoCodec) -> [DeviceProfile] { table[codec.name] ?? [] }

    private static let table: [String: [DeviceProfile]] = [
        "h264": [
            DeviceProfile(name: "H264High", option: "high", depth: 8), DeviceProfile(name: "H264Main", option: "main", depth: 8),
            DeviceProfile(name: "H264ConstrainedBaseline", option: "constrained_baseline", depth: 8),
        ],
        "hevc": [DeviceProfile(name: "HEVCMain", option: "main", depth: 8), DeviceProfile(name: "HEVCMain10", option: "main10", depth: 10)],
        "av1": [DeviceProfile(name: "AV1Profile0", option: "main", depth: 8), DeviceProfile(name: "AV1Profile0", option: "main", depth: 10)],
        "vp9": [DeviceProfile(name: "VP9Profile0", option: nil, depth: 8), DeviceProfile(name: "VP9Profile2", option: nil, depth: 10)],
        "vp8": [DeviceProfile(name: "VP8Version0_3", option: nil, depth: 8)],
        "mpeg2video": [
            DeviceProfile(name: "MPEG2Main", option: "main", depth: 8), DeviceProfile(name: "MPEG2Simple", option: "simple", depth: 8),
        ],
        "mjpeg": [DeviceProfile(name: "JPEGBaseline", option: nil, depth: 8)],
    ]

    /// The surfaces that are encoded.
    var pixelFormat: PixelFormat { depth > 8 ? .p010le : .nv12 }

    /// What is asked of a profile.
    struct Wish: Sendable {
        var codec: VideoCodec
        var size: PixelSize
        /// Bits of a sample of the frames that will come.
        var depth: Int
        /// libavcodec's name; nil takes any.
        var profile: String?
        /// A device that would have to leave bits out is not taken.
        var keepsDepth: Bool
    }

    /// What a driver has for a wish.
    enum Answer: Sendable {
        case found(DeviceProfile, VADevice.EncodingProfile)
        /// Half a sentence.
        case none(String)
    }

    /// The profile of a driver's that keeps most of the frames; a pure decision.
    static func choose(_ wish: Wish, among encoded: [VADevice.EncodingProfile]) -> Answer {
        let known = all(of: wish.codec)
        guard !known.isEmpty else { return .none("no encoder of a device is made for \(wish.codec.name)") }
        let offered = known.compactMap { profile in encoded.first { $0.name == profile.name }.map { (profile, $0) } }
            .filter { $1.formats.isEmpty || $0.pixelFormat.fourCC.map($1.formats.contains) ?? false }
        guard !offered.isEmpty else {
            return .none("the driver does not encode \(Set(known.map(\.name)).sorted().joined(separator: " or "))")
        }
        var fitting = offered
        if let name = wish.profile {
            fitting = offered.filter { $0.0.option == name }
            let names = offered.compactMap(\.0.option).joined(separator: ", ")
            guard !fitting.isEmpty else { return .none("the driver does not encode the profile \(name)\(names.isEmpty ? "" : ", but \(names)")") }
        }
        let isDeep = wish.depth > 8
        fitting = fitting.filter { ($0.0.depth > 8) == isDeep } + fitting.filter { ($0.0.depth > 8) != isDeep }
        if wish.keepsDepth, isDeep { fitting = fitting.filter { $0.0.depth > 8 } }
        guard let first = fitting.first else { return .none("the driver encodes 8 bits, the frames have \(wish.depth)") }
        if let reason = sizeObstacle(wish.size, first.1) { return .none(reason) }
        if wish.size.width % 2 + wish.size.height % 2 > 0, ["h264", "hevc"].contains(wish.codec.name) {
            return .none("\(wish.size) has an odd side, and libavcodec writes even ones for devices")
        }
        guard first.1.takesParameterSets || !["h264", "hevc", "av1"].contains(wish.codec.name) else {
            return .none("the driver writes parameter sets of its own, which are not known before the first frame")
        }
        return .found(first.0, first.1)
    }

    private static func sizeObstacle(_ size: PixelSize, _ profile: VADevice.EncodingProfile) -> String? {
        let (least, most) = (profile.minimumSize, profile.maximumSize)
        if most.width > 0, most.height > 0, size.width > most.width || size.height > most.height {
            return "\(size) is larger than the driver encodes, which is \(most)"
        }
        return size.width < least.width || size.height < least.height ? "\(size) is smaller than the driver encodes, which is \(least)" : nil
    }
}
