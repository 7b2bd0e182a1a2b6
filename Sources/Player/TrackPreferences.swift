internal import Demuxing
internal import Media

/// Which of a film's tracks a viewer wants to see and hear.
///
/// Tracks are counted from 1 within their kind, as in mpv's `--vid` and `--aid`: the first sound track is 1 wherever the container has it.
public struct TrackPreferences: Sendable, Hashable {
    /// What is wanted of one kind of track.
    public enum Choice: Sendable, Hashable {
        /// The track that the container marks as default, else the first one that can be decoded. Of sound, a file's comes before the film's own: one
        /// that the program names before languages count, one that was found beside the film after them.
        case automatic
        /// The track of this number, counted from 1. A film without it plays the automatic one, and a notice says so.
        case number(Int)
        /// None of this kind.
        case none
    }

    /// The frames. A cover counts after the tracks with moving frames.
    public var video = Choice.automatic
    /// The sound.
    public var audio = Choice.automatic
    /// Languages of the sound, the preferred one first, as ISO 639 codes of two or three letters (`en`, `eng`) with or without a region (`en-GB`).
    /// They count where `audio` is `.automatic`.
    public var audioLanguages: [String] = []

    /// The subtitles. `.automatic` shows a file that the program names; else a track in one of `subtitleLanguages`; else a file beside the film;
    /// else the track that the container marks as default; else the forced one in the language of the sound. The film's tracks are counted first,
    /// then files, and a number without a track shows none.
    public var subtitles = Choice.automatic
    /// Languages of the subtitles, the preferred one first, written as those of the sound.
    public var subtitleLanguages: [String] = []

    /// Makes preferences that leave every choice to the film.
    public init() {}

    /// Of the tracks that can be played, in the container's order, the one that is wanted.
    static func best(_ candidates: [AssetTrack], languages: [String]) -> AssetTrack? {
        for wanted in languages.map(LanguageCode.init) {
            let spoken = candidates.filter { $0.language.map { wanted.covers(LanguageCode($0)) } ?? false }
            if let track = spoken.first(where: \.isDefault) ?? spoken.first { return track }
        }
        return candidates.first { $0.file != nil } ?? candidates.first(where: \.isDefault) ?? candidates.first
    }
}
