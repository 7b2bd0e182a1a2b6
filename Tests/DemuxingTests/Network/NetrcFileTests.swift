import Testing

@testable import Demuxing

@Suite struct NetrcFileTests {
    private static let file = NetrcFile(
        """
        # machine commented.example login no password no
        machine example.org login viewer password open/sesame@home
        machine Films.Example
            login "a b"  password "qu\\"ote"
        machine half.example login only
        macdef init
        machine macro.example login evil password evil

        machine later.example account x password p login l
        """)

    @Test(arguments: [
        ("http://example.org/film.mkv", "http://viewer:open%2Fsesame%40home@example.org/film.mkv"),
        ("https://example.org:8443", "https://viewer:open%2Fsesame%40home@example.org:8443"),
        ("HTTPS://films.example/?q=a@b", "HTTPS://a%20b:qu%22ote@films.example/?q=a@b"),
        ("http://half.example/", "http://only:@half.example/"), ("http://later.example/", "http://l:p@later.example/"),
        ("http://own:word@example.org/", "http://own:word@example.org/"), ("http://sub.example.org/", "http://sub.example.org/"),
        ("http://macro.example/", "http://macro.example/"), ("http://commented.example/", "http://commented.example/"),
        ("rtsp://example.org/", "rtsp://example.org/"), ("film.mkv", "film.mkv"),
    ]) func `an address gets the name and the password for its host`(address: String, completed: String) {
        #expect(Self.file.completed(address) == completed)
    }

    @Test func `the default is for every host that no line names`() {
        let file = NetrcFile("machine a.example login a password b\ndefault login x password y")
        #expect(file.completed("http://a.example/") == "http://a:b@a.example/" && file.completed("http://b.example/") == "http://x:y@b.example/")
    }

    @Test(arguments: ["", "machine", "machine x", "login a password b", "default", "macdef", "machine x login", "\"", "\u{0}\u{1}"])
    func `what makes no sense gives nothing`(text: String) {
        #expect(NetrcFile(text).completed("http://x/") == "http://x/")
    }
}
