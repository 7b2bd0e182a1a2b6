import Testing

@testable import PlaySupport

/// Which words of the player files, profiles, mpv's spellings and the command line come to.
@Suite struct OptionWordsTests {
    private static let catalogue = OptionCatalogue([
        "loop": .flag, "loop-times": .value(repeats: false), "loop-playlist": .flag, "list-turns": .value(repeats: false), "keep-open": .flag,
        "keep-open-always": .flag, "audio-file": .value(repeats: true), "fullscreen": .flag, "osd": .flag, "no-osd": .flag, "no-sub": .flag,
        "volume": .value(repeats: false),
        "connector": .value(repeats: true), "decoder": .value(repeats: false), "sink": .value(repeats: false), "sub-file": .value(repeats: true),
        "tls-no-verify": .flag, "quiet": .flag, "gravity": .value(repeats: false), "camera": .value(repeats: false),
        "audio-device": .value(repeats: false),
    ])

    private static func words(_ line: String) throws -> String {
        var words = OptionWords(catalogue)
        try words.add(line.split(separator: " ").map(String.init))
        return words.words.joined(separator: " ")
    }

    @Test(
        arguments: [
            "a.mkv|a.mkv", "--volume 5 a|--volume 5 a", "a --volume=5|--volume=5 a", "--volume=5 --volume 7|--volume 7", "--loop=yes a|--loop a",
            "--loop --loop=no a|a", "--loop --no-loop|", "--osd=no|--no-osd", "--no-osd --osd|--osd", "--sub=no|--no-sub", "--sub=no --sub=yes|",
            "--unknown=5 a|--unknown=5 a", "-q a|-q a", "a -- --loop=yes|a -- --loop=yes", "--loop-file=inf|--loop", "--loop-file|--loop",
            "--loop --loop-file=no|", "--hwdec=no|--decoder=software", "--hwdec --hwdec=no|--decoder=software", "--vo=drm|--sink=kms",
            "--vo=null --ao=alsa|--sink=headless --audio-device=alsa", "--no-tls-verify|--tls-no-verify", "--tls-verify=no --tls-verify=yes|",
            "--sub-files=a:b --sub-file c|--sub-file a --sub-file b --sub-file c", "--really-quiet|--quiet",
            "--volume --loop|--loop --volume", "--camera /dev/video0|--camera /dev/video0", "--keepaspect=no|--gravity=stretch",
            "--ao=null|--audio-device=null", "--loop=2 a|--loop-times 2 a", "--loop-file=0|", "--loop --loop=3|--loop-times 3",
            "--loop=3 --loop|--loop", "--loop=3 --no-loop|", "--loop-playlist=inf|--loop-playlist", "--loop-playlist=2|--list-turns 2",
            "--keep-open --keep-open=always|--keep-open-always", "--keep-open=always --keep-open=no|",
            "--audio-files=a:b|--audio-file a --audio-file b",
        ])
    func `a command line`(_ row: String) throws {
        let parts = row.split(separator: "|", omittingEmptySubsequences: false)
        // A value may stand in a word of its own or not.
        #expect(try Self.words(String(parts[0])).replacing("=", with: " ") == parts[1].replacing("=", with: " "))
    }

    @Test(arguments: ["--vf=crop", "--hwdec=cuda", "--no-cache", "--screenshot-format=jpg", "--loop=maybe", "--vo"])
    func `what has no counterpart is refused`(_ line: String) {
        #expect(throws: OptionWords.Failure.self) { try Self.words(line) }
    }

    /// The words of files, then of profiles, then of a command line.
    private static func merged(_ files: [String], profiles: [String] = [], _ line: String) throws -> (words: String, faults: [Int]) {
        var words = OptionWords(catalogue), faults: [Int] = []
        for file in files { faults += words.add(ConfigurationFile(text: file)).map(\.line) }
        for profile in profiles { faults += try words.add(profile: profile).map(\.line) }
        try words.add(line.split(separator: " ").map(String.init))
        return (words.words.joined(separator: " "), faults)
    }

    @Test func `what comes later wins`() throws {
        #expect(try Self.merged(["volume=5\nloop", "volume=6"], "a").words == "--loop --volume=6 a")
        #expect(try Self.merged(["volume=5\nloop"], "--volume 7 --no-loop a").words == "--volume 7 a")
        #expect(try Self.merged(["fullscreen=yes", "fullscreen=no"], "a").words == "a")
    }

    @Test func `the command line's values replace the files'`() throws {
        #expect(try Self.merged(["connector=A\nconnector=B"], "a").words == "--connector=A --connector=B a")
        #expect(try Self.merged(["connector=A"], "--connector C --connector D a").words == "--connector C --connector D a")
    }

    @Test func `profiles hold where they are asked for`() throws {
        let file = "volume=1\n[loud]\nvolume=9\nprofile=all\n[all]\nloop"
        #expect(try Self.merged([file], "a").words == "--volume=1 a")
        #expect(try Self.merged([file], profiles: ["loud"], "a").words == "--volume=9 --loop a")
        #expect(try Self.merged([file + "\n[default]\nprofile=all"], "a").words == "--volume=1 --loop a")
        #expect(throws: OptionWords.Failure.self) { try Self.merged([file], profiles: ["quiet"], "a") }
    }

    @Test func `lines that make no sense are left out and named`() throws {
        let file = "vf=crop\nnothing=1\nvolume\nloop=maybe\nno-config\nprofile=none\n[self]\nprofile=self\nloop"
        #expect(try Self.merged([file], profiles: ["self"], "a") == ("--loop a", [1, 2, 3, 4, 5, 6, 8]))
        #expect(try Self.merged(["hwdec=no\nsub=no\nno-osd"], "a") == ("--decoder software --no-sub --no-osd a", []))
    }
}
