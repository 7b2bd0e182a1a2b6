import Testing

@testable import Web

/// What is read of the head of a server's answer, and how addresses are written to it.
@Suite struct HTTPHeadTests {
    private static func head(_ lines: [String]) -> HTTPHead {
        var head = HTTPHead()
        for line in lines { head.add(line + "\r\n", byteCount: line.utf8.count + 2) }
        return head
    }

    @Test func `the last answer counts`() {
        let head = Self.head([
            "HTTP/1.1 302 Found", "Location: /there", "Accept-Ranges: bytes", "Content-Range: bytes 0-1/2", "", "HTTP/1.1 200 OK",
            "Content-Length: 3", "",
        ])
        #expect(head.status == 200 && head.isWhole && !head.takesRanges && head.range == nil && !head.isPacked)
        #expect(!Self.head(["HTTP/2 206", "content-range: bytes 1-2/3"]).isWhole)
        #expect(Self.head(["HTTP/1.1 200 OK", "", "Content-Range: bytes 0-1/2"]).range == nil, "what comes behind the body is no head")
    }

    @Test(
        arguments: [
            ("bytes 0-99/1000", 0, 1000), ("Bytes 5-5/6", 5, 6), ("bytes 100-199/*", 100, nil), ("bytes */1000", nil, nil),
            ("bytes 7-8/7", nil, nil), ("bytes -1-8/9", nil, nil), ("bytes 99999999999999999999-1/2", nil, nil), ("lines 1-2/3", nil, nil),
            ("bytes", nil, nil), ("bytes 1-2", nil, nil), ("bytes 1-2/3/4", nil, nil),
        ] as [(String, Int64?, Int64?)])
    func `a part says where it begins and how long the whole is`(field: String, first: Int64?, whole: Int64?) {
        let range = Self.head(["HTTP/1.1 206 Partial Content", "content-range:  \(field) "]).range
        #expect(range?.first == first && range?.whole == whole)
    }

    @Test(arguments: [("bytes", true), ("Bytes", true), ("none", false), ("", false)])
    func `a server may say that it takes ranges`(value: String, takes: Bool) {
        #expect(Self.head(["HTTP/1.1 200 OK", "Accept-Ranges: \(value)", ""]).takesRanges == takes)
    }

    @Test func `bytes may be packed, and heads have a length`() {
        #expect(Self.head(["HTTP/1.1 200 OK", "Content-Encoding: gzip", ""]).isPacked)
        #expect(!Self.head(["HTTP/1.1 200 OK", "Content-Encoding: identity", ""]).isPacked)
        #expect(Self.head(["HTTP/1.1 302 Found", "", "ICY 200 OK", ""]).byteCount == 36)
    }

    @Test(arguments: [
        ("http://h/a b?c=\u{e4}#d", "http://h/a%20b?c=%C3%A4#d"), ("http://h/a%20b", "http://h/a%20b"), ("http://h", "http://h"),
        ("http://b\u{fc}cher.example/<x>|\"", "http://b\u{fc}cher.example/%3Cx%3E%7C%22"), ("http://u:p q@h/\t", "http://u:p q@h/%09"),
        ("https://[::1]:8/[a]", "https://[::1]:8/[a]"),
    ])
    func `what may not stand in a path is escaped, and nothing twice`(address: String, escaped: String) {
        #expect(HTTPAddress.escaped(address) == escaped)
    }

    @Test(arguments: [
        ("http://u:p@H:80/a@b", "http://h:80"), ("https://h?x", "https://h"), ("HTTP://H", "http://h"), ("film.mp4", ""),
        ("http://[::1]/x", "http://[::1]"),
    ])
    func `connections go to a scheme, a host and a port`(address: String, origin: String) { #expect(HTTPAddress.origin(of: address) == origin) }
}
