import Foundation
import Media
import PlaySupport
import Player
import Testing

/// What is kept of films that were left.
@Suite final class WatchLaterTests {
    private let folder = NSTemporaryDirectory() + "watch-later-\(UUID().uuidString.prefix(8))"
    private var places: WatchLater { WatchLater(folder: folder + "/scanout/watch_later") }
    private var film: String { folder + "/film.mkv" }
    private var file: String { places.folder + "/" + (WatchLater.fileName(for: film, in: "/") ?? "") }

    init() throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Data().write(to: URL(fileURLWithPath: film))
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    /// The bytes of a path beside 0xFF, which no text in UTF-8 holds.
    private static let latin = PathText.text(Array("/a/".utf8) + [0xFF] + Array(".mkv".utf8))

    private static let names = [
        "A0": "6FFA87D69B117D8BA830C1ED9B4B49B9", "A1": "407E9711E5F16668380443371ACB068D", "A2": "1CD50F4054E4955846E369D80541A2C3",
        "A3": "066FC4487BBFE3F9E85BCD47ECF962C2",
    ]

    @Test(
        arguments: [
            ("/a/b.mkv", "/x", "A0"), ("b.mkv", "/a", "A0"), ("./b.mkv", "/a/", "A0"), ("/a//c/../b.mkv", "/x", "A0"), ("../a/./b.mkv", "/a", "A0"),
            ("../../../a/b.mkv", "/c/d", "A0"), ("https://example.org/a.mkv", "/a", "A1"), (latin, "/", "A2"), ("-", "/a", nil), ("", "/a", nil),
            ("https://me:secret@example.org/a.mkv", "/a", nil), ("rtsp://me@example.org/a", "/a", nil), ("pipe:0", "/a", nil), ("fd:", "/a", nil),
            ("data:video/mp4;base64,AA", "/a", nil), ("https://example.org/@a.mkv", "/", "A3"),
        ] as [(String, String, String?)])
    func `a file is called by the hash of the film's path`(_ location: String, _ directory: String, _ expected: String?) {
        #expect(WatchLater.fileName(for: location, in: directory) == expected.flatMap { Self.names[$0] })
    }

    @Test(
        arguments: [
            ("", ""), ("start=12.5\n", "start=12.5\n"), ("# /a/b.mkv\nstart=93.123456\nvolume=50.000000", "start=93.123456\nvolume=50.0\n"),
            ("# redirect entry\n", ""), ("sid=2\nmute=yes\r\nvf=crop\nsub-ass=no\n", "mute=yes\nsid=2\n"),
            ("volume=1300\nspeed=0", "speed=0.1\nvolume=1000.0\n"),
            ("sid=no\nsub-delay=-0.5\ndeinterlace=auto", "deinterlace=auto\nsid=no\nsub-delay=-0.5\n"), ("start=-5", "start=0.0\n"),
            ("ab-loop-a=1\nab-loop-b=2", "ab-loop-a=1.0\nab-loop-b=2.0\n"), ("hue=-120\ncontrast=7", "hue=-100.0\ncontrast=7.0\n"),
            ("title=%6%STRING", ""),
            ("start", nil), ("start=soon", nil), ("start=nan", nil), ("start=inf", nil), ("volume=", nil), ("mute=1", nil), ("sid=-1", nil),
            ("sid=99999999999999999999", nil), ("deinterlace=maybe", nil),
            ("=5", nil), ("a b=5", nil), ("\u{0}\u{0}", nil), ("start=1\n\u{1b}[2J", nil),
        ] as [(String, String?)])
    func `a file is read as far as its options exist here, or not at all`(_ text: String, _ expected: String?) {
        #expect(WatchLaterState(text: text)?.text == expected)
    }

    @Test func `what the command line says counts more than what was kept`() throws {
        let state = try #require(WatchLaterState(text: "start=5\nvolume=50\nsid=2"))
        #expect(state.without(["volume", "fullscreen"]).text == "start=5.0\nsid=2\n" && state.without([]) == state)
    }

