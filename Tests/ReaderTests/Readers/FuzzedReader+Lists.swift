import Media

@testable import Demuxing
@testable import PlaySupport
@testable import Web

// Lists of films and of their parts, and what is read for a server: addresses, cookies, passwords.

extension FuzzedReader {
    private static let webSubtitles = """
        WEBVTT
        X-TIMESTAMP-MAP=LOCAL:00:00:01.000,MPEGTS:900000

        NOTE a

        1
        00:01.000 --> 01:00:02.500 line:0
        <i>a</i>
        b

        00:03.000 --> 00:04.000
        c

        """

    private static let answers = """
        HTTP/1.1 301 Moved
        Location: /there

        HTTP/1.1 206 Partial Content
        Accept-Ranges: bytes
        Content-Range: bytes 100-199/1000
        Content-Encoding: identity


        """

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
            switch PlaylistStart(text(bytes))?.place(in: text(bytes)) {
            case .time(let time): precondition(time > .zero && time.isNumeric)
            case .part(let number): precondition(number >= 0 || number <= -PlaylistStart.partsBehind)
            case nil: break
            }
            guard let list = MediaPlaylist(text(bytes), from: "http://127.0.0.1/a/b.m3u8") else { return false }
            for part in list.parts {
                precondition(part.duration >= 0 && part.end >= part.start)
                precondition(part.resource.range.map { !$0.isEmpty && $0.lowerBound >= 0 } ?? true)
                if let key = part.key { precondition(part.vector(key).count == 16) }
                _ = list.index(after: part, isSame: false)
            }
            return !list.parts.isEmpty
        },
        FuzzedReader("dash-manifests", bytes(of: [manifest, listedManifest])) { bytes in
            guard let manifest = Manifest(text(bytes), from: "http://127.0.0.1/a/b.mpd"), manifest.objection == nil else { return false }
            for stream in 0..<manifest.variants.count + manifest.sounds.count + manifest.texts.count {
                // Any bytes may be an index.
                guard let list = manifest.list(stream, fetch: { _ in bytes }) else { continue }
                precondition(!list.parts.isEmpty && list.parts.count <= Manifest.mostParts)
                for part in list.parts {
                    precondition(part.duration > 0 && part.end > part.start && AssetBytes.isHTTP(part.resource.address))
                    precondition(part.resource.range.map { !$0.isEmpty && $0.lowerBound >= 0 } ?? true)
                }
            }
            return true
        },
        FuzzedReader("web-subtitles", bytes(of: [webSubtitles])) { bytes in
            guard let file = WebVTTFile(bytes) else { return false }
            let areTimes = file.cues.allSatisfy { $0.start >= 0 && $0.end > $0.start && $0.end < 1 << 42 }
            let areTexts = file.cues.allSatisfy { !$0.text.isEmpty && $0.text.utf8.count <= 16 << 10 }
            precondition(areTimes && areTexts && file.map.map { $0.local >= 0 && $0.timestamp >= 0 } ?? true)
            var line = AdaptiveTimeline(lanes: 1)
            line.begin(MediaTime(value: 7, timescale: 5))
            for cue in file.cues.prefix(3) {
                let part = MediaPlaylist.Part(
                    resource: .init(address: "http://127.0.0.1/a"), start: cue.end, duration: cue.end, sequence: 0, discontinuity: cue.start)
                let first = MediaTime(value: cue.start, timescale: 1000)
                precondition(line.shift(of: file.map, first: first, part, countsPeriods: cue.start % 2 == 0).isNumeric)
            }
            return !file.cues.isEmpty
        },
        FuzzedReader("movie-subtitles", [movieHead + moviePart]) { bytes in
            // What is wrong in the head stops most of it: the part is read with a right one, too.
            let cues = [MovieText(head: movieHead), MovieText(head: bytes)].compactMap { $0?.cues(bytes) }.joined()
            for cue in cues { precondition(cue.start >= 0 && cue.end > cue.start && !cue.text.isEmpty) }
            return !cues.isEmpty
        },
        FuzzedReader("timed-text", bytes(of: [timedText])) { bytes in
            guard let document = TimedText(bytes[...], shownFrom: 500, to: 1 << 40) else { return false }
            for cue in document.cues { precondition(cue.start >= 0 && cue.end > cue.start && !cue.text.isEmpty && cue.text.utf8.count <= 16 << 10) }
            return !document.cues.isEmpty
        },
        FuzzedReader("dash-indices", [index]) { bytes in
            guard let index = SegmentIndex(bytes, at: 800) else { return false }
            precondition(index.timescale > 0 && index.entries.allSatisfy { !$0.range.isEmpty && $0.range.lowerBound > 800 && $0.duration >= 0 })
            return true
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
        FuzzedReader("web-heads", bytes(of: [answers])) { bytes in
            var head = HTTPHead()
            for line in text(bytes).split(separator: "\n", omittingEmptySubsequences: false) { head.add("\(line)\n", byteCount: line.utf8.count + 1) }
            if let range = head.range { precondition(range.first >= 0 && range.whole ?? .max > range.first) }
            precondition(HTTPAddress.escaped(text(bytes)).utf8.count >= bytes.count || text(bytes).contains("\u{fffd}"))
            return head.isWhole && head.status == 206 && head.range?.whole == 1000
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
    private static let manifest = """
        <?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" mediaPresentationDuration="PT1M10.5S"><Period start="PT0S">
        <BaseURL>film/</BaseURL><AdaptationSet contentType="video" codecs="avc1.64001e" frameRate="30000/1001">
        <SegmentTemplate timescale="1000" startNumber="1" initialization="$RepresentationID$.mp4" media="$RepresentationID$-$Number%05d$.m4s">
        <SegmentTimeline><S t="0" d="2000" r="3"/><S d="1500" r="-1"/></SegmentTimeline></SegmentTemplate>
        <Representation id="v" bandwidth="500000" width="320" height="180"/></AdaptationSet>
        <AdaptationSet mimeType="audio/mp4" lang="de"><Representation id="a" bandwidth="64000"><SegmentTemplate duration="2" media="$Time$"/>
        </Representation></AdaptationSet></Period></MPD>
        """
    private static let listedManifest = """
        <MPD type="dynamic" minimumUpdatePeriod="PT2S"><Period duration="PT4S"><AdaptationSet mimeType="video/mp4"><Representation>
        <BaseURL>f.mp4</BaseURL><SegmentList duration="2"><Initialization range="0-9"/><SegmentURL mediaRange="10-19"/></SegmentList></Representation>
        </AdaptationSet></Period><Period><AdaptationSet mimeType="video/mp4"><Representation><SegmentBase indexRange="0-9"/></Representation>
        </AdaptationSet></Period></MPD>
        """
    /// A track of WebVTT in MP4, and a part of it: half a second of nothing, and 1.5 s of two cues.
    private static let movieHead = hex(
        "000000a06d6f6f76000000707472616b00000018746b686400000000000000000000000000000003000000506d646961000000186d64686400000000"
            + "0000000000000000000003e8000000306d696e66000000287374626c0000002073747364000000000000000100000010777674740000000000000000"
            + "000000286d7665780000002074726578000000000000000300000001000007d00000000000000000")
    private static let moviePart = hex(
        "000000586d6f6f660000005074726166000000107466686400020000000000030000001474666474010000000000000000002710000000247472756e"
            + "000003010000000200000060000001f400000008000005dc00000022000000326d64617400000008767474650000001176747463000000097061796c"
            + "610000001176747463000000097061796c62")
    private static func hex(_ text: String) -> [UInt8] {
        let digits = Array(text.utf8)
        return stride(from: 0, to: digits.count, by: 2).compactMap { UInt8(String(decoding: digits[$0..<$0 + 2], as: UTF8.self), radix: 16) }
    }

    private static let timedText = """
        <?xml version="1.0"?><tt xmlns="http://www.w3.org/ns/ttml" ttp:frameRate="25" ttp:frameRateMultiplier="1000 1001" ttp:tickRate="1000">
        <head><styling><style xml:id="s" tts:fontStyle="italic" tts:fontWeight="bold"/></styling></head><body><div begin="1s">
        <p begin="00:00:01.5" end="00:00:02:12">a <span style="s">b</span><br/>c &amp; d</p><p begin="3f" dur="500t">e</p><p>f</p>
        </div></body></tt>
        """
    /// Two parts of 100 and 50 bytes.
    private static let index: [UInt8] =
        [0, 0, 0, 56, 0x73, 0x69, 0x64, 0x78, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 10, 0, 0, 0, 5, 0, 0, 0, 7]
        + [0, 0, 0, 2, 0, 0, 0, 100, 0, 0, 0, 40, 0x90, 0, 0, 0, 0, 0, 0, 50, 0, 0, 0, 20, 0x90, 0, 0, 0]
    private static let parts = """
        #EXTM3U
        #EXT-X-TARGETDURATION:10
        #EXT-X-START:TIME-OFFSET=-4.5,PRECISE=YES
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
