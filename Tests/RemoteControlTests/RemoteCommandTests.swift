import DisplaySink
import JSON
import Media
import PixelConversion
import PlaySupport
import Testing

@testable import RemoteControl

/// A film of 100 s at 30 s, the second of three.
let playing: RemoteSnapshot = {
    var snapshot = RemoteSnapshot()
    snapshot.path = "/films/b.tar.mkv"
    snapshot.title = "B"
    snapshot.position = 30
    snapshot.duration = 100
    snapshot.isRunning = true
    snapshot.volume = 0.5
    snapshot.isFullscreen = false
    snapshot.entries = [Playlist.Entry("/films/a.mkv", title: "A"), Playlist.Entry("/films/b.tar.mkv"), Playlist.Entry("c.mkv")]
    snapshot.entry = 1
    snapshot.decoder = "h264 (software)"
    snapshot.chapters = [RemoteChapter(title: "One", time: 0), RemoteChapter(title: "Two", time: 25), RemoteChapter(title: "", time: 80)]
    snapshot.tracks = [RemoteTrack(.video, 1), RemoteTrack(.audio, 1), RemoteTrack(.audio, 2), RemoteTrack(.sub, 1)]
    snapshot.tracks[2].isSelected = true
    snapshot.tracks[3].language = "de"
    return snapshot
}()

@Suite struct RemoteCommandTests {
    private static func words(_ text: String) throws -> [JSONValue] {
        guard case .array(let words) = try JSONValue(parsing: text.utf8) else { throw CancellationError() }
        return words
    }

    @Test func `a live film goes back to live, another one has nowhere to go`() throws {
        var live = playing
        (live.isLive, live.latency, live.latencyTarget) = (true, 1.25, 0.5)
        #expect(try RemoteCommand.actions(["seek-to-live"], live) == [.seekToLive])
        #expect(throws: RemoteError.self) { try RemoteCommand.actions(["seek-to-live"], playing) }
        #expect(try RemoteProperties.value(of: "live-latency", live) == .number(1.25))
        #expect(try RemoteProperties.value(of: "live-latency-target", live) == .number(0.5))
        #expect(throws: RemoteError.self) { try RemoteProperties.value(of: "live-latency", playing) }
    }

    @Test func `a film whose sender says when it was made goes to a date`() throws {
        var dated = playing
        dated.programDate = ProgramDate(iso8601: "2026-11-27T20:15:00.25Z")
        #expect(try RemoteProperties.value(of: "program-date", dated) == .string("2026-11-27T20:15:00.250Z"))
        let later = try #require(ProgramDate(iso8601: "2026-11-27T20:16:00Z"))
        #expect(try RemoteCommand.actions(["set", "program-date", "2026-11-27T21:16:00+01:00"], dated) == [.seekToDate(later)])
        for (text, film) in [("soon", dated), ("2026-11-27T20:16:00Z", playing)] {
            #expect(throws: RemoteError.self) { try RemoteCommand.actions(["set", "program-date", .string(text)], film) }
        }
    }

    @Test func `passwords of addresses are not told`() throws {
        var snapshot = playing
        snapshot.path = "rtsp://viewer:sesame@camera"
        snapshot.title = nil
        snapshot.entries = [Playlist.Entry("rtsp://viewer:sesame@camera")]
        for name in ["path", "filename", "filename/no-ext", "media-title", "playlist", "playlist/0/filename"] {
            let value = try RemoteProperties.value(of: name, snapshot).text
            #expect(value.contains("viewer:***@camera") && !value.contains("sesame"), "\(name): \(value)")
        }
    }