    @Test func `a place is kept, found, read and forgotten`() throws {
        var state = WatchLaterState()
        (state.start, state.volume, state.subtitles, state.isMuted) = (12.25, 40, TrackPreferences.Choice.none, true)
        #expect(try places.state(of: film) == nil && !places.holds(film) && places.first(of: [film]) == nil)
        #expect(try places.keep(state, of: film))
        #expect(try places.state(of: film) == state && places.holds(film))
        #expect(places.first(of: ["/a", folder + "/./film.mkv", film]) == 1 && places.first(of: ["/a", "-"]) == nil)
        #expect(try String(contentsOfFile: file, encoding: .utf8) == "start=12.25\nvolume=40.0\nmute=yes\nsid=no\n", "the name is not in it")
        let mode = try FileManager.default.attributesOfItem(atPath: places.folder)[.posixPermissions] as? Int
        #expect(mode == 0o700)
        state.start = 13
        #expect(try places.keep(state, of: film))
        #expect(try places.state(of: film)?.start == 13)
        #expect(try FileManager.default.contentsOfDirectory(atPath: places.folder).count == 1, "nothing else is left there")
        places.forget(film)
        #expect(try places.state(of: film) == nil && !places.holds(film))
    }

    @Test func `nothing is kept of what cannot be found again`() throws {
        #expect(try !places.keep(WatchLaterState(), of: "-") && !places.keep(WatchLaterState(), of: folder))
        #expect(try !places.keep(WatchLaterState(), of: "https://me:secret@example.org/a.mkv"))
        let pipe = folder + "/pipe"
        let made = unsafe mkfifo(pipe, 0o600)
        #expect(made == 0)
        #expect(try !places.keep(WatchLaterState(), of: pipe))
        #expect(!FileManager.default.fileExists(atPath: places.folder))
    }

    @Test(arguments: ["folder", "pipe", "large", "binary", "words", "device"]) func `a file that is none is one sentence`(_ kind: String) throws {
        try FileManager.default.createDirectory(atPath: places.folder, withIntermediateDirectories: true)
        switch kind {
        case "folder": try FileManager.default.createDirectory(atPath: file, withIntermediateDirectories: false)
        case "pipe":
            let made = unsafe mkfifo(file, 0o600)
            #expect(made == 0)
        case "large": try Data(String(repeating: "# \n", count: 30_000).utf8).write(to: URL(fileURLWithPath: file))
        case "binary": try Data([0x73, 0xFF, 0x00, 0x3D]).write(to: URL(fileURLWithPath: file))
        case "words": try Data("this is a letter".utf8).write(to: URL(fileURLWithPath: file))
        default: try FileManager.default.createSymbolicLink(atPath: file, withDestinationPath: "/dev/zero")
        }
        do {
            _ = try places.state(of: film)
            Issue.record("it was taken for a place")
        } catch { #expect(error.description.hasPrefix(file) && !error.description.dropLast().contains(". "), "\(error.description)") }
    }

    @Test func `a link is replaced, and what it led to stays as it was`() throws {
        try FileManager.default.createDirectory(atPath: places.folder, withIntermediateDirectories: true)
        let other = folder + "/other"
        try Data("other".utf8).write(to: URL(fileURLWithPath: other))
        for name in [file, file + ".part"] { try FileManager.default.createSymbolicLink(atPath: name, withDestinationPath: other) }
        #expect(try places.keep(WatchLaterState(), of: film))
        #expect(try places.state(of: film) == WatchLaterState())
        #expect(try String(contentsOfFile: other, encoding: .utf8) == "other")
    }

    @Test func `a folder that cannot be made is one sentence`() throws {
        #expect(throws: PlayerError.self) { try WatchLater(folder: film + "/below").keep(WatchLaterState(), of: film) }
        #expect(try WatchLater(folder: film + "/below").state(of: film) == nil)
    }
}
