import Media
import Testing

@testable import Demuxing

/// Where lists ask players to begin.
@Suite struct PlaylistStartTests {
    @Test(
        arguments: [
            ("#EXT-X-START:TIME-OFFSET=1.5,PRECISE=YES", 1_500_000, true), ("#EXT-X-START:TIME-OFFSET=1.5", 1_500_000, false),
            ("#EXT-X-START:PRECISE=NO,TIME-OFFSET=-12", -12_000_000, false), ("#EXT-X-START: PRECISE=YES, TIME-OFFSET=0", 0, true),
            ("#EXT-X-START:TIME-OFFSET=3,PRECISE=yes", 3_000_000, false),
            ("#EXT-X-START:TIME-OFFSET=3\r\n#EXT-X-START:TIME-OFFSET=4", 3_000_000, false),
            ("#EXT-X-START:TIME-OFFSET=-0.0000004", 0, false),
        ] as [(String, Int64, Bool)])
    func `a list says a time and whether it is exact`(tag: String, offset: Int64, isPrecise: Bool) {
        #expect(PlaylistStart("#EXTM3U\n\(tag)\n") == PlaylistStart(offset: offset, isPrecise: isPrecise))
    }

    @Test(arguments: [
        "", "#EXT-X-START", "#EXT-X-START:", "#EXT-X-START:PRECISE=YES", "#EXT-X-START:TIME-OFFSET=", "#EXT-X-START:TIME-OFFSET=nan",
        "#EXT-X-START:TIME-OFFSET=inf", "#EXT-X-START:TIME-OFFSET=-infinity", "#EXT-X-START:TIME-OFFSET=0x10", "#EXT-X-START:TIME-OFFSET=1e3",
        "#EXT-X-START:TIME-OFFSET=soon", "#EXT-X-START:TIME-OFFSET=1.2.3", "#EXT-X-STARTS:TIME-OFFSET=2",
        "#EXT-X-START:TIME-OFFSET=99999999999999999999999999", "#EXT-X-START:TIME-OFFSET=-3200000000", "#EXT-X-START:TIME-OFFSET=--1",
        "#EXT-X-START:TIME-OFFSET=\u{0661}", "# EXT-X-START:TIME-OFFSET=1",
    ])
    func `what is no time is nothing`(tag: String) { #expect(PlaylistStart("#EXTM3U\n\(tag)\n") == nil) }

    /// Parts of 4, 4 and 2 s.
    private static func place(_ offset: Double, isPrecise: Bool, isEnded: Bool = true) -> PlaylistStart.Place? {
        PlaylistStart(offset: Int64(offset * 1e6), isPrecise: isPrecise).place(among: [4_000_000, 8_000_000, 10_000_000], isEnded: isEnded)
    }

    @Test(
        arguments: [
            // What is asked for, where a precise start is, and where another one is; seconds.
            (0, nil, nil), (1, 1, nil), (3.999_999, 3.999_999, nil), (4, 4, 4.001), (7.5, 7.5, 4.001), (9.5, 9.5, 8.001), (10, nil, nil),
            (11, nil, nil),
            (-0.5, 9.5, 8.001), (-2, 8, 8.001), (-9, 1, nil), (-10, nil, nil), (-99, nil, nil),
        ] as [(Double, Double?, Double?)])
    func `a film that is whole begins at that time, or with the part in which it lies`(offset: Double, precise: Double?, other: Double?) {
        func time(_ seconds: Double?) -> PlaylistStart.Place? {
            seconds.map { .time(MediaTime(value: Int64(($0 * 1e6).rounded()), timescale: 1_000_000)) }
        }
        #expect(Self.place(offset, isPrecise: true) == time(precise) && Self.place(offset, isPrecise: false) == time(other))
    }

    @Test(arguments: [(0, 0), (1, 1), (2, 2), (3, 2), (4, 2), (6, nil), (-1, -3), (-3, -3), (-4, -4), (-5, -5), (-60, -5)] as [(Int64, Int?)])
    func `a film that grows begins with a part, three before the end at the latest`(offset: Int64, part: Int?) {
        let ends = (1...5).map { Int64($0) * 1_000_000 }
        for isPrecise in [false, true] {
            let start = PlaylistStart(offset: offset * 1_000_000, isPrecise: isPrecise)
            #expect(start.place(among: ends, isEnded: false) == part.map { .part($0) })
        }
        #expect(PlaylistStart(offset: offset).place(among: [], isEnded: false) == nil)
    }

    @Test func `the lengths of parts are those that the list says`() {
        let text = "#EXTM3U\r\n#EXT-X-TARGETDURATION:6\r\n#EXTINF:4.5,a title\r\na.ts\r\n\r\nb.ts\r\n#EXTINF:nan,\r\nfile:///c.ts\r\n#EXTINF:1\r\nd"
        #expect(PlaylistText.ends(text).ends == [4_500_000, 10_500_000, 16_500_000, 17_500_000] && !PlaylistText.ends(text).isEnded)
        #expect(PlaylistText.ends("#EXTM3U\na.ts\n#EXT-X-ENDLIST").ends == [10_000_000] && PlaylistText.ends("#EXTM3U\n#EXT-X-ENDLIST").isEnded)
    }
}
