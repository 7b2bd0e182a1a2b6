import Media
import Testing

@testable import Demuxing

/// The lists that offer a film in several variants, and what is made of them.
@Suite struct MasterPlaylistTests {
    private static let text = """
        #EXTM3U
        #EXT-X-VERSION:6
        #EXT-X-INDEPENDENT-SEGMENTS
        #EXT-X-START:TIME-OFFSET=5
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="low",LANGUAGE="de",NAME="Deutsch, leise",URI="low/de.m3u8"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="high",LANGUAGE="de",NAME="Deutsch",URI="high/de.m3u8"
        #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="text",LANGUAGE="de",NAME="Deutsch",URI="text/de.m3u8"
        #EXT-X-STREAM-INF:BANDWIDTH=300000,RESOLUTION=320x180,CODECS="avc1.42c00d,mp4a.40.2",AUDIO="low",SUBTITLES="text"
        small.m3u8
        #EXT-X-STREAM-INF:AUDIO="high",FRAME-RATE=29.970,CODECS="avc1.64001e, mp4a.40.2",BANDWIDTH=900000,RESOLUTION=640x360

        large.m3u8
        #EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=90000,URI="still.m3u8"
        """

    @Test func `a list says what each variant is`() throws {
        let list = try #require(MasterPlaylist(Self.text))
        #expect(list.names == ["small.m3u8", "large.m3u8"])
        let small = StreamVariant(bitRate: 300_000, size: PixelSize(width: 320, height: 180), codecs: ["avc1.42c00d", "mp4a.40.2"])
        let large = StreamVariant(
            bitRate: 900_000, size: PixelSize(width: 640, height: 360), frameRate: 29.97, codecs: ["avc1.64001e", "mp4a.40.2"])
        #expect(list.variants == [small, large])
    }

    @Test func `subtitles are those of the variant`() throws {
        let signs = #"#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="text",LANGUAGE="en-US",NAME="Signs",FORCED=YES,DEFAULT=YES,URI="text/en.m3u8""#
        let deaf = #"#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="text",NAME="x",CHARACTERISTICS="public.accessibility.transcribes-spoken-dialog",URI="x""#
        let list = try #require(MasterPlaylist(Self.text.replacing("#EXT-X-VERSION:6", with: "\(signs)\n\(deaf)")))
        let texts = list.texts(of: 0)
        #expect(texts.map(\.name) == ["text/en.m3u8", "x", "text/de.m3u8"] && texts.map(\.code) == ["en", nil, "de"])
        #expect(texts.map(\.isForced) == [true, false, false] && texts.map(\.isHearingImpaired) == [false, true, false])
        #expect(texts.map(\.isDefault) == [true, false, false] && list.texts(of: 1).isEmpty)
    }

    @Test(arguments: ["\n", "\r\n"]) func `with one variant alone it keeps that one's renditions`(end: String) throws {
        let list = try #require(MasterPlaylist(Self.text.replacing("\n", with: end)))
        let large = list.text(only: 1)
        #expect(large.contains("large.m3u8\n") && large.contains("high/de.m3u8") && large.contains("#EXT-X-INDEPENDENT-SEGMENTS\n"))
        #expect(!large.contains("small.m3u8") && !large.contains("low/de.m3u8") && !large.contains("text/de.m3u8") && !large.contains("still.m3u8"))
        #expect(!large.contains("#EXT-X-START"))
        let small = list.text(only: 0)
        #expect(small.contains("small.m3u8\n") && small.contains("low/de.m3u8") && small.contains("text/de.m3u8") && !small.contains("large.m3u8"))
        #expect(MasterPlaylist(large)?.names == ["large.m3u8"])
    }

    @Test(arguments: ["", "#EXTM3U\n#EXTINF:10,\na.ts\n", "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\n", "#EXT-X-STREAM-INF\na.m3u8\n"])
    func `what names no variant is no such list`(text: String) { #expect(MasterPlaylist(text) == nil) }

    @Test(arguments: [
        ("BANDWIDTH=x,RESOLUTION=640", 0), ("BANDWIDTH=99999999999999999999", 0), ("RESOLUTION=0x0,BANDWIDTH=5", 5), ("CODECS=\"avc1,BANDWIDTH=7", 0),
        (",,,BANDWIDTH=4,=,X", 4),
    ])
    func `attributes that make no sense say nothing`(attributes: String, bitRate: Int64) throws {
        let list = try #require(MasterPlaylist("#EXTM3U\n#EXT-X-STREAM-INF:\(attributes)\na.m3u8"))
        #expect(list.variants[0].bitRate == bitRate && list.variants[0].size == nil)
    }

    @Test func `names become addresses where the list came from elsewhere`() {
        let text = "#EXTM3U\n#EXT-X-KEY:METHOD=AES-128,URI=\"key\",IV=0x1\n#EXT-X-MAP:URI=\"http://x/i.mp4\"\n#EXTINF:4,\na.ts?q\n/b.ts\n"
        let expected =
            "#EXTM3U\n#EXT-X-KEY:METHOD=AES-128,URI=\"http://h/d/key\",IV=0x1\n#EXT-X-MAP:URI=\"http://x/i.mp4\"\n#EXTINF:4,\n"
            + "http://h/d/a.ts?q\nhttp://h/b.ts\n"
        #expect(PlaylistText.absolute(text, from: "http://h/d/list.m3u8") == expected)
    }

    @Test(
        arguments: [
            ("#EXT-X-KEY:METHOD=NONE", nil), ("#EXT-X-KEY:METHOD=AES-128,URI=\"k\"", nil), ("#EXTINF:4,\na.ts", nil),
            ("#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"k\"", "it is encrypted by SAMPLE-AES, which is not played"),
            (
                "#EXT-X-SESSION-KEY:METHOD=SAMPLE-AES,KEYFORMAT=\"com.apple.streamingkeydelivery\",URI=\"skd://k\"",
                "it is protected by FairPlay, which is not played"
            ),
            (
                "#EXT-X-KEY:METHOD=SAMPLE-AES-CTR,KEYFORMAT=\"urn:uuid:edef8ba9-79d6-4ace-a3c8-27dcd51d21ed\",URI=\"data:\"",
                "it is protected by Widevine, which is not played"
            ),
            ("#EXT-X-KEY:METHOD=AES-128,KEYFORMAT=\"com.example\",URI=\"k\"", "it is protected by DRM, which is not played"),
            ("#EXT-X-KEY:METHOD=SAMPLE-AES,KEYFORMAT=\"com.microsoft.playready\"\n#EXT-X-KEY:METHOD=AES-128,URI=\"k\"", nil),
        ] as [(String, String?)])
    func `what cannot be decrypted is named`(tags: String, objection: String?) {
        #expect(PlaylistText.protection("#EXTM3U\n" + tags) == objection)
    }
}
