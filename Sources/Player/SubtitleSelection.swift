internal import Demuxing
internal import Subtitles

/// Chooses among a film's tracks of subtitles and the files beside it; a pure decision.
struct SubtitleSelection: Sendable {
    /// The film's tracks, then the files, as a viewer counts them from 1.
    let tracks: [SubtitleTrack]
    /// The index of the one to show; nil: none.
    private(set) var chosen: Int?
    /// What the film lacks of what was asked for, as the end of a sentence.
    private(set) var shortfall: String?

    /// - Parameter spoken: The language of the sound that plays.
    init(_ tracks: [SubtitleTrack], preferences: TrackPreferences, spoken: String?) {
        self.tracks = tracks
        switch preferences.subtitles {
        case .none: break
        case .number(let number):
            if tracks.indices.contains(number - 1) {
                chosen = number - 1
            } else {
                shortfall = "has \(tracks.count == 1 ? "1 subtitle track" : "\(tracks.count) subtitle tracks"), not \(number)"
            }
        case .automatic: chosen = automatic(preferences.subtitleLanguages, spoken)
        }
    }

    /// The tracks of a film: those that its container has, the files that the program names and those that lie beside it.
    static func tracks(of reader: any AssetReading, _ film: FilmLocation, options: SubtitleOptions) -> [SubtitleTrack] {
        let named = options.files.map { SubtitleTrack(.named($0)) }
        var found: [SubtitleSearch.Match] = []
        if options.findsFiles, case .place(let path) = film { found = SubtitleSearch.matches(of: path) }
        let rest = found.filter { !options.files.contains($0.path) }.map { SubtitleTrack(.found($0.path), language: $0.language) }
        return reader.tracks.compactMap(SubtitleTrack.init) + named + rest
    }

    private func automatic(_ languages: [String], _ spoken: String?) -> Int? {
        if let named = tracks.firstIndex(where: { if case .named = $0.source { true } else { false } }) { return named }
        for wanted in languages.map(LanguageCode.init) {
            let matches = tracks.indices.filter { tracks[$0].language.map { wanted.covers(LanguageCode($0)) } ?? false }
            // Whole dialogue first, without descriptions of sounds; then what the container marks.
            let best = matches.min { rank(tracks[$0]) < rank(tracks[$1]) }
            if let best { return best }
        }
        if let found = tracks.firstIndex(where: { if case .found = $0.source { true } else { false } }) { return found }
        let marked = tracks.indices.filter { tracks[$0].isDefault }
        if let best = marked.min(by: { rank(tracks[$0]) < rank(tracks[$1]) }) { return best }
        guard let spoken = spoken.map(LanguageCode.init) else { return nil }
        return tracks.firstIndex { $0.isForced && $0.language.map { spoken.covers(LanguageCode($0)) } ?? false }
    }

    private func rank(_ track: SubtitleTrack) -> Int { (track.isForced ? 4 : 0) + (track.isHearingImpaired ? 2 : 0) + (track.isDefault ? 0 : 1) }
}
