import Media
import TestSupport
import Testing

@testable import PlaySupport

/// What the text of a playlist says.
@Suite struct PlaylistFileTests {
    private static func names(_ text: String) throws -> [String] { try PlaylistFile(Array(text.utf8)).lines.map(\.name) }

    @Test(
        arguments: [
            ("", []), ("a.mkv", ["a.mkv"]), ("a.mkv\nb.mp4\n", ["a.mkv", "b.mp4"]), ("a.mkv\r\n\r\nb.mp4\r\n", ["a.mkv", "b.mp4"]),
            ("a\rb", ["a", "b"]),
            ("\u{feff}#EXTM3U\na.mkv", ["a.mkv"]), ("#EXTM3U\n# says nothing\n  a b.mkv\t\n", ["a b.mkv"]),
            ("é.mkv\nhttp://host/ü", ["é.mkv", "http://host/ü"]),
            ("[playlist]\nFile1=a\nFile2=b\nNumberOfEntries=2\nVersion=2", ["a", "b"]),
            ("[Playlist]\r\nfile10=c\r\n File2 = b \r\nTitle3=no file\r\nFile1=a\r\n", ["a", "b", "c"]),
            ("[playlist]\n; File1=x\nFile=y\nFileA=z\n", []), ("a\n[playlist]\nFile1=b", ["a", "[playlist]", "File1=b"]),
        ] as [(String, [String])])
    func `films stand in their order`(_ text: String, _ names: [String]) throws {
        #expect(try Self.names(text) == names)
        #expect(try !PlaylistFile(Array(text.utf8)).isFilm)
    }

