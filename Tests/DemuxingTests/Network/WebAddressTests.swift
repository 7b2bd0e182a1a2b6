import Testing
import Web

@testable import Demuxing

/// The parts of addresses, and which cookies belong to them.
@Suite struct WebAddressTests {
    @Test(
        arguments: [
            ("http://h/a/b?c#d", false, "h", 80, "/a/b"), ("https://H.example", true, "h.example", 443, "/"),
            ("http://u:p@h:81/", false, "h", 81, "/"),
            ("https://[::1]:4433/x", true, "::1", 4433, "/x"), ("HTTP://h?/@x:9/", false, "h", 80, "/"),
            ("https://[fe80::1]/", true, "fe80::1", 443, "/"),
        ] as [(String, Bool, String, UInt16, String)])
    func `an address has a host, a port and a path`(address: String, isSecure: Bool, host: String, port: UInt16, path: String) throws {
        let parts = try #require(WebAddress(address))
        #expect(parts.isSecure == isSecure && parts.host == host && parts.port == port && parts.path == path, "\(parts)")
    }

    @Test(arguments: ["film.mp4", "file:///a", "http:///a", "http://h:x/", "http://h:99999/", "ftp://h/", "http://"])
    func `what is not on a web server has none`(address: String) {
        #expect(WebAddress(address) == nil)
    }

    @Test(arguments: [
        ("https://www.h.example/film/a.mp4", "abcdf"), ("http://www.h.example/film/a.mp4", "abdf"), ("http://h.example/", "a"),
        ("http://other.example/", ""),
        ("http://evilh.example/film/", ""), ("http://www.h.example/films", "a"), ("http://www.h.example/film", "abdf"),
    ])
    func `a cookie goes where it belongs, and nowhere else`(address: String, names: String) throws {
        let file = """
            # Netscape HTTP Cookie File
            .h.example\tTRUE\t/\tFALSE\t0\ta\t1
            .h.example\tTRUE\t/film\tFALSE\t2000\tb\t2
            .h.example\tTRUE\t/film\tTRUE\t0\tc\t3
            #HttpOnly_www.h.example\tFALSE\t/film\tFALSE\t0\td\t4
            .h.example\tTRUE\t/film\tFALSE\t999\te\texpired
            www.h.example\tFALSE\t/film\tFALSE\t1001\tf\t6
            www.h.example\tFALSE\t/\tFALSE\t0\tg\tx; domain=.com
            www.h.example\tFALSE\t/\tFALSE
            """
        let place = try #require(WebAddress(address))
        let lines = CookieFile.libraryOption(file, for: place, now: 1000).split(separator: "\n")
        #expect(lines.map { String($0.prefix(1)) }.joined() == names)
        #expect(lines.allSatisfy { $0.hasSuffix("; domain=\(place.host);") })
    }

    @Test func `a cookie names the port where it is not the usual one, as libavformat compares it`() throws {
        let line = "h\tFALSE\t/\tFALSE\t0\ta\t1"
        for (address, domain) in [("http://h:81/", "h:81"), ("http://h:80/", "h"), ("https://h/", "h"), ("https://h:80/", "h:80")] {
            let place = try #require(WebAddress(address))
            #expect(CookieFile.libraryOption(line, for: place, now: 0) == "a=1; path=/; domain=\(domain);\n")
        }
    }

    @Test func `a header field cannot smuggle in another one`() throws {
        var options = NetworkOptions()
        options.headerFields = ["A: 1", "B: 2\r\nC: 3"]
        #expect(try options.libraryOptions(for: "http://h/")["headers"] == "A: 1\r\n")
        #expect(try options.libraryOptions(for: "http://h/")["tls_verify"] == "1")
    }
}
