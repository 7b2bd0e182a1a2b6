public import Media
internal import Subtitles

/// Which files hold a film's subtitles, and how subtitles are shown. `TrackPreferences` says which track is.
public struct SubtitleOptions: Sendable {
    /// Paths of files of subtitles.
    public var files: [String] = []
    /// Whether files beside the film that have its name are tracks, too: for `film.mkv` these are `film.srt`, `film.de.srt` and the like.
    public var findsFiles = true
    /// How much later than their times they come; below zero: earlier.
    public var delay = MediaTime.zero
    /// Factor of the size of text, 0.1 to 10.
    public var scale = 1.0
    /// The height of text in percent: 100 is at the lower edge, 0 at the upper one.
    public var position = 100.0
    /// Whether they are shown; the viewer can change that.
    public var isVisible = true
    /// Whether the program takes them itself, by `Player.subtitles(at:on:)`: then they are read without a display that draws them, too, and
    /// `PlayerEvent.subtitlesChanged` is reported. Otherwise a film without such a display reads none, which costs nothing.
    public var isTakenByProgram = false

    /// Files beside the film are found, and text looks as in mpv.
    public init() {}

    /// For the engine.
    var settings: SubtitleSettings {
        var settings = SubtitleSettings()
        settings.delay = delay.isNumeric ? delay.converted(to: 1000).value : 0
        settings.scale = min(max(scale, 0.1), 10)
        settings.position = min(max(position, 0), 150)
        settings.isVisible = isVisible
        return settings
    }
}
