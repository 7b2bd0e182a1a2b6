import Demuxing
import Media
import SampleQueue
import Testing

@testable import Player

/// Which tracks of a film play, as a table.
@Suite struct TrackSelectionTests {
    private static func sound(_ id: Int, _ language: String? = nil, isDefault: Bool = false, isDecodable: Bool = true, codec: String = "aac")
        -> AssetTrack
    {
        AssetTrack(
            id: id, kind: .audio, format: .audio(AudioFormat(codecName: codec, sampleRate: 48_000, channelCount: 2)), timeBase: Ratio(1, 48_000),
            duration: .indefinite, bitRate: 0, language: language, title: nil, isDefault: isDefault, isDecodable: isDecodable)
    }

    private static func frames(_ id: Int, isCover: Bool = false, isDefault: Bool = false) -> AssetTrack {
        AssetTrack(
            id: id, kind: isCover ? .attachedPicture : .video, format: .other("frames"), timeBase: Ratio(1, 25), duration: .indefinite, bitRate: 0,
            language: nil, title: nil, isDefault: isDefault, isDecodable: true)
    }

    /// Frames, a commentary, the sound, the dubbed sound, a cover.
    private static var film: [AssetTrack] {
        // Made each time: what an indirect enumeration keeps in a constant counts as lost for LeakSanitizer, which does not know Swift's pointers.
        [frames(0), sound(1, "eng"), sound(2, "ger", isDefault: true), sound(3, "fre"), frames(4, isCover: true), sound(5, "en-GB")]
    }

    private static func wanting(_ change: (inout TrackPreferences) -> Void) -> TrackPreferences {
        var preferences = TrackPreferences()
        change(&preferences)
        return preferences
    }

    @Test(
        arguments: [
            (wanting { _ in }, 0, 2, []),
            (wanting { $0.audio = .number(1) }, 0, 1, []),
            (wanting { $0.audio = .number(4) }, 0, 5, []),
            (wanting { $0.audio = .number(5) }, 0, 2, ["has 4 sound tracks, not 5"]),
            (wanting { $0.audio = .none }, 0, nil, []),
            (wanting { $0.video = .none }, nil, 2, []),
            (wanting { $0.video = .number(2) }, 4, 2, []),
            (wanting { $0.video = .number(3) }, 0, 2, ["has 2 video tracks, not 3"]),
            (wanting { $0.audioLanguages = ["fr"] }, 0, 3, []),
            (wanting { $0.audioLanguages = ["ja", "en"] }, 0, 1, []),
            (wanting { $0.audioLanguages = ["en-gb"] }, 0, 5, []),
            (wanting { $0.audioLanguages = ["en-US"] }, 0, 2, []),
            (wanting { $0.audioLanguages = ["deu"] }, 0, 2, []),
            (wanting { $0.audioLanguages = ["x", ""] }, 0, 2, []),
            (wanting { ($0.audio, $0.audioLanguages) = (.number(3), ["en"]) }, 0, 3, []),
        ] as [(TrackPreferences, Int?, Int?, [String])])
    func `the track is the one that is asked for, else the film's`(_ preferences: TrackPreferences, video: Int?, audio: Int?, shortfalls: [String]) {
        let selection = TrackSelection(tracks: Self.film, preferences: preferences, playsAudio: true)
        #expect(selection.video?.id == video && selection.audio?.id == audio && selection.shortfalls == shortfalls)
        #expect(selection.objection == nil)
    }

    @Test func `what cannot be decoded is no choice, and asked for by number it is named`() {
        let tracks = [Self.sound(0, "eng", isDefault: true, isDecodable: false), Self.sound(1, "ger")]
        #expect(TrackSelection(tracks: tracks, playsAudio: true).audio?.id == 1)
        let english = Self.wanting { $0.audioLanguages = ["en"] }
        #expect(TrackSelection(tracks: tracks, preferences: english, playsAudio: true).audio?.id == 1)
        let selection = TrackSelection(tracks: tracks, preferences: Self.wanting { $0.audio = .number(1) }, playsAudio: true)
        #expect(selection.audio?.id == 1 && selection.shortfalls == ["has sound track 1 in a form that is not played"])
    }

    @Test func `without sound there is none, whatever is asked for`() {
        let selection = TrackSelection(tracks: Self.film, preferences: Self.wanting { $0.audio = .number(9) }, playsAudio: false)
        #expect(selection.audio == nil && selection.shortfalls.isEmpty)
    }

    @Test func `in a sandbox an unusual sound is no choice, and is told only when it leaves the film silent`() {
        let strange = [Self.sound(0, isDefault: true, codec: "h264"), Self.sound(1)]
        let selection = TrackSelection(tracks: strange, playsAudio: true, takesFamiliarOnly: true)
        #expect(selection.audio?.id == 1 && selection.objection == nil)
        let silent = TrackSelection(tracks: [strange[0]], playsAudio: true, takesFamiliarOnly: true)
        #expect(silent.audio == nil && silent.objection != nil)
        #expect(
            TrackSelection(tracks: [strange[0]], preferences: Self.wanting { $0.audio = .none }, playsAudio: true, takesFamiliarOnly: true).objection
                == nil)
    }

    @Test(
        arguments: [
            ("en", "eng", true), ("eng", "en", true), ("de", "ger", true), ("deu", "ger", true), ("fr", "fre", true), ("zh", "chi", true),
            ("en", "en-GB", true), ("en-GB", "en", false), ("EN_us", "eng-US", true), ("en", "de", false), ("", "", false), ("tlh", "tlh", true),
            ("cs", "cze", true), ("nb", "no", false),
        ])
    func `languages are known by all of their names`(wanted: String, other: String, isCovered: Bool) {
        #expect(LanguageCode(wanted).covers(LanguageCode(other)) == isCovered)
    }
}