    @Test(
        arguments: [
            (#"["seek", 5]"#, [.seekBy(5)]), (#"["seek", "-5", "relative"]"#, [.seekBy(-5)]), (#"["seek", 10, "absolute+exact"]"#, [.seek(to: 10)]),
            (#"["seek", -10, "absolute", "keyframes"]"#, [.seek(to: 90)]), (#"["seek", 50, "absolute-percent"]"#, [.seek(to: 50)]),
            (#"["seek", -10, "relative-percent"]"#, [.seek(to: 20)]), (#"["frame-step"]"#, [.stepForward]),
            (#"["frame-back-step"]"#, [.stepBackward]),
            (#"["set", "pause", "yes"]"#, [.setPaused(true)]), (#"["set", "pause", false]"#, [.setPaused(false)]),
            (#"["set", "volume", "25"]"#, [.setVolume(0.25)]),
            (#"["set", "speed", 2]"#, [.setSpeed(2)]), (#"["set", "mute", "no"]"#, [.setMuted(false)]),
            (#"["set", "fullscreen", true]"#, [.setFullscreen(true)]),
            (#"["set", "time-pos", 12.5]"#, [.seek(to: 12.5)]), (#"["set", "percent-pos", 10]"#, [.seek(to: 10)]),
            (#"["set", "playlist-pos", 2]"#, [.play(index: 2)]),
            (#"["set", "playlist-pos-1", 1]"#, [.play(index: 0)]), (#"["cycle", "pause"]"#, [.setPaused(true)]),
            (#"["cycle", "volume", "down"]"#, [.setVolume(0.49)]),
            (#"["add", "volume", 90]"#, [.setVolume(1.3)]), (#"["add", "volume", -60]"#, [.setVolume(0)]),
            (#"["add", "playlist-pos", 1]"#, [.play(index: 2)]),
            (#"["multiply", "speed", 100]"#, [.setSpeed(16)]), (#"["playlist-next"]"#, [.next(ends: false)]),
            (#"["playlist-next", "force"]"#, [.next(ends: true)]),
            (#"["playlist-prev"]"#, [.previous]), (#"["playlist-play-index", "current"]"#, [.play(index: 1)]),
            (#"["playlist-play-index", 0]"#, [.play(index: 0)]),
            (#"["loadfile", "x.mkv"]"#, [.load("x.mkv", .instead, isList: false)]),
            (#"["loadfile", "x.mkv", "append"]"#, [.load("x.mkv", .atEnd(plays: false), isList: false)]),
            (#"["loadfile", "x.mkv", "append-play"]"#, [.load("x.mkv", .atEnd(plays: true), isList: false)]),
            (#"["loadfile", "x.mkv", "insert-next"]"#, [.load("x.mkv", .afterCurrent(plays: false), isList: false)]),
            (#"["loadlist", "x", "append"]"#, [.load("x", .atEnd(plays: false), isList: true)]), (#"["playlist-clear"]"#, [.editList(.clear)]),
            (#"["playlist-remove", "current"]"#, [.editList(.remove(1))]), (#"["playlist-remove", 2]"#, [.editList(.remove(2))]),
            (#"["playlist-move", 0, 3]"#, [.editList(.move(0, before: 3))]), (#"["playlist-shuffle"]"#, [.editList(.shuffle)]),
            (#"["playlist-unshuffle"]"#, [.editList(.unshuffle)]), (#"["set", "loop-file", "inf"]"#, [.setLoopCount(.max)]),
            (#"["set", "loop-file", 3]"#, [.setLoopCount(3)]), (#"["set", "loop", "no"]"#, [.setLoopCount(0)]),
            (#"["cycle-values", "loop-file", "inf", "no"]"#, [.setLoopCount(.max)]), (#"["cycle", "loop-playlist"]"#, [.setListTurns(.max)]),
            (#"["set", "loop-playlist", 2]"#, [.setListTurns(1)]), (#"["set", "loop-playlist", 1]"#, [.setListTurns(0)]),
            (#"["quit"]"#, [.quit(code: 0)]),
            (#"["quit", 3]"#, [.quit(code: 3)]), (#"["quit-watch-later"]"#, [.quitWatchLater(code: 0)]),
            (#"["quit-watch-later", 4]"#, [.quitWatchLater(code: 4)]), (#"["write-watch-later-config"]"#, [.writeWatchLater]),
            (#"["delete-watch-later-config", "/x"]"#, [.deleteWatchLater("/x")]),
            (#"["stop"]"#, [.stop]), (#"["show-text", "hello", 2000]"#, [.showText("hello", seconds: 2, level: 0)]),
            (#"["show-progress"]"#, [.showProgress]),
            (#"["set", "chapter", 2]"#, [.goToChapter(index: 2)]), (#"["add", "chapter", -1]"#, [.moveChapter(by: -1)]),
            (#"["set", "sid", 1]"#, [.setSubtitle(1)]), (#"["set", "sid", "no"]"#, [.setSubtitle(nil)]),
            (#"["cycle", "sub"]"#, [.cycleSubtitles(by: 1)]), (#"["cycle", "sid", "down"]"#, [.cycleSubtitles(by: -1)]),
            (#"["cycle", "sub-visibility"]"#, [.setSubtitlesVisible(false)]), (#"["add", "sub-delay", "-0.5"]"#, [.setSubtitleDelay(-0.5)]),
            (#"["keypress", "PGUP"]"#, [.key(.pageUp)]), (#"["keypress", "shift+left"]"#, [.key(PlayerKey("LEFT", .shift))]),
            (#"["show-text", "x", -1, 2]"#, [.showText("x", seconds: nil, level: 2)]), (#"["print-text", "x"]"#, [.show("x")]),
            (#"["cycle-values", "osd-level", 3, 1]"#, [.setScreenLevel(3)]), (#"["cycle-values", "osd-level", "1", "2"]"#, [.setScreenLevel(2)]),
            (#"["cycle-values", "video-aspect-override", "16:9", "no"]"#, [.setFraming(.aspectRatio(Ratio(1_777_778, 1_000_000)))]),
            (#"["set", "video-rotate", "270"]"#, [.setFraming(.rotation(.clockwise270))]),
            (#"["set", "video-rotate", 360]"#, [.setFraming(.rotation(.none))]),
            (#"["set", "video-aspect-override", "-1"]"#, [.setFraming(.aspectRatio(.unknown))]),
            (#"["add", "video-zoom", 30]"#, [.setFraming(.zoom(20))]), (#"["cycle", "keepaspect"]"#, [.setFraming(.keepsAspect(false))]),
            (#"["cycle", "video-mirror"]"#, [.setFraming(.mirrored(true))]),
            (#"["cycle-values", "!reverse", "speed", "0.5", "1.0", "2"]"#, [.setSpeed(0.5)]),
            (#"["add", "sub-pos", -200]"#, [.setSubtitlePosition(0)]), (#"["set", "sub-scale", 2]"#, [.setSubtitleScale(2)]),
            (#"["script-binding", "stats/display-stats"]"#, [.showStatistics(toggles: false)]), (#"["leave"]"#, [.leave]),
            (#"["screenshot"]"#, [.takeScreenshot(hasSubtitles: true)]),
            (#"["screenshot-to-file", "/a.png"]"#, [.saveScreenshot(path: "/a.png", hasSubtitles: true, nil)]),
            (#"["screenshot-to-file", "b.jpg", "video"]"#, [.saveScreenshot(path: "b.jpg", hasSubtitles: false, nil)]),
            (#"["set", "ab-loop-b", 9]"#, [.setLoopEnd(9)]),
            (#"["set", "ab-loop-a", "no"]"#, [.setLoopStart(nil)]), (#"["set", "contrast", "-7"]"#, [.setColor(.contrast, -7)]),
            (#"["add", "gamma", 1000]"#, [.setColor(.gamma, 100)]), (#"["cycle", "brightness"]"#, [.setColor(.brightness, 1)]),
            (#"["keypress", "SPACE"]"#, [.key(.space)]), (#"["script-message", "a", 1]"#, [.message(["a", "1"])]), (#"["ignore"]"#, []),
        ] as [(String, [RemoteAction])])
    func `a command means`(_ words: String, _ expected: [RemoteAction]) throws {
        #expect(try RemoteCommand.actions(Self.words(words), playing) == expected)
    }

    @Test(
        arguments: [
            (#"[]"#, .invalidParameter), (#"["explode"]"#, .invalidParameter), (#"[5]"#, .invalidParameter), (#"["seek"]"#, .invalidParameter),
            (#"["seek", "soon"]"#, .invalidParameter), (#"["seek", 5, "sideways"]"#, .invalidParameter),
            (#"["seek", 5, "absolute", "relative"]"#, .invalidParameter),
            (#"["set", "pause"]"#, .invalidParameter), (#"["set", "pause", "maybe"]"#, .propertyFormat),
            (#"["set", "volume", 131]"#, .propertyError), (#"["set", "speed", 0]"#, .propertyError), (#"["set", "nonsense", 1]"#, .propertyNotFound),
            (#"["set", "duration", 1]"#, .propertyError), (#"["set", "playlist-pos", 3]"#, .propertyError),
            (#"["set", "playlist-pos", 0.5]"#, .propertyError),
            (#"["cycle", "media-title"]"#, .propertyFormat), (#"["add", "edition"]"#, .propertyNotFound), (#"["loadfile"]"#, .invalidParameter),
            (#"["loadfile", "x", "never"]"#, .invalidParameter), (#"["playlist-remove", 3]"#, .command),
            (#"["playlist-move", 1]"#, .invalidParameter), (#"["set", "loop-file", "often"]"#, .propertyFormat),
            (#"["set", "loop-playlist", 0]"#, .propertyError), (#"["quit", 1000]"#, .invalidParameter),
            (#"["quit-watch-later", -1]"#, .invalidParameter),
            (#"["keypress", "F25"]"#, .invalidParameter), (#"["set", "chapter", 3]"#, .propertyError), (#"["set", "sid", 2]"#, .propertyError),
            (#"["show-text"]"#, .invalidParameter),
            (#"["set", "video-rotate", "45"]"#, .propertyError), (#"["set", "panscan", "2"]"#, .propertyError),
            (#"["set", "hue", 101]"#, .propertyError),
            (#"["set", "video-aspect-override", "16:0"]"#, .propertyError), (#"["set", "video-aspect-override", "11"]"#, .propertyError),
            (#"["show-text", "x", 1, 4]"#, .invalidParameter), (#"["cycle-values", "pause"]"#, .invalidParameter),
            (#"["script-binding", "osc/visibility"]"#, .invalidParameter), (#"["set", "osd-level", 4]"#, .propertyError),
            (#"["screenshot", "window"]"#, .invalidParameter), (#"["screenshot-to-file"]"#, .invalidParameter),
            (#"["screenshot-to-file", "/a.png", "window"]"#, .invalidParameter), (#"["screenshot-to-file", ""]"#, .invalidParameter),
        ] as [(String, RemoteError)])
    func `a command that makes no sense is refused`(_ words: String, _ expected: RemoteError) {
        #expect(throws: expected) { try RemoteCommand.actions(Self.words(words), playing) }
    }

    @Test(
        arguments: [
            (#"["seek", 5]"#, .command), (#"["frame-step"]"#, .command), (#"["write-watch-later-config"]"#, .command),
            (#"["delete-watch-later-config"]"#, .command), (#"["set", "time-pos", 1]"#, .propertyUnavailable),
            (#"["add", "time-pos", 1]"#, .propertyUnavailable),
            (#"["set", "percent-pos", 1]"#, .propertyUnavailable), (#"["cycle", "fullscreen"]"#, .propertyUnavailable),
        ] as [(String, RemoteError)])
    func `without a film and a window some commands are refused`(_ words: String, _ expected: RemoteError) {
        #expect(throws: expected) { try RemoteCommand.actions(Self.words(words), RemoteSnapshot()) }
    }

    @Test(
        arguments: [
            ("pause", [["pause"]]), ("  set  pause yes ", [["set", "pause", "yes"]]),
            (#"show-text "a \"b\" \\ c" 5"#, [["show-text", "a \"b\" \\ c", "5"]]),
            ("cycle mute; no-osd add volume 5 ;", [["cycle", "mute"], ["add", "volume", "5"]]),
            ("print-text 'one ; two' # rest", [["print-text", "one ; two"]]),
            ("raw async quit", [["quit"]]), ("", []), (";;", []),
        ] as [(String, [[String]])])
    func `a line of text is split as in input_conf`(_ text: String, _ expected: [[String]]) { #expect(CommandText.commands(in: text) == expected) }

    @Test(arguments: ["show-text \"endless", "print-text 'endless", "a \"\\"]) func `a quotation without an end is refused`(_ text: String) {
        #expect(CommandText.commands(in: text) == nil)
    }

    @Test(arguments: [
        ("at ${time-pos} of ${duration}", "at 00:00:30 of 00:01:40"), ("${=time-pos}", "30.000000"),
        ("${nothing:none} ${nothing}", "none (unavailable)"),
        ("${?path:has ${filename}}${!path:no}", "has b.tar.mkv"), ("$$5 $x ${", "$5 $x ${"),
        ("${percent-pos}% ${volume} ${speed} ${pause}", "30% 50 1.00 no"),
        ("${playlist/0/title} ${playlist/2/filename}", "A c.mkv"), ("${playlist}", "○ A\n▶ b.tar.mkv\n○ c.mkv"),
        ("${track-list}", "○ Video 1\n○ Audio 1\n▶ Audio 2\n○ Subtitles 1: de"),
        ("${chapter-list}", "○ 0:00  One\n▶ 0:25  Two\n○ 1:20  Chapter 3"),
    ])
    func `properties stand for their values in a text`(_ text: String, _ expected: String) {
        #expect(CommandText.expanded(text, playing) == expected)
    }
}
