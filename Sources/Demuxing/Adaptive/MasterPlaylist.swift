internal import Media

/// An HLS list that offers one film in several variants (RFC 8216, 4.3.4).
///
/// libavformat opens every variant that a list names before it plays one of them. It is given the list with one variant alone. A pure value.
struct MasterPlaylist {
    /// In the order of the list.
    private(set) var variants: [StreamVariant] = []
    /// How each variant's own list is named.
    private(set) var names: [String] = []

    /// Sound or subtitles that have a list of their own (EXT-X-MEDIA).
    struct Rendition: Hashable {
        var name: String
        var group: String
        var language: String?
        var title: String?
        var isDefault: Bool
        /// Of subtitles.
        var isForced = false
        var isHearingImpaired = false

        /// The language without a region.
        var code: String? { language.map { String($0.prefix { $0 != "-" }) } }
    }

    private var sounds: [Rendition] = [], texts: [Rendition] = []

    /// The renditions of sound that belong to a variant and have lists of their own.
    func sounds(of variant: Int) -> [Rendition] { sounds.filter { $0.group == groups[variant]["AUDIO"] } }

    /// The subtitles that belong to a variant.
    func texts(of variant: Int) -> [Rendition] { texts.filter { $0.group == groups[variant]["SUBTITLES"] } }

    private enum Line {
        /// Of a variant, or of none.
        case text(Substring, variant: Int?)
        /// A rendition (`EXT-X-MEDIA`) of a group.
        case rendition(Substring, type: String, group: String)
    }

    private var lines: [Line] = []
    /// The groups of renditions that belong to each variant, by their type.
    private var groups: [[String: String]] = []

    /// nil where the text names no variants.
    init?(_ text: String) {
        var pending: PlaylistAttributes?
        for line in PlaylistText.lines(text) {
            if let attributes = PlaylistAttributes(line, tag: "#EXT-X-STREAM-INF") {
                pending = attributes
                lines.append(.text(line, variant: variants.count))
            } else if let attributes = PlaylistAttributes(line, tag: "#EXT-X-MEDIA") {
                lines.append(.rendition(line, type: attributes["TYPE"] ?? "", group: attributes["GROUP-ID"] ?? ""))
                guard let type = attributes["TYPE"], let name = attributes["URI"] else { continue }
                var rendition = Rendition(
                    name: name, group: attributes["GROUP-ID"] ?? "", language: attributes["LANGUAGE"], title: attributes["NAME"],
                    isDefault: attributes["DEFAULT"] == "YES")
                rendition.isForced = attributes["FORCED"] == "YES"
                rendition.isHearingImpaired = attributes["CHARACTERISTICS"]?.contains("public.accessibility.transcribes-spoken-dialog") == true
                if type == "AUDIO" { sounds.append(rendition) } else if type == "SUBTITLES" { texts.append(rendition) }
            } else if line.hasPrefix("#EXT-X-I-FRAME-STREAM-INF:") {
                // Still frames for a viewer who seeks: no variant to play.
                continue
            } else if line.hasPrefix("#EXT-X-START:") {
                // Where the film begins is not libavformat's matter; that of FFmpeg 9 takes this line for one that only a variant's own list has.
                continue
            } else if line.hasPrefix("#") || line.isEmpty {
                lines.append(.text(line, variant: pending == nil ? nil : variants.count))
            } else if let attributes = pending {
                lines.append(.text(line, variant: variants.count))
                add(attributes, String(line))
                pending = nil
            }
        }
        if variants.isEmpty { return nil }
    }

    private mutating func add(_ attributes: PlaylistAttributes, _ name: String) {
        let numbers = attributes["RESOLUTION"]?.split(separator: "x").compactMap { Int($0) } ?? []
        let codecs = attributes["CODECS"]?.split(separator: ",").map { $0.filter { $0 != " " } } ?? []
        variants.append(
            StreamVariant(
                bitRate: attributes["BANDWIDTH"].flatMap { Int64($0) } ?? 0,
                size: numbers.count == 2 && numbers.allSatisfy { (1...65_536).contains($0) } ? PixelSize(width: numbers[0], height: numbers[1]) : nil,
                frameRate: attributes["FRAME-RATE"].flatMap { Double($0) }, codecs: codecs))
        names.append(name)
        var own: [String: String] = [:]
        for type in ["AUDIO", "VIDEO", "SUBTITLES"] { own[type] = attributes[type] }
        groups.append(own)
    }

    /// The list with this variant and its renditions alone.
    func text(only variant: Int) -> String {
        var text = ""
        for line in lines {
            switch line {
            case .text(let line, let owner): if owner == nil || owner == variant { text += line + "\n" }
            case .rendition(let line, let type, let group): if groups[variant][type] == group { text += line + "\n" }
            }
        }
        return text
    }
}
