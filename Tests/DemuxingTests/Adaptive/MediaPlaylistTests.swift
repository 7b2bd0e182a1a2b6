import Media
import Testing

@testable import Demuxing

/// The lists of a film's parts, and which part follows which.
@Suite struct MediaPlaylistTests {
    private static let base = "https://example.org/film/list.m3u8"

    private static func list(_ text: String) -> MediaPlaylist? { MediaPlaylist("#EXTM3U\n" + text, from: base) }

    @Test func `parts have addresses, times, numbers, heads and keys`() throws {
        let list = try #require(
            Self.list(
                """
                #EXT-X-TARGETDURATION:4
                #EXT-X-MEDIA-SEQUENCE:7
                #EXT-X-DISCONTINUITY-SEQUENCE:2
                #EXT-X-MAP:URI="head.mp4",BYTERANGE="100@20"
                #EXTINF:4.0,a title
                #EXT-X-BYTERANGE:1000@500
                all.m4s
                #EXTINF:3.5,
                #EXT-X-BYTERANGE:600
                all.m4s
                #EXT-X-DISCONTINUITY
                #EXT-X-KEY:METHOD=AES-128,URI="/key",IV=0x0102
                # a remark
                #EXTINF:2,
                //other.example/part.m4s?x=1
                #EXT-X-KEY:METHOD=NONE
                #EXT-X-GAP
                #EXTINF:2,
                none.m4s
                #EXT-X-ENDLIST
                """))
        #expect(list.isEnded && list.duration == 11_500_000 && list.targetDuration == 4_000_000)
        #expect(list.parts.map(\.sequence) == [7, 8, 9, 10] && list.parts.map(\.start) == [0, 4_000_000, 7_500_000, 9_500_000])
        #expect(list.parts.map(\.resource.range) == [500..<1500, 1500..<2100, nil, nil] && list.parts.map(\.discontinuity) == [2, 2, 3, 3])
        #expect(list.parts[1].resource.address == "https://example.org/film/all.m4s")
        #expect(list.parts[2].resource.address == "https://other.example/part.m4s?x=1")
        #expect(list.parts[0].head == .init(address: "https://example.org/film/head.mp4", range: 20..<120))
        #expect(
            list.parts.map { $0.key?.address } == [nil, nil, "https://example.org/key", nil]
                && list.parts.map(\.isGap) == [false, false, false, true])
        #expect(list.parts[2].key?.vector == [UInt8](repeating: 0, count: 14) + [1, 2])
        let byNumber = MediaPlaylist.Key(address: "https://example.org/key")
        #expect(list.parts[2].vector(byNumber) == [UInt8](repeating: 0, count: 15) + [9])
    }

    @Test func `a part has the date that stands before it, and a film those of its parts`() throws {
        let text =
            "#EXT-X-PROGRAM-DATE-TIME:2026-11-27T20:15:00.5+01:00\n#EXTINF:4,\na.ts\n#EXTINF:4,\nb.ts\n"
            + "#EXT-X-PROGRAM-DATE-TIME:soon\n#EXTINF:4,\nc.ts\n#EXT-X-DISCONTINUITY\n"
            + "#EXT-X-PROGRAM-DATE-TIME:2026-11-27T22:00:00Z\n#EXTINF:4,\nd.ts\n"
        let list = try #require(Self.list(text + "#EXT-X-ENDLIST\n"))
        let first = try #require(ProgramDate(iso8601: "2026-11-27T19:15:00.5Z")), last = try #require(ProgramDate(iso8601: "2026-11-27T22:00:00Z"))
        #expect(list.parts.map(\.date) == [first, nil, nil, last] && list.hasDates)
        #expect(list.dates.time(of: first + MediaTime(value: 7, timescale: 1)) == MediaTime(value: 7, timescale: 1))
        #expect(list.dates.date(at: MediaTime(value: 13, timescale: 1)) == last + MediaTime(value: 1, timescale: 1))
        #expect(Self.list("#EXTINF:4,\na.ts\n")?.hasDates == false)
    }

    @Test(arguments: [
        "#EXTINF:1,\nfile:///etc/passwd", "#EXT-X-MAP:URI=\"data:text/plain,x\"\n#EXTINF:1,\na.ts",
        "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"k\"\n#EXTINF:1,\na.ts",
        "#EXT-X-KEY:METHOD=AES-128,URI=\"file:///key\"\n#EXTINF:1,\na.ts", "#EXT-X-BYTERANGE:-5@0\n#EXTINF:1,\na.ts",
        "#EXT-X-BYTERANGE:9223372036854775807@9223372036854775807\n#EXTINF:1,\na.ts",
    ])
    func `what leads elsewhere, or cannot be decrypted, is no list to follow`(text: String) { #expect(Self.list(text) == nil) }

    private static func parts(_ lengths: [Double], first: Int = 0, isEnded: Bool = true) -> MediaPlaylist? {
        list("#EXT-X-MEDIA-SEQUENCE:\(first)\n" + lengths.map { "#EXTINF:\($0),\npart.ts\n" }.joined() + (isEnded ? "#EXT-X-ENDLIST\n" : ""))
    }

    @Test func `a part is found by its time, and follows another by its number or its time`() throws {
        let two = try #require(Self.parts([2, 2, 2, 2])), rounded = try #require(Self.parts([2.04, 1.96, 2.04, 1.96], first: 90))
        let long = try #require(Self.parts([4, 4]))
        for (time, index) in [(-1, 0), (0, 0), (1_999_999, 0), (2_000_000, 1), (7_999_999, 3), (90_000_000, 3)] {
            #expect(two.index(at: Int64(time)) == index, "\(time)")
        }
        #expect(two.beginning() == 0)
        #expect(two.index(after: two.parts[1], isSame: true) == 2 && two.index(after: two.parts[3], isSame: true) == nil)
        #expect((0..<4).map { rounded.index(after: two.parts[$0], isSame: false) } == [1, 2, 3, nil])
        // A part of two that lies in the first half of one of four is fetched again with it.
        #expect((0..<4).map { long.index(after: two.parts[$0], isSame: false) } == [1, 1, nil, nil])
    }

    @Test func `a film that grows begins three parts before its end, and goes on by the numbers`() throws {
        let before = try #require(Self.parts([2, 2, 2, 2], first: 10, isEnded: false)),
            now = try #require(Self.parts([2, 2, 2], first: 13, isEnded: false))
        #expect(before.beginning() == 1 && before.duration == nil && now.beginning() == 0)
        for (offset, index) in [(0, 0), (1_000_000, 0), (3_000_000, 1), (7_000_000, 1), (-1_000_000, 1), (-7_000_000, 0), (9_000_000, 1)] {
            #expect(before.beginning(PlaylistStart(offset: Int64(offset))) == index, "\(offset)")
        }
        #expect(try #require(Self.parts([2, 2, 2, 2])).beginning(PlaylistStart(offset: 5_000_000)) == 0)
        #expect(now.index(after: before.parts[2], isSame: true) == 0 && now.index(after: before.parts[3], isSame: false) == 1)
        // What has left the list is left out.
        #expect(now.index(after: before.parts[0], isSame: true) == 0 && now.index(after: now.parts[2], isSame: true) == nil)
    }
}
