internal import CVA
public import Media

extension VADevice {
    /// A compression profile that the device decodes.
    public struct Profile: Sendable, Hashable {
        /// `H264High`, `VP9Profile0`…: libva's name without its prefix.
        public var name: String
        /// libva's number (`VAProfile`).
        public var number: Int32
        /// What can be done with it: `VLD` is decoding of whole slices.
        public var entrypoints: [String]
        /// Formats of surfaces that can be decoded into.
        public var formats: [FourCC]
        /// Largest frame; zero where the driver does not say.
        public var maximumSize: PixelSize
        /// Whether slices can be decoded.
        public var decodes: Bool
    }

    /// Every profile of the driver, in its order.
    public func profiles() -> [Profile] {
        var profiles = [VAProfile](repeating: VAProfileNone, count: max(0, Int(unsafe vaMaxNumProfiles(display))))
        var count: Int32 = 0
        guard !profiles.isEmpty, unsafe vaQueryConfigProfiles(display, &profiles, &count) == VA_STATUS_SUCCESS else { return [] }
        return profiles.prefix(max(0, Int(count))).map { profile($0) }
    }

    private func profile(_ profile: VAProfile) -> Profile {
        var points = [VAEntrypoint](repeating: VAEntrypointVLD, count: max(1, Int(unsafe vaMaxNumEntrypoints(display))))
        var count: Int32 = 0
        let known = unsafe vaQueryConfigEntrypoints(display, profile, &points, &count) == VA_STATUS_SUCCESS
        let entrypoints = known ? Array(points.prefix(max(0, Int(count)))) : []
        let decodes = entrypoints.contains(VAEntrypointVLD)
        var name = unsafe vaProfileStr(profile).map { unsafe String(cString: $0) } ?? "\(profile.rawValue)"
        if name.hasPrefix("VAProfile") { name.removeFirst("VAProfile".count) }
        let surfaces = decodes ? attributes(profile) : (formats: [], size: PixelSize(width: 0, height: 0))
        return Profile(
            name: name, number: profile.rawValue,
            entrypoints: entrypoints.map { point in
                let text = unsafe vaEntrypointStr(point).map { unsafe String(cString: $0) } ?? "\(point.rawValue)"
                return text.hasPrefix("VAEntrypoint") ? String(text.dropFirst("VAEntrypoint".count)) : text
            },
            formats: surfaces.formats, maximumSize: surfaces.size, decodes: decodes)
    }

    /// Formats and size limits of the surfaces that a profile decodes into (`vaQuerySurfaceAttributes`).
    private func attributes(_ profile: VAProfile) -> (formats: [FourCC], size: PixelSize) {
        var config: VAConfigID = 0
        var size = PixelSize(width: 0, height: 0)
        guard unsafe vaCreateConfig(display, profile, VAEntrypointVLD, nil, 0, &config) == VA_STATUS_SUCCESS else { return ([], size) }
        defer { unsafe vaDestroyConfig(display, config) }
        var count: UInt32 = 0
        guard unsafe vaQuerySurfaceAttributes(display, config, nil, &count) == VA_STATUS_SUCCESS, count > 0 else { return ([], size) }
        var list = unsafe [VASurfaceAttrib](repeating: VASurfaceAttrib(), count: Int(count))
        guard unsafe vaQuerySurfaceAttributes(display, config, &list, &count) == VA_STATUS_SUCCESS else { return ([], size) }
        var formats: [FourCC] = []
        for index in 0..<Int(count) {
            let attribute = unsafe list[index]
            let value = unsafe attribute.value.value.i
            switch unsafe attribute.type {
            case VASurfaceAttribPixelFormat: formats.append(FourCC(rawValue: UInt32(bitPattern: value)))
            case VASurfaceAttribMaxWidth: size.width = Int(value)
            case VASurfaceAttribMaxHeight: size.height = Int(value)
            default: break
            }
        }
        return (formats, size)
    }
}
