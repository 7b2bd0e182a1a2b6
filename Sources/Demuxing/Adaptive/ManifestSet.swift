internal import Media

/// What a manifest offers from one time to another. Microseconds.
struct ManifestPeriod: Sendable {
    var start: Int64
    /// nil: until the film's end, which is not known.
    var duration: Int64?
    var sets: [ManifestSet]

    var end: Int64? { duration.map { start + $0 } }
}

/// The representations of the same frames, sound or subtitles (`AdaptationSet`).
struct ManifestSet: Sendable {
    /// `text` is WebVTT or TTML.
    enum Kind: Sendable { case frames, sound, text }

    var kind: Kind
    var language: String?
    var title: String?
    var isMain: Bool
    /// Of subtitles.
    var isForced = false
    var isHearingImpaired = false
    /// The system that encrypts it; nil where it is not encrypted.
    var protection: String?
    /// Not empty.
    var sources: [ManifestSource]

    /// 256: ten qualities, and the sound in a hundred languages.
    private static let mostSources = 256

    /// The sets of a period that hold frames, sound and subtitles; nil where one of them leads elsewhere than to web servers, or they are too many.
    static func sets(of period: ManifestElement, _ base: String) -> [ManifestSet]? {
        var sets: [ManifestSet] = [], count = 0
        for element in period.children("AdaptationSet") {
            guard let base = Manifest.base(of: element, base) else { return nil }
            let representations = element.children("Representation")
            guard let first = representations.first, let kind = kind(of: element, first), !isForSeeking(element) else { continue }
            count += representations.count
            if count > mostSources { return nil }
            var sources: [ManifestSource] = []
            for representation in representations {
                guard let base = Manifest.base(of: representation, base) else { return nil }
                sources.append(ManifestSource(representation, in: element, of: period, base, mayBeFile: kind == .text))
            }
            let roles = element.children("Role").compactMap { $0["value"] }
            sets.append(
                ManifestSet(
                    kind: kind, language: element["lang"], title: element.first("Label")?.words, isMain: roles.contains("main"),
                    isForced: roles.contains("forced-subtitle") || roles.contains("forced_subtitle"), isHearingImpaired: roles.contains("caption"),
                    protection: protection(of: [element] + representations), sources: sources))
        }
        return sets
    }

    /// nil for subtitles in other forms, and others.
    private static func kind(of set: ManifestElement, _ first: ManifestElement) -> Kind? {
        let words = [set["contentType"], set["mimeType"], first["mimeType"], set.first("ContentComponent")?["contentType"]].compactMap(\.self)
        if words.contains(where: { $0.hasPrefix("video") }) { return .frames }
        if words.contains(where: { $0.hasPrefix("audio") }) { return .sound }
        if words.contains("text/vtt") || words.contains("application/ttml+xml") { return .text }
        let codec = set["codecs"] ?? first["codecs"] ?? ""
        // Of TTML there is a profile whose subtitles are images (IMSC 1.2, 6: `im1i`, `im2i`).
        let isOfImages = codec.split(separator: ".").contains { $0.hasPrefix("im") && $0.hasSuffix("i") }
        let isText = codec.hasPrefix("wvtt") || (codec.hasPrefix("stpp") && !isOfImages)
        return words.contains("application/mp4") && isText ? .text : nil
    }

    /// Still frames for a viewer who seeks (ISO/IEC 23009-1, 5.8.5.7; DASH-IF's tiles).
    private static func isForSeeking(_ set: ManifestElement) -> Bool {
        set.children("EssentialProperty").contains { property in
            let scheme = property["schemeIdUri"] ?? ""
            return scheme.hasSuffix("trickmode") || scheme.hasSuffix("thumbnail_tile")
        }
    }

    private static func protection(of elements: [ManifestElement]) -> String? {
        let schemes = elements.flatMap { $0.children("ContentProtection") }.map { ($0["schemeIdUri"] ?? "").lowercased() }
        return schemes.isEmpty ? nil : schemes.lazy.compactMap(PlaylistText.system).first ?? "DRM"
    }
}
