import Subtitles
import Testing

@testable import Player

/// Which subtitles are shown, as a table.
@Suite struct SubtitleSelectionTests {
    private static func track(_ number: Int, _ language: String? = nil, _ marks: String = "") -> SubtitleTrack {
        SubtitleTrack(
            .film(track: number), codec: "subrip", language: language, isDefault: marks.contains("d"), isForced: marks.contains("f"),
            isHearingImpaired: marks.contains("h"))
    }

    private static func preferences(_ choice: TrackPreferences.Choice = .automatic, _ languages: [String] = []) -> TrackPreferences {
        var preferences = TrackPreferences()
        (preferences.subtitles, preferences.subtitleLanguages) = (choice, languages)
        return preferences
    }

    private static let plain = [track(2, "eng"), track(3, "ger")]
    private static let marked = [track(2, "eng"), track(3, "ger", "d"), track(4, "ger", "f"), track(5, "eng", "h")]
    private static let files = [track(2, "eng", "d"), SubtitleTrack(.found("film.srt")), SubtitleTrack(.found("film.de.srt"), language: "de")]
    private static let named = files + [SubtitleTrack(.named("x.srt"))]

    /// Tracks, what is wanted, the language of the sound, the index of the one that is shown.
    @Test(
        arguments: [
            ([], preferences(), nil, nil),
            (plain, preferences(), "eng", nil),
            (plain, preferences(.number(2)), nil, 1),
            (plain, preferences(.none), nil, nil),
            (plain, preferences(.automatic, ["de"]), nil, 1),
            (plain, preferences(.automatic, ["fr", "en"]), nil, 0),
            (plain, preferences(.automatic, ["fr"]), nil, nil),
            (plain, preferences(.number(1), ["de"]), nil, 0),
            (marked, preferences(), "eng", 1),
            (marked, preferences(.automatic, ["de"]), nil, 1),
            (marked, preferences(.automatic, ["en"]), nil, 0),
            ([track(0, "eng", "h"), track(1, "eng", "f"), track(2, "eng")], preferences(.automatic, ["en"]), nil, 2),
            ([track(0, "eng", "f"), track(1, "eng", "h")], preferences(.automatic, ["en"]), nil, 1),
            ([track(0, "eng", "f"), track(1, "ger", "f")], preferences(), "de", 1),
            ([track(0, "eng", "f"), track(1, "ger", "f")], preferences(), "fr", nil),
            ([track(0, "eng", "f"), track(1, "ger", "f")], preferences(), nil, nil),
            (files, preferences(), nil, 1),
            (files, preferences(.automatic, ["de"]), nil, 2),
            (files, preferences(.automatic, ["en"]), nil, 0),
            (files, preferences(.none), nil, nil),
            (named, preferences(), nil, 3),
            (named, preferences(.automatic, ["de"]), nil, 3),
            (named, preferences(.number(2)), nil, 1),
        ] as [([SubtitleTrack], TrackPreferences, String?, Int?)])
    func `the track is the one that is asked for, else the best one`(
        _ tracks: [SubtitleTrack], _ preferences: TrackPreferences, _ spoken: String?, _ chosen: Int?
    ) {
        let selection = SubtitleSelection(tracks, preferences: preferences, spoken: spoken)
        #expect(selection.chosen == chosen && selection.shortfall == nil)
    }

    @Test func `a number without a track is named`() {
        let none = SubtitleSelection([], preferences: Self.preferences(.number(1)), spoken: nil)
        #expect(none.chosen == nil && none.shortfall == "has 0 subtitle tracks, not 1")
        let few = SubtitleSelection([Self.track(0)], preferences: Self.preferences(.number(2)), spoken: nil)
        #expect(few.chosen == nil && few.shortfall == "has 1 subtitle track, not 2")
    }
}
