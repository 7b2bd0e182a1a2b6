import DisplaySink
import Media
import PixelConversion
import PlaySupport
import Testing

@testable import RemoteControl

/// What keys mean, by themselves and by files.
@Suite struct KeyBindingsTests {
    @Test func `a window that is filled has a panscan of one, which keys take back`() throws {
        var snapshot = playing
        snapshot.framing = Framing(gravity: .fill)
        let key = try #require(PlayerKey(mpvName: "w"))
        let actions = KeyBindings().orders(for: key).flatMap { $0.actions(snapshot) ?? [] }
        #expect(actions == [.setFraming(.panscan(0.9))])
        if case .setFraming(let change)? = actions.first { change.apply(to: &snapshot.framing) }
        #expect(snapshot.framing.gravity == .aspect && snapshot.framing.panscan == 0.9)
    }

    private static func actions(_ bindings: KeyBindings, _ key: String) -> [RemoteAction]? {
        guard let key = PlayerKey(mpvName: key) else { return nil }
        return bindings.orders(for: key).flatMap { $0.actions(playing) ?? [] }
    }

    @Test(
        arguments: [
            ("SPACE", [.setPaused(true)]), ("p", [.setPaused(true)]), ("q", [.quit(code: 0)]),
            ("Q", [.quitWatchLater(code: 0)]), ("ESC", [.leave]), ("f", [.setFullscreen(true)]),
            ("LEFT", [.seekBy(-5)]), ("RIGHT", [.seekBy(5)]), ("UP", [.seekBy(60)]), ("DOWN", [.seekBy(-60)]), ("Shift+LEFT", [.seekBy(-1)]),
            ("Shift+RIGHT", [.seekBy(1)]), (".", [.stepForward]), (",", [.stepBackward]), (">", [.next(ends: false)]), ("<", [.previous]),
            ("ENTER", [.next(ends: false)]), ("9", [.setVolume(0.48)]), ("0", [.setVolume(0.52)]), ("m", [.setMuted(true)]),
            ("]", [.setSpeed(1.1)]), ("{", [.setSpeed(0.5)]), ("BS", [.setSpeed(1)]), ("j", [.cycleSubtitles(by: 1)]),
            ("J", [.cycleSubtitles(by: -1)]), ("v", [.setSubtitlesVisible(false)]), ("#", [.cycleSound(by: 1)]), ("W", [.setFraming(.panscan(0.1))]),
            ("w", [.setFraming(.panscan(0))]),
            ("A", [.setFraming(.aspectRatio(Ratio(1_777_778, 1_000_000)))]), ("Alt+-", [.setFraming(.zoom(-0.1))]),
            ("2", [.setColor(.contrast, 1)]), ("3", [.setColor(.brightness, -1)]), ("6", [.setColor(.gamma, 1)]), ("7", [.setColor(.saturation, -1)]),
            ("Alt+LEFT", [.setFraming(.panX(0.1))]), ("Alt+DOWN", [.setFraming(.panY(-0.1))]),
            ("Alt+BS", [.setFraming(.zoom(0)), .setFraming(.panscan(0)), .setFraming(.panX(0)), .setFraming(.panY(0))]),
            ("Ctrl++", [.setAudioDelay(0.1)]), ("Ctrl+-", [.setAudioDelay(-0.1)]), ("z", [.setSubtitleDelay(-0.1)]), ("PGUP", [.moveChapter(by: 1)]),
            ("o", [.showProgress]), ("O", [.setScreenLevel(3)]), ("i", [.showStatistics(toggles: false)]), ("VOLUME_UP", [.setVolume(0.52)]),
            ("a", []), ("s", [.takeScreenshot(hasSubtitles: true)]), ("S", [.takeScreenshot(hasSubtitles: false)]), ("l", [.markLoop]),
        ] as [(String, [RemoteAction])])
    func `each key stands for what mpv's users expect`(_ key: String, _ expected: [RemoteAction]) {
        #expect(Self.actions(KeyBindings(), key) == expected)
    }

