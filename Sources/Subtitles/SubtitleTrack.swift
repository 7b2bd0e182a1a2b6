package import Demuxing
internal import Media

/// A track of subtitles: one of the film's, or a file beside it.
///
/// Thread-safety: a value.
package struct SubtitleTrack: Sendable, Hashable {
    /// Where its events come from.
    package enum Source: Sendable, Hashable {
        /// The film's track with this number.
        case film(track: Int)
        /// A file that the viewer names.
        case named(String)
        /// A file that was found beside the film.
        case found(String)
    }

    package var source: Source
    /// libavcodec's name; nil for a file that is not open yet.
    package var codec: String?
    /// ISO 639 code.
    package var language: String?
    package var title: String?
    package var isDefault: Bool
    /// Only what every viewer needs, such as signs and foreign dialogue.
    package var isForced: Bool
    package var isHearingImpaired: Bool
    /// What libavcodec needs before the first sample.
    package var configuration: [UInt8]

    package init(
        _ source: Source, codec: String? = nil, language: String? = nil, title: String? = nil, isDefault: Bool = false, isForced: Bool = false,
        isHearingImpaired: Bool = false, configuration: [UInt8] = []
    ) {
        self.source = source
        self.codec = codec
        self.language = language
        self.title = title
        self.isDefault = isDefault
        self.isForced = isForced
        self.isHearingImpaired = isHearingImpaired
        self.configuration = configuration
    }

    /// A track of the film; nil when it holds no subtitles that can be shown.
    package init?(_ track: AssetTrack) {
        guard track.kind == .subtitle, track.isDecodable, case .other(let codec) = track.format, SubtitleForm(codec: codec) != nil else { return nil }
        self.init(
            .film(track: track.id), codec: codec, language: track.language, title: track.title, isDefault: track.isDefault,
            isForced: track.isForced, isHearingImpaired: track.isHearingImpaired, configuration: track.configuration)
    }

    /// The number of the film's track; nil for a file.
    package var filmTrack: Int? { if case .film(let track) = source { track } else { nil } }

    /// Where its file lies; nil for a track of the film.
    package var path: String? {
        switch source {
        case .film: nil
        case .named(let path), .found(let path): path
        }
    }

    /// `de, “Signs”, forced`, or the file's name.
    package var name: String {
        var parts = [language, title.map { "“\($0)”" }].compactMap(\.self)
        if let path { parts.append(path) }
        if isForced { parts.append("forced") }
        if isHearingImpaired { parts.append("hearing impaired") }
        return parts.joined(separator: ", ")
    }
}
