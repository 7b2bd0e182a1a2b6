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
        let surfaces = decodes ? surfaceAttributes(profile, VAEntrypointVLD) : nil
        return Profile(
            name: Self.name(profile), number: profile.rawValue, entrypoints: entrypoints.map(Self.name), formats: surfaces?.formats ?? [],
            maximumSize: surfaces?.maximum ?? PixelSize(width: 0, height: 0), decodes: decodes)
    }
}