    @Test func `a file's bindings replace those of the same keys, one by one`() {
        var bindings = KeyBindings()
        let faults = bindings.add(
            "# comment\n\n  q ignore\nCtrl+g no-osd seek -30 ; show-text \"at ${time-pos}\"\nSHARP cycle mute # comment\r\nspace seek 1\n")
        #expect(faults.isEmpty)
        #expect(
            Self.actions(bindings, "q") == [] && Self.actions(bindings, "SPACE") == [.seekBy(1)] && Self.actions(bindings, "p") == [.setPaused(true)])
        #expect(Self.actions(bindings, "ctrl+g") == [.seekBy(-30), .showText("at 00:00:30", seconds: nil, level: 0)])
        #expect(Self.actions(bindings, "#") == [.setMuted(true)])
        #expect(Self.actions(KeyBindings(standard: false), "q") == [])
    }

    @Test(arguments: [
        ("F25 quit", "there is no key F25"), ("MBTN_LEFT quit", "there is no key MBTN_LEFT"), ("q", "the key q has no command"),
        ("q # quit", "the key q has no command"), ("q explode", "there is no command explode"), ("q quit ; explode 5", "there is no command explode"),
        ("q show-text \"a", "the quotation has no end"), ("q add sharpen 1", "there is no property sharpen that can be set"),
        ("q set", "set needs the name of a property"), ("q observe_property 1 pause", "there is no command observe_property"),
    ])
    func `a line that makes no sense is one sentence and leaves the key as it was`(_ line: String, _ reason: String) {
        var bindings = KeyBindings()
        #expect(bindings.add("# first\n" + line) == [KeyBindings.Fault(line: 2, reason: reason)])
        #expect(Self.actions(bindings, "q") == [.quit(code: 0)])
    }

    @Test(arguments: [
        ("q", "q"), ("space", "SPACE"), ("SHARP", "#"), ("#", "#"), ("ctrl+ALT+x", "Ctrl+Alt+x"), ("Shift+a", "A"), ("Shift+left", "Shift+LEFT"),
        ("+", "+"), ("Ctrl++", "Ctrl++"), ("F12", "F12"), ("KP5", "KP5"), ("é", "é"), ("", nil), ("Ctrl+", nil), ("ab", nil), ("F0", nil), (" ", nil),
    ])
    func `keys are named as in mpv`(_ name: String, _ expected: String?) { #expect(PlayerKey(mpvName: name)?.rawValue == expected) }

    /// A command with its prefixes, what plays after it, and what is seen.
    @Test(
        arguments: [
            ("add volume 2", ScreenReply("Volume: 50%")), ("no-osd add volume 2", ScreenReply()), ("cycle mute", ScreenReply("Mute: no")),
            ("set speed 1.5", ScreenReply("Speed: 1.00")), ("seek 5", ScreenReply(hasBar: true)), ("no-osd seek 5", ScreenReply()),
            ("osd-msg seek 5", ScreenReply()), ("cycle pause", ScreenReply(hasBar: true)), ("frame-step", ScreenReply(hasBar: true)),
            ("add chapter 1", ScreenReply("Chapter: (2) Two", hasBar: true)), ("osd-bar add chapter 1", ScreenReply(hasBar: true)),
            ("osd-msg add chapter 1", ScreenReply("Chapter: (2) Two")), ("set sid 1", ScreenReply("Subtitles: no")),
            ("cycle sub-visibility", ScreenReply("Subtitle visibility: yes")), ("add sub-delay 0.1", ScreenReply("Subtitle delay: 0 ms")),
            ("add sub-pos 1", ScreenReply("Subtitle position: 100")), ("add sub-scale 1", ScreenReply("Subtitle scale: 1.00")),
            ("ab-loop", ScreenReply("A-B loop: no")), ("set ab-loop-a 5", ScreenReply("A-B loop: no")), ("quit", ScreenReply()),
            ("cycle fullscreen", ScreenReply()),
        ])
    func `the viewer is told`(_ command: String, _ expected: ScreenReply) throws {
        var bindings = KeyBindings(standard: false)
        #expect(bindings.add("a " + command).isEmpty)
        let order = try #require(bindings.orders(for: PlayerKey(rawValue: "a")).first), action = try #require(order.actions(playing)?.first)
        #expect(order.reply(to: action, playing) == expected)
    }

    @Test func `the names of tracks are told`() {
        var snapshot = playing
        (snapshot.subtitle, snapshot.isMuted) = (1, true)
        snapshot.tracks[3].title = "Signs"
        #expect(RemoteAction.cycleSubtitles(by: 1).reply(snapshot).text == "Subtitles: (1) de (\"Signs\")")
        #expect(RemoteAction.setVolume(1).reply(snapshot).text == "Volume: 50% (Muted)")
        snapshot.position = 90
        #expect(RemoteAction.moveChapter(by: 1).reply(snapshot).text == "Chapter: (3) of 3")
        snapshot.loopStart = 65
        #expect(RemoteAction.markLoop.reply(snapshot).text == "A-B loop: 1:05 - no")
        snapshot.chapters = []
        #expect(RemoteAction.moveChapter(by: 1).reply(snapshot) == ScreenReply())
    }
}
