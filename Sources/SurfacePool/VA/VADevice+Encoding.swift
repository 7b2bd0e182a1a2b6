internal import CVA
public import Media

extension VADevice {
    /// How an encoder can be told what to keep (`VA_RC_…`).
    public struct RateControls: OptionSet, Sendable, Hashable {
        /// libva's bits.
        public let rawValue: UInt32
        /// Takes libva's bits.
        public init(rawValue: UInt32) { self.rawValue = rawValue }
        /// A constant rate.
        public static let constantRate = RateControls(rawValue: 0x2)
        /// A rate on average with a limit.
        public static let variableRate = RateControls(rawValue: 0x4)
        /// One quantizer for all.
        public static let constantQuantizer = RateControls(rawValue: 0x10)
        /// A quality that the driver keeps ("intelligent constant quality").
        public static let constantQuality = RateControls(rawValue: 0x40)
        /// A rate on average without a limit.
        public static let averageRate = RateControls(rawValue: 0x800)

        private static let names: [(RateControls, String)] = [
            (.constantQuantizer, "CQP"), (.constantQuality, "ICQ"), (.constantRate, "CBR"), (.variableRate, "VBR"), (.averageRate, "AVBR"),
        ]

        /// libva's words: `CQP CBR VBR`.
        public var text: String { Self.names.filter { contains($0.0) }.map(\.1).joined(separator: " ") }
    }

    /// A compression profile that the device encodes, as its driver describes it.
    public struct EncodingProfile: Sendable, Hashable {
        /// `H264High`, `HEVCMain10`…: libva's name without its prefix.
        public var name: String
        /// `EncSlice`, `EncPicture` or `EncSliceLP`.
        public var entrypoint: String
        /// Formats of surfaces that can be encoded; empty where the driver does not say.
        public var formats: [FourCC]
        /// Smallest and largest frame; zero where the driver does not say.
        public var minimumSize, maximumSize: PixelSize
        /// What it can keep.
        public var rateControls: RateControls
        /// Frames can be encoded in another order than they are shown (B-frames).
        public var reorders: Bool
        /// It takes parameter sets as they are written for it, so that they are known before the first frame.
        public var takesParameterSets: Bool
    }

    /// libavcodec takes the first of the driver's that is among these.
    private static let entrypoints = [VAEntrypointEncSlice, VAEntrypointEncPicture, VAEntrypointEncSliceLP]

    /// Every profile that the driver encodes, in its order.
    public func encodingProfiles() -> [EncodingProfile] {
        var profiles = [VAProfile](repeating: VAProfileNone, count: max(0, Int(unsafe vaMaxNumProfiles(display))))
        var count: Int32 = 0
        guard !profiles.isEmpty, unsafe vaQueryConfigProfiles(display, &profiles, &count) == VA_STATUS_SUCCESS else { return [] }
        return profiles.prefix(max(0, Int(count))).compactMap { encodingProfile($0) }
    }

    private func encodingProfile(_ profile: VAProfile) -> EncodingProfile? {
        var points = [VAEntrypoint](repeating: VAEntrypointVLD, count: max(1, Int(unsafe vaMaxNumEntrypoints(display))))
        var count: Int32 = 0
        guard unsafe vaQueryConfigEntrypoints(display, profile, &points, &count) == VA_STATUS_SUCCESS,
            let point = points.prefix(max(0, Int(count))).first(where: { Self.entrypoints.contains($0) })
        else { return nil }
        let rates = attribute(VAConfigAttribRateControl, profile, point), references = attribute(VAConfigAttribEncMaxRefFrames, profile, point)
        let surfaces = surfaceAttributes(profile, point)
        var maximum = surfaces.maximum
        if maximum.width == 0 || maximum.height == 0 {
            maximum.width = Int(attribute(VAConfigAttribMaxPictureWidth, profile, point) ?? 0)
            maximum.height = Int(attribute(VAConfigAttribMaxPictureHeight, profile, point) ?? 0)
        }
        return EncodingProfile(
            name: Self.name(profile), entrypoint: Self.name(point), formats: surfaces.formats, minimumSize: surfaces.minimum, maximumSize: maximum,
            rateControls: rates.map(RateControls.init(rawValue:)) ?? .constantQuantizer,
            // References behind the frame stand in the upper half.
            reorders: (references ?? 0) >> 16 > 0,
            takesParameterSets: (attribute(VAConfigAttribEncPackedHeaders, profile, point) ?? 0) & cva_packed_sequence_headers != 0)
    }

    /// nil where the driver does not know the attribute.
    private func attribute(_ type: VAConfigAttribType, _ profile: VAProfile, _ point: VAEntrypoint) -> UInt32? {
        var attribute = VAConfigAttrib(type: type, value: 0)
        guard unsafe vaGetConfigAttributes(display, profile, point, &attribute, 1) == VA_STATUS_SUCCESS,
            attribute.value != cva_attribute_unsupported
        else { return nil }
        return attribute.value
    }

    static func name(_ profile: VAProfile) -> String {
        let text = unsafe vaProfileStr(profile).map { unsafe String(cString: $0) } ?? "\(profile.rawValue)"
        return text.hasPrefix("VAProfile") ? String(text.dropFirst("VAProfile".count)) : text
    }

    static func name(_ point: VAEntrypoint) -> String {
        let text = unsafe vaEntrypointStr(point).map { unsafe String(cString: $0) } ?? "\(point.rawValue)"
        return text.hasPrefix("VAEntrypoint") ? String(text.dropFirst("VAEntrypoint".count)) : text
    }

    /// Formats and sizes of the surfaces that a profile reads or writes (`vaQuerySurfaceAttributes`); sizes are zero where the driver says nothing.
    func surfaceAttributes(_ profile: VAProfile, _ point: VAEntrypoint) -> (formats: [FourCC], minimum: PixelSize, maximum: PixelSize) {
        var config: VAConfigID = 0, minimum = PixelSize(width: 0, height: 0), maximum = minimum
        guard unsafe vaCreateConfig(display, profile, point, nil, 0, &config) == VA_STATUS_SUCCESS else { return ([], minimum, maximum) }
        defer { unsafe vaDestroyConfig(display, config) }
        var count: UInt32 = 0
        guard unsafe vaQuerySurfaceAttributes(display, config, nil, &count) == VA_STATUS_SUCCESS, count > 0 else { return ([], minimum, maximum) }
        var list = unsafe [VASurfaceAttrib](repeating: VASurfaceAttrib(), count: Int(count))
        guard unsafe vaQuerySurfaceAttributes(display, config, &list, &count) == VA_STATUS_SUCCESS else { return ([], minimum, maximum) }
        var formats: [FourCC] = []
        for index in 0..<Int(count) {
            let attribute = unsafe list[index]
            let value = unsafe attribute.value.value.i
            switch unsafe attribute.type {
            case VASurfaceAttribPixelFormat: formats.append(FourCC(rawValue: UInt32(bitPattern: value)))
            case VASurfaceAttribMinWidth: minimum.width = Int(value)
            case VASurfaceAttribMinHeight: minimum.height = Int(value)
            case VASurfaceAttribMaxWidth: maximum.width = Int(value)
            case VASurfaceAttribMaxHeight: maximum.height = Int(value)
            default: break
            }
        }
        return (formats, minimum, maximum)
    }
}
