@testable import Demuxing
@testable import PlaySupport

// Lists of films and of their parts, and what is read for a server: addresses, cookies, passwords.

extension FuzzedReader {
    static let lists: [FuzzedReader] = [
        FuzzedReader("playlists", playlists, readPlaylist),
        FuzzedReader("hls-variants", bytes(of: [variants])) { bytes in
            guard let list = MasterPlaylist(text(bytes)) else { return false }
            precondition(list.variants.count == list.names.count && !list.names.isEmpty)
            for index in list.variants.indices {
                let alone = MasterPlaylist(list.text(only: index))
                precondition(alone?.names.first == list.names[index], "the list with one variant alone names another")
                _ = list.sounds(of: index)
            }
            return true
        },
        FuzzedReader("hls-parts", bytes(of: [parts])) { bytes in
            _ = PlaylistText.protection(text(bytes))
            _ = PlaylistText.absolute(text(bytes), from: "http://127.0.0.1/a/b.m3u8")
            guard let list = MediaPlaylist(text(bytes), from: "http://127.0.0.1/a/b.m3u8") else { return false }
            for part in list.parts {
                precondition(part.duration >= 0 && part.end >= part.start)
                precondition(part.resource.range.map { !$0.isEmpty && $0.lowerBound >= 0 } ?? true)
                if let key = part.key { precondition(part.vector(key).count == 16) }
                _ = list.index(after: part, isSame: false)
            }
            return !list.parts.isEmpty
        },
        FuzzedReader("addresses", bytes(of: ["https://user:word@Host.example:8443/a/b?c#d", "http://[::1]:80/", "rtsp://host/a", "../b/c.ts?x=y"])) {
            bytes in
            let name = text(bytes), web = WebAddress(name), stream = StreamAddress(name)
            if let web { precondition(!web.host.isEmpty && web.path.hasPrefix("/")) }
            let resolved = WebReference.resolve(name, at: "http://127.0.0.1/list/of.m3u")
            if let resolved { precondition(resolved.lowercased().hasPrefix("http")) }
            _ = AssetBytes.address(name, from: "http://127.0.0.1/list/of.m3u8")
            return web != nil || stream != nil || resolved != nil
        },
        FuzzedReader("cookies", bytes(of: [cookies])) { bytes in
            guard let address = WebAddress("https://a.example/films/b.mp4") else { return false }
            let option = CookieFile.libraryOption(text(bytes), for: address, now: 1_000)
            // Each is for this host alone.
            for line in option.split(separator: "\n") { precondition(line.hasSuffix("; domain=a.example;"), option) }
            return !option.isEmpty
        },
        FuzzedReader("netrc", bytes(of: ["machine a.example login \"x y\" password z\nmacdef m\n a\n\ndefault login p password q"])) { bytes in
            let file = NetrcFile(text(bytes)), address = file.completed("http://a.example/film.mkv")
            precondition(WebAddress(address)?.host == "a.example", "\(address) is another host")
            return address != "http://a.example/film.mkv"
        },
    ]

    private static func readPlaylist(_ bytes: [UInt8]) -> Bool {
        guard let list = try? PlaylistFile(bytes) else { return false }
        precondition(list.lines.count <= PlaylistFile.limit)
        for line in list.lines { precondition(!line.name.isEmpty && line.name.utf8.count <= 4 * PlaylistFile.longest) }
        return list.isFilm || !list.lines.isEmpty
    }

    private static let playlists: [[UInt8]] = bytes(of: [
        "#EXTM3U\r\n#EXTINF:123,Ä title\r\nfilms/ü.mkv\r\nhttp://a.example/b.mp4\r\n",
        "[playlist]\nFile1=a.mkv\nTitle1=A\nFile2=b.mkv\nNumberOfEntries=2\n",
        """
        <?xml version="1.0"?><!DOCTYPE x [<!ENTITY y "z">]><playlist xmlns="http://xspf.org/ns/0/"><!-- c --><trackList><track>\
        <location>file:///a%20b.mkv</location><title>A &amp; &#x42;</title></track><track><location><![CDATA[c.mkv]]></location></track>\
        </trackList></playlist>
        """,
        "#EXTM3U\n#EXT-X-VERSION:3\n#EXTINF:4,\na.ts\n",
    ])

    private static let variants = """
        #EXTM3U
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",DEFAULT=YES,URI="en.m3u8"
        #EXT-X-STREAM-INF:BANDWIDTH=1280000,CODECS="avc1.640028,mp4a.40.2",RESOLUTION=640x360,FRAME-RATE=29.97,AUDIO="a"
        low.m3u8
        #EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=1,URI="i.m3u8"
        #EXT-X-STREAM-INF:BANDWIDTH=7680000,AUDIO="a"
        high.m3u8
        """
    private static let parts = """
        #EXTM3U
        #EXT-X-TARGETDURATION:10
        #EXT-X-MEDIA-SEQUENCE:7
        #EXT-X-DISCONTINUITY-SEQUENCE:2
        #EXT-X-KEY:METHOD=AES-128,URI="key",IV=0x000102030405060708090a0b0c0d0e0f
        #EXT-X-MAP:URI="init.mp4",BYTERANGE="720@0"
        #EXTINF:9.009,
        #EXT-X-BYTERANGE:1000@720
        film.mp4
        #EXT-X-BYTERANGE:1000
        #EXTINF:3.003,
        film.mp4
        #EXT-X-DISCONTINUITY
        #EXT-X-KEY:METHOD=NONE
        #EXT-X-GAP
        http://127.0.0.1/other.ts
        #EXT-X-ENDLIST
        """
    private static let cookies = """
        # Netscape HTTP Cookie File
        .a.example\tTRUE\t/\tFALSE\t0\tname\tvalue
        #HttpOnly_a.example\tFALSE\t/films\tTRUE\t2000\tother\tv
        b.example\tFALSE\t/\tFALSE\t0\tname\tvalue
        """
}