    private static func xspf(_ tracks: String) -> String {
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <!-- <track><location>no.mkv</location></track> -->
        <playlist version="1" xmlns="http://xspf.org/ns/0/"><title>All</title><trackList>\(tracks)</trackList></playlist>
        """
    }

    /// Tracks of an XSPF list, and the names and titles that they give.
    @Test(
        arguments: [
            ("<track><location>file:///a%20b/%C3%A9.mkv</location><title>One &amp; &#x4e8c;</title></track>", "/a b/é.mkv=One & 二"),
            ("<track><title> Two </title><location> sub/c%2Bd.mp4 </location></track>", "sub/c+d.mp4=Two"),
            ("<track><location>http://h/a%20b?x=1&amp;y=2</location></track>", "http://h/a%20b?x=1&y=2="),
            ("<track><location><![CDATA[a&b.mkv]]></location></track>", "a&b.mkv="),
            ("<x:track xmlns:x='>'><x:location>a</x:location></x:track>", "a="),
            ("<track><location>a</location><location>b</location></track><track/><track><location/></track>", "a="),
            ("<track><location>a</location><extension application='x'><track><location>b</location></track></extension></track>", "a="),
            ("<track><location>file://localhost/a%00%zz%+5</location></track>", "/a%00%zz%+5="),
            ("<track><location>file:</location></track><track><location>file://b</location><location>c</location></track>", "c="),
            ("<track><location>a</track>", ""),
            ("<track><location>&#9999999;&nope;</location></track>", "&#9999999;&nope;="), ("<track><location>a", ""), ("<", ""),
        ])
    func `XSPF names tracks by addresses`(_ tracks: String, _ expected: String) throws {
        let lines = try PlaylistFile(Array(Self.xspf(tracks).utf8)).lines
        #expect(lines.map { "\($0.name)=\($0.title ?? "")" }.joined(separator: " ") == expected)
    }

    @Test(.unsanitized) func `XML that is no XSPF names nothing, and what is too large is refused`() throws {
        #expect(try PlaylistFile(Array("<?xml version='1.0'?><svg><location>a</location></svg>".utf8)).lines.isEmpty)
        let deep = String(repeating: "<a>", count: 100_000), long = String(repeating: "a", count: 1 << 17)
        #expect(throws: PlaylistFile.Fault.binary) { try PlaylistFile(Array("<?xml?>\(deep)".utf8)) }
        #expect(throws: PlaylistFile.Fault.longLine) { try PlaylistFile(Array(Self.xspf("<track><location>\(long)</location></track>").utf8)) }
        let many = String(repeating: "<track><location>a</location></track>", count: PlaylistFile.limit + 1)
        #expect(throws: PlaylistFile.Fault.tooMany) { try PlaylistFile(Array(Self.xspf(many).utf8)) }
    }

    @Test func `titles belong to the film that follows`() throws {
        let list = try PlaylistFile(
            Array("#EXTM3U\n#EXTINF:12,First, of all\na\nb\n#EXTINF:-1 tvg-id=\"x\",\u{e9}t\u{e9}\n#EXTVLCOPT:x\nc\n#EXTINF:1,\nd".utf8))
        #expect(list.lines.map(\.title) == ["First, of all", nil, "été", nil])
        let other = try PlaylistFile(Array("[playlist]\nTitle2=Two\nFile1=a\nFile2=b".utf8))
        #expect(other.lines == [.init(name: "a"), .init(name: "b", title: "Two")])
    }

    @Test func `Latin-1 gives readable titles, and names that stay what they are`() throws {
        let list = try PlaylistFile(Array("#EXTINF:1,\u{e9}\n".unicodeScalars.map { UInt8($0.value) }) + [0xe9, 0x2e, 0x6d])
        #expect(list.lines.map(\.title) == ["é"])
        let name = try #require(list.lines.first?.name)
        #expect(PathText.bytes(name) == [0xe9, 0x2e, 0x6d] && PlaylistFile.fromLatin1(name) == "é.m" && PlaylistFile.fromLatin1("é.m") == nil)
    }

    @Test(arguments: ["#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\na.ts", "#EXTM3U\r\n#EXT-X-VERSION:3\r\n#EXT-X-STREAM-INF:BANDWIDTH=1\r\nb.m3u8"])
    func `a film in pieces is a film`(_ text: String) throws { #expect(try PlaylistFile(Array(text.utf8)).isFilm) }

    @Test(.unsanitized) func `what is no list is refused`() {
        let long = [UInt8](repeating: 0x61, count: 1 << 20)
        for (text, fault) in [
            ([0x61, 0, 0x62], .binary), ([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, 0], .binary), (long, .longLine),
            (Array(String(repeating: "a\n", count: PlaylistFile.limit + 1).utf8), .tooMany),
            (Array(("[playlist]\n" + (0...PlaylistFile.limit).map { "File\($0)=a\n" }.joined()).utf8), .tooMany),
        ] as [([UInt8], PlaylistFile.Fault)] {
            #expect(throws: fault) { try PlaylistFile(text) }
        }
        // A comment may be as long as it likes.
        #expect(throws: Never.self) { try PlaylistFile([0x23] + long) }
    }

    @Test(
        arguments: [
            ("b.mkv", "http://h/x/b.mkv"), ("../b.mkv", "http://h/x/../b.mkv"), ("/b.mkv", "http://h/b.mkv"), ("//k/b", "http://k/b"),
            ("https://k/b", "https://k/b"),
            ("HTTP://k/b", "HTTP://k/b"), ("file:///etc/passwd", nil), ("file:x", nil), ("rtsp://k/b", nil), ("concat:/etc/passwd", nil),
            ("pipe:0", nil), ("C:\\b", nil),
            ("http:b", nil), ("b?c:d", "http://h/x/b?c:d"),
        ] as [(String, String?)])
    func `a list on a web server names what is on web servers`(_ name: String, _ address: String?) {
        #expect(WebReference.resolve(name, at: "http://h/x/list.m3u?a=/b/") == address)
    }

    @Test func `a list at the root of a server names what lies there`() {
        #expect(
            WebReference.resolve("b", at: "https://h:8/list.m3u") == "https://h:8/b" && WebReference.resolve("b", at: "https://h") == "https://h/b")
    }

    @Test func `numbers sort by their value`() {
        let names = ["10.mkv", "a2", "A10", "a1b", "2.mkv", "02.mkv", "a", "é", "1.mkv", "a02"]
        #expect(names.sorted(by: NaturalOrder.precedes) == ["1.mkv", "02.mkv", "2.mkv", "10.mkv", "a", "a1b", "a02", "a2", "A10", "é"])
    }
}
