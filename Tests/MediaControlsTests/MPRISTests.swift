import PlaySupport
import RemoteControl
import TestSupport
import Testing

@testable import MediaControls

/// What desktops see of a player and order, by MPRIS's names.
@Suite struct MPRISTests {
    /// A film of 100 s, the second of three, at 10 s.
    private static var playing: RemoteSnapshot {
        var snapshot = RemoteSnapshot()
        snapshot.path = "/films/a b.mkv"
        snapshot.title = "A film"
        (snapshot.position, snapshot.duration, snapshot.entry) = (10, 100, 1)
        (snapshot.hasNext, snapshot.hasPrevious, snapshot.isRunning) = (true, true, true)
        return snapshot
    }

    private static func value(_ name: String, _ snapshot: RemoteSnapshot) -> BusValue? {
        [MPRIS.root, MPRIS.player].lazy.compactMap { MPRIS.properties(of: $0, snapshot)?.first { $0.name == name }?.value }.first
    }

    @Test func `a film that plays`() {
        let now = Self.playing
        #expect(Self.value("PlaybackStatus", now) == .string("Playing") && Self.value("Position", now) == .int64(10_000_000))
        #expect(Self.value("CanGoNext", now) == .bool(true) && Self.value("CanSeek", now) == .bool(true))
        #expect(Self.value("Fullscreen", now) == .bool(false) && Self.value("CanSetFullscreen", now) == .bool(false))
        #expect(
            Self.value("Metadata", now)
                == .dictionary([
                    .init(name: "mpris:trackid", value: .objectPath("/org/scanout/track/1")), .init(name: "mpris:length", value: .int64(100_000_000)),
                    .init(name: "xesam:title", value: .string("A film")), .init(name: "xesam:url", value: .string("file:///films/a%20b.mkv")),
                ]))
    }

    @Test func `nothing plays, and what cannot be sought`() {
        let none = RemoteSnapshot()
        #expect(Self.value("PlaybackStatus", none) == .string("Stopped") && Self.value("Metadata", none) == .dictionary([]))
        #expect(Self.value("CanPlay", none) == .bool(false))
        var live = Self.playing
        live.duration = nil
        live.isPaused = true
        #expect(Self.value("CanSeek", live) == .bool(false) && Self.value("PlaybackStatus", live) == .string("Paused"))
        #expect(MPRIS.actions(MPRIS.player, "Seek", .offset(5), live) == [])
    }

    @Test(
        arguments: [
            ("Next", .none, [.next(ends: false)]), ("Previous", .none, [.previous]), ("Pause", .none, [.setPaused(true)]),
            ("Play", .none, [.setPaused(false)]), ("PlayPause", .none, [.setPaused(true)]), ("Stop", .none, [.stop]),
            ("Seek", .offset(5_000_000), [.seek(to: 15)]), ("Seek", .offset(-20_000_000), [.seek(to: 0)]),
            ("Seek", .offset(95_000_000), [.next(ends: false)]), ("Seek", .offset(.max), [.next(ends: false)]),
            ("Seek", .offset(.min), [.seek(to: 0)]),
            ("SetPosition", .position(track: "/org/scanout/track/1", 30_000_000), [.seek(to: 30)]),
            ("SetPosition", .position(track: "/org/scanout/track/0", 30_000_000), []),
            ("SetPosition", .position(track: "/org/scanout/track/1", -1), []),
            ("SetPosition", .position(track: "/org/scanout/track/1", 100_000_001), []),
            ("OpenUri", .address("file:///x"), [.load("file:///x", .instead, isList: false)]),
            ("Raise", .none, nil), ("Nothing", .none, nil),
        ] as [(String, MPRIS.Argument, [RemoteAction]?)])
    func `methods order`(_ method: String, _ argument: MPRIS.Argument, _ actions: [RemoteAction]?) {
        #expect(MPRIS.actions(MPRIS.player, method, argument, Self.playing) == actions)
    }

    @Test func `a list's ends go no further`() {
        var alone = Self.playing
        (alone.hasNext, alone.hasPrevious) = (false, false)
        #expect(MPRIS.actions(MPRIS.player, "Next", .none, alone) == [] && MPRIS.actions(MPRIS.player, "Previous", .none, alone) == [])
        #expect(MPRIS.actions(MPRIS.player, "Seek", .offset(95_000_000), alone) == [.seek(to: 100)])
        #expect(MPRIS.actions(MPRIS.root, "Quit", .none, alone) == [.quit(code: 0)] && MPRIS.actions(MPRIS.root, "Raise", .none, alone) == [])
    }

    @Test(
        arguments: [
            (MPRIS.player, "Rate", .double(2), [.setSpeed(2)]), (MPRIS.player, "Rate", .double(0), [.setPaused(true)]),
            (MPRIS.player, "Rate", .double(99), [.setSpeed(16)]), (MPRIS.player, "Rate", .double(-1), nil),
            (MPRIS.player, "Rate", .double(.nan), nil),
            (MPRIS.player, "Volume", .double(-1), [.setVolume(0)]), (MPRIS.player, "Volume", .double(0.5), [.setVolume(0.5)]),
            (MPRIS.player, "LoopStatus", .string("None"), [.setLoopCount(0), .setListTurns(0)]),
            (MPRIS.player, "LoopStatus", .string("Track"), [.setLoopCount(.max)]), (MPRIS.player, "LoopStatus", .string("Album"), nil),
            (MPRIS.player, "LoopStatus", .string("Playlist"), [.setLoopCount(0), .setListTurns(.max)]),
            (MPRIS.player, "Volume", .string("1"), nil), (MPRIS.player, "Position", .int64(1), nil),
            (MPRIS.root, "Fullscreen", .bool(true), [.setFullscreen(true)]), (MPRIS.root, "Identity", .string("x"), nil),
        ] as [(String, String, BusValue, [RemoteAction]?)])
    func `properties are set, or refused`(_ interface: String, _ name: String, _ value: BusValue, _ actions: [RemoteAction]?) {
        #expect(MPRIS.actions(interface, setting: name, to: value) == actions)
    }

    @Test(
        arguments: [
            ("http://host/a b", "http://host/a b"), ("-", nil), ("/a/é#?.mkv", "file:///a/%C3%A9%23%3F.mkv"), ("b.mkv", "file:///folder/b.mkv"),
        ] as [(String, String?)])
    func `a film has an address`(_ film: String, _ address: String?) {
        #expect(MPRIS.address(of: film, in: "/folder") == address)
    }

    @Test func `the menu entry opens what desktops are told of`() throws {
        let entry = try #require(TextFile.contents(of: TestAssets.root + "/contrib/desktop/scanout.desktop"))
        let line = try #require(entry.split(separator: "\n").first { $0.hasPrefix("MimeType=") })
        let types = Set(line.dropFirst("MimeType=".count).split(separator: ";").map(String.init))
        #expect(types.isSuperset(of: MPRIS.mediaTypes))
    }

    @Test func `what has changed is told, but for the position`() {
        let before = MPRIS.properties(of: MPRIS.player, Self.playing) ?? []
        var next = Self.playing
        (next.position, next.volume) = (50, 0.25)
        let after = MPRIS.properties(of: MPRIS.player, next) ?? []
        #expect(MediaControls.changes(from: before, to: after) == [.init(name: "Volume", value: .double(0.25))])
        #expect(MediaControls.changes(from: after, to: after).isEmpty)
    }
}
