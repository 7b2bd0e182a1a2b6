import Media
import Testing

@testable import Demuxing

/// What DASH manifests say of a film's qualities and parts.
@Suite struct ManifestTests {
    private static let address = "https://example.org/film/list.mpd"

    private static func manifest(_ inside: String, _ attributes: String = #"mediaPresentationDuration="PT10S""#) -> Manifest? {
        Manifest(#"<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011" \#(attributes)>\#(inside)</MPD>"#, from: address)
    }

    /// A manifest of one representation of frames.
    private static func one(_ inside: String, period: String = "", _ attributes: String = #"mediaPresentationDuration="PT10S""#) -> Manifest? {
        manifest(
            #"<Period \#(period)><AdaptationSet mimeType="video/mp4"><Representation id="v" bandwidth="5">\#(inside)</Representation>"#
                + "</AdaptationSet></Period>",
            attributes)
    }

    private static func parts(_ manifest: Manifest?, _ stream: Int = 0, index: [UInt8]? = nil) -> [MediaPlaylist.Part]? {
        manifest?.list(stream) { _ in index }?.parts
    }

    // MARK: Qualities

    @Test func `frames in several sizes are variants, and each language is a sound with its best quality`() throws {
        let manifest = try #require(
            Self.manifest(
                """
                <Period>
                <AdaptationSet contentType="audio" lang="en"><Label> English </Label><Role schemeIdUri="urn:mpeg:dash:role:2011" value="main"/>
                <SegmentTemplate media="$RepresentationID$-$Number$.m4s" duration="2"/>
                <Representation id="a1" bandwidth="64000"/><Representation id="a2" bandwidth="128000"/></AdaptationSet>
                <AdaptationSet contentType="video" codecs="avc1.64001e" frameRate="30000/1001" width="640" height="360">
                <SegmentTemplate media="$RepresentationID$-$Number$.m4s" duration="2"/>
                <Representation id="v1" bandwidth="500000" width="320" height="180"/><Representation id="v2" bandwidth="900000"/></AdaptationSet>
                <AdaptationSet contentType="video"><EssentialProperty schemeIdUri="http://dashif.org/guidelines/trickmode"/>
                <Representation id="t" bandwidth="1"/></AdaptationSet>
                <AdaptationSet mimeType="audio/mp4" lang="de"><SegmentTemplate media="$RepresentationID$.m4s" duration="10"/>
                <Representation id="a3" bandwidth="64000"/></AdaptationSet>
                <AdaptationSet mimeType="text/vtt"><Representation id="s" bandwidth="1"/></AdaptationSet>
                <AdaptationSet mimeType="text/vtt" lang="fr"><Role value="forced-subtitle"/><Role value="caption"/>
                <Representation id="f" bandwidth="1"><BaseURL>fr.vtt</BaseURL></Representation></AdaptationSet>
                <AdaptationSet mimeType="application/ttml+xml" lang="it"><Representation id="x" bandwidth="1"/></AdaptationSet>
                <AdaptationSet mimeType="application/mp4" codecs="wvtt" lang="es"><Representation id="w" bandwidth="1"/></AdaptationSet>
                <AdaptationSet lang="pt"><Representation id="y" bandwidth="1" mimeType="application/mp4" codecs="stpp.ttml.im1t"/></AdaptationSet>
                <AdaptationSet mimeType="application/mp4" codecs="stpp.ttml.im1i"><Representation id="z" bandwidth="1"/></AdaptationSet>
                <AdaptationSet mimeType="application/mp4" codecs="c608"><Representation id="c" bandwidth="1"/></AdaptationSet>
                </Period>
                """))
        #expect(manifest.variants.map(\.variant.bitRate) == [500_000, 900_000])
        #expect(manifest.variants.map { $0.variant.size?.width } == [320, 640] && manifest.variants[0].variant.codecs == ["avc1.64001e"])
        #expect(manifest.variants[1].variant.frameRate.map { ($0 * 100).rounded() } == 2997)
        #expect(manifest.sounds.map(\.language) == ["en", "de"] && manifest.sounds.map(\.variant.bitRate) == [128_000, 64_000])
        #expect(manifest.sounds[0].title == "English" && manifest.sounds.map(\.isDefault) == [true, false])
        #expect(manifest.isEnded && manifest.duration == 10_000_000)
        #expect(Self.parts(manifest, 2)?.first?.resource.address == "https://example.org/film/a2-1.m4s")
        #expect(Self.parts(manifest, 3)?.first?.resource.address == "https://example.org/film/a3.m4s")
        #expect(manifest.beginning(of: 1) == "https://example.org/film/v2-1.m4s" && manifest.list(9) { _ in nil } == nil)
        #expect(manifest.texts.map(\.language) == [nil, "fr", "it", "es", "pt"] && manifest.texts.prefix(2).map(\.isForced) == [false, true])
        #expect(manifest.texts.prefix(2).map(\.isHearingImpaired) == [false, true])
        let text = try #require(Self.parts(manifest, 5))
        #expect(text.map(\.resource.address) == ["https://example.org/film/fr.vtt"] && text.map(\.duration) == [10_000_000])
    }

    @Test(arguments: ["dynamic", "static"]) func `the parts of a manifest that grows have dates`(_ type: String) throws {
        let timeline = #"<SegmentTimeline><S t="500" d="2000" r="1"/></SegmentTimeline>"#
        let template = #"<SegmentTemplate media="$Number$.m4s" timescale="1000">"# + timeline + "</SegmentTemplate>"
        let manifest = Self.one(
            template, period: #"start="PT10S""#,
            #"type="\#(type)" availabilityStartTime="2026-11-27T20:15:00Z" mediaPresentationDuration="PT20S" minimumUpdatePeriod="PT2S""#)
        let parts = try #require(Self.parts(manifest)), begin = try #require(ProgramDate(iso8601: "2026-11-27T20:15:10.500Z"))
        #expect(parts.count == 2 && parts.map(\.date) == (type == "dynamic" ? [begin, begin + MediaTime(value: 2, timescale: 1)] : [nil, nil]))
    }

    @Test func `of sound without frames the qualities are chosen among`() {
        let manifest = Self.manifest(
            #"<Period><AdaptationSet mimeType="audio/mp4"><Representation bandwidth="1"/><Representation bandwidth="2"/></AdaptationSet></Period>"#)
        #expect(manifest?.variants.map(\.variant.bitRate) == [1, 2] && manifest?.sounds.isEmpty == true)
    }

    @Test(
        arguments: [
            ("9007199254740992", 9_007_199_254_740_992), ("9007199254740993", 0), ("4611686018427387904", 0), ("-1", 0),
        ] as [(String, Int64)])
    func `a bit rate that nothing has is none`(_ text: String, _ bitRate: Int64) {
        let manifest = Self.manifest(
            #"<Period><AdaptationSet mimeType="video/mp4"><Representation bandwidth="\#(text)"/></AdaptationSet></Period>"#)
        #expect(manifest?.variants.map(\.variant.bitRate) == [bitRate])
    }

    @Test(arguments: [(1, 1000, true), (1, 1001, false), (256, 1, true), (257, 1, false), (256, 256, true), (256, 257, false)])
    func `there are not more qualities and periods than films have`(_ qualities: Int, _ periods: Int, _ isManifest: Bool) {
        let representations = String(repeating: "<Representation/>", count: qualities)
        let manifest = Self.manifest(
            #"<Period duration="PT1S"><AdaptationSet mimeType="video/mp4">\#(representations)</AdaptationSet></Period>"#
                + String(repeating: #"<Period duration="PT1S"/>"#, count: periods - 1))
        #expect((manifest?.variants.count == qualities) == isManifest && (manifest == nil) == !isManifest)
    }

    @Test func `in a newer manifest a representation is found by its name, or by its place and language`() throws {
        func manifest(_ frames: [String], _ sounds: [(id: String, language: String)]) throws -> Manifest {
            let qualities = frames.map { #"<Representation id="\#($0)"/>"# }.joined()
            let languages = sounds.map { id, language in
                #"<AdaptationSet mimeType="audio/mp4" lang="\#(language)"><Representation id="\#(id)"/></AdaptationSet>"#
            }.joined()
            return try #require(
                Self.manifest(#"<Period>\#(languages)<AdaptationSet mimeType="video/mp4">\#(qualities)</AdaptationSet></Period>"#))
        }
        let old = try manifest(["low", "high"], [("a", "en"), ("b", "de")])
        func numbers(_ newer: Manifest) -> [Int?] { (0..<5).map { old.number(of: $0, in: newer) } }
        #expect(numbers(old) == [0, 1, 2, 3, nil])
        #expect(try numbers(manifest(["high", "middle", "low"], [("b", "de"), ("a", "en")])) == [2, 0, 4, 3, nil])
        #expect(try numbers(manifest(["one"], [("c", "de"), ("d", "en")])) == [0, 0, 2, 1, nil])
        #expect(try numbers(manifest(["low", "high"], [])) == [0, 1, nil, nil, nil])
    }

    @Test(
        arguments: [
            ("", #"mediaPresentationDuration="PT10S""#, 10_000_000), (#"duration="PT3S""#, "", 3_000_000), ("", "", nil),
            (#"start="PT0S""#, #"type="dynamic" mediaPresentationDuration="PT10S""#, nil),
        ] as [(String, String, Int64?)])
    func `the length is what the manifest says`(_ period: String, _ attributes: String, _ duration: Int64?) {
        let manifest = Self.one(#"<SegmentTemplate duration="2" media="$Number$.m4s"/>"#, period: period, attributes)
        #expect(manifest != nil && manifest?.length(by: 0) == duration)
    }

    @Test func `the length is that of the parts where the manifest does not say it`() {
        let timeline = #"<SegmentTemplate media="$Time$"><SegmentTimeline><S d="2" r="2"/></SegmentTimeline></SegmentTemplate>"#
        #expect(Self.one(timeline, "")?.length(by: 0) == 6_000_000)
        #expect(Self.one(timeline, period: #"start="PT0S""#, #"type="dynamic""#)?.length(by: 0) == nil)
    }

    @Test(arguments: [
        ("urn:uuid:EDEF8BA9-79D6-4ACE-A3C8-27DCD51D21ED", "Widevine"), ("urn:uuid:9a04f079-9840-4286-ab92-e65be0885f95", "PlayReady"),
        ("urn:mpeg:dash:mp4protection:2011", "DRM"),
    ])
    func `what is encrypted is refused by name`(_ scheme: String, _ name: String) {
        let manifest = Self.manifest(
            #"<Period><AdaptationSet mimeType="video/mp4"><ContentProtection schemeIdUri="\#(scheme)"/><Representation/></AdaptationSet></Period>"#)
        #expect(manifest?.objection == "it is protected by \(name), which is not played")
    }

    // MARK: Parts

    @Test func `parts are counted by their length`() throws {
        let parts = try #require(
            Self.parts(
                Self.one(
                    """
                    <SegmentTemplate timescale="1000" duration="4000" startNumber="7" initialization="$RepresentationID$/head.mp4"
                    media="$RepresentationID$/$Number%03d$$$.m4s?rate=$Bandwidth$&amp;x=1"/>
                    """)))
        #expect(parts.map(\.start) == [0, 4_000_000, 8_000_000] && parts.map(\.duration) == [4_000_000, 4_000_000, 4_000_000])
        let names = parts.map(\.resource.address)
        #expect(names[0] == "https://example.org/film/v/007$.m4s?rate=5&x=1" && names[2] == "https://example.org/film/v/009$.m4s?rate=5&x=1")
        #expect(parts.allSatisfy { $0.head == .init(address: "https://example.org/film/v/head.mp4") })
    }

    @Test func `parts are listed by their times, repeated, and until the end`() throws {
        let parts = try #require(
            Self.parts(
                Self.one(
                    """
                    <SegmentTemplate timescale="10" presentationTimeOffset="100" media="$Time$.m4s"><SegmentTimeline>
                    <S t="100" d="20" r="1"/><S d="10"/><S t="155" d="15" r="-1"/></SegmentTimeline></SegmentTemplate>
                    """)))
        #expect(parts.map { $0.resource.address.split(separator: "/").last } == ["100.m4s", "120.m4s", "140.m4s", "155.m4s", "170.m4s", "185.m4s"])
        #expect(parts.map(\.start) == [0, 2_000_000, 4_000_000, 5_500_000, 7_000_000, 8_500_000] && parts.last?.end == 10_000_000)
        #expect(parts[0].head == nil && zip(parts, parts.dropFirst()).allSatisfy { $0.sequence < $1.sequence })
    }

    @Test func `parts may be ranges of a file, listed or by its index`() throws {
        let listed = try #require(
            Self.parts(
                Self.one(
                    """
                    <BaseURL>film.mp4</BaseURL><SegmentList duration="5"><Initialization range="0-99"/>
                    <SegmentURL mediaRange="100-199"/><SegmentURL mediaRange="200-299"/></SegmentList>
                    """)))
        #expect(listed.map(\.resource.range) == [100..<200, 200..<300] && listed[0].head?.range == 0..<100)
        #expect(listed[0].resource.address == "https://example.org/film/film.mp4" && listed[1].start == 5_000_000)
        // A box before it, then version 0, a time scale of 10, from 5 on, 7 bytes behind it: two parts of 100 and 50 bytes.
        let index: [UInt8] =
            [0, 0, 0, 8, 0x66, 0x72, 0x65, 0x65, 0, 0, 0, 56, 0x73, 0x69, 0x64, 0x78, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 10, 0, 0, 0, 5, 0, 0, 0, 7]
            + [0, 0, 0, 2, 0, 0, 0, 100, 0, 0, 0, 40, 0x90, 0, 0, 0, 0, 0, 0, 50, 0, 0, 0, 20, 0x90, 0, 0, 0]
        let manifest = Self.one(#"<BaseURL>film.mp4</BaseURL><SegmentBase indexRange="800-863" timescale="10"/>"#)
        let indexed = try #require(Self.parts(manifest, index: index))
        #expect(indexed.map(\.resource.range) == [871..<971, 971..<1021] && indexed[0].head?.range == 0..<800)
        #expect(indexed.map(\.start) == [500_000, 4_500_000] && indexed.map(\.duration) == [4_000_000, 2_000_000])
        #expect(Self.parts(manifest) == nil)
        // Half a second in the manifest's time scale is five ticks of the index.
        let moved = Self.one(#"<SegmentBase indexRange="800-863" timescale="100" presentationTimeOffset="50"/>"#)
        #expect(Self.parts(moved, index: index)?.map(\.start) == [0, 4_000_000])
        var deeper = index
        deeper[40] = 0x80
        #expect(Self.parts(manifest, index: deeper) == nil && Self.parts(manifest, index: Array(index.dropLast())) == nil)
    }

    @Test(
        arguments: [
            (5, 7, 800, true), (-1, 0, 800, false), (0, -1, 800, false),
            // 2^62, and what is near it.
            (4_611_686_018_427_387_904, 0, 800, true), (4_611_686_018_427_387_905, 0, 800, false),
            (0, 4_611_686_018_427_387_052, 800, true), (0, 4_611_686_018_427_387_053, 800, false), (0, 4_611_686_018_427_387_904, 800, false),
            (0, 0, 4_611_686_018_427_387_904, false),
            (4_611_686_018_427_387_904, 4_611_686_018_427_387_904, 4_611_686_018_427_387_904, false),
        ] as [(Int64, Int64, Int64, Bool)])
    func `an index has times and places that can be counted on from`(_ time: Int64, _ gap: Int64, _ offset: Int64, _ isIndex: Bool) {
        let fields: [(value: Int64, count: Int64)] = [
            (52, 4), (0x7369_6478, 4), (1, 1), (0, 3), (1, 4), (10, 4), (time, 8), (gap, 8), (1, 4), (100, 4), (40, 4), (0, 4),
        ]
        var bytes: [UInt8] = []
        for field in fields {
            for place in 1...field.count { bytes.append(UInt8(truncatingIfNeeded: field.value >> (8 * (field.count - place)))) }
        }
        let index = SegmentIndex(bytes, at: offset)
        #expect((index?.entries.first?.start == time) == isIndex && (index == nil) == !isIndex)
    }

    @Test func `periods behind a day in parts of a second are too many`() {
        func period(_ duration: String) -> String {
            """
            <Period duration="\(duration)"><AdaptationSet mimeType="video/mp4"><SegmentTemplate duration="1" media="a"/><Representation/>
            </AdaptationSet></Period>
            """
        }
        #expect(Self.parts(Self.manifest(period("PT24H")))?.count == Manifest.mostParts)
        #expect(Self.parts(Self.manifest(period("PT24H") + period("PT1S"))) == nil)
    }

    @Test func `periods follow each other, each with its own names, and what lies behind their end is none`() throws {
        func period(_ name: String, _ attributes: String) -> String {
            """
            <Period \(attributes)><BaseURL>\(name)/</BaseURL><AdaptationSet mimeType="video/mp4"><SegmentTemplate duration="4" media="$Number$.m4s"/>
            <Representation id="\(name)1" bandwidth="1"/><Representation id="\(name)2" bandwidth="2"/></AdaptationSet></Period>
            """
        }
        let manifest = Self.manifest(period("a", #"duration="PT6S""#) + period("b", ""))
        let parts = try #require(Self.parts(manifest, 1))
        #expect(parts.map { $0.resource.address.suffix(7) } == ["a/1.m4s", "a/2.m4s", "b/1.m4s"])
        #expect(parts.map(\.start) == [0, 4_000_000, 6_000_000] && Set(parts.map(\.discontinuity)).count == 2)
        #expect(parts[0].discontinuity == parts[1].discontinuity)
    }

    @Test func `one that grows lists what is there, and keeps the numbers of what was`() throws {
        func live(_ first: Int) -> Manifest? {
            Self.one(
                #"<SegmentTemplate media="$Time$.m4s"><SegmentTimeline><S t="\#(first)" d="2" r="4"/></SegmentTimeline></SegmentTemplate>"#,
                period: #"start="PT0S""#, #"type="dynamic" minimumUpdatePeriod="PT3S""#)
        }
        let (before, after) = (try #require(live(1_700_000_000)), try #require(live(1_700_000_004)))
        let (old, new) = (try #require(before.list(0) { _ in nil }), try #require(after.list(0) { _ in nil }))
        #expect(!old.isEnded && before.duration == nil && old.targetDuration == 6_000_000 && old.beginning() == 2)
        #expect(new.index(after: old.parts[4], isSame: true) == 3 && new.parts[0] == old.parts[2])
        // What is where depends on the server's clock.
        let counted = Self.one(#"<SegmentTemplate duration="2" media="$Number$.m4s"/>"#, period: #"start="PT0S""#, #"type="dynamic""#)
        #expect(Self.parts(counted) == nil)
    }

    @Test(arguments: [
        "<BaseURL>file:///etc/</BaseURL>", #"<SegmentTemplate duration="1" media="file:///etc/$Number$"/>"#,
        #"<SegmentTemplate duration="1" media="a$Name$"/>"#, #"<SegmentTemplate duration="1" media="a$Number"/>"#,
        #"<SegmentTemplate duration="1" media="a$Number%9d$"/>"#, #"<SegmentTemplate duration="1" initialization="data:," media="a"/>"#,
        #"<SegmentTemplate duration="0" media="a"/>"#, #"<SegmentTemplate timescale="1000000000" duration="1" media="$Number$"/>"#,
        #"<SegmentTemplate media="a"><SegmentTimeline><S d="0"/></SegmentTimeline></SegmentTemplate>"#,
        #"<SegmentTemplate media="a"><SegmentTimeline><S d="1" r="4294967296"/></SegmentTimeline></SegmentTemplate>"#,
        #"<SegmentTemplate media="a"><SegmentTimeline><S t="4611686018427387904" d="9007199254740992" r="3"/></SegmentTimeline></SegmentTemplate>"#,
        #"<SegmentList duration="1"><SegmentURL media="pipe:0"/></SegmentList>"#,
        #"<SegmentList duration="1"><SegmentURL mediaRange="9-1"/></SegmentList>"#,
        // Longer than addresses are: as they stand, filled, and behind what they are relative to.
        #"<SegmentTemplate duration="1" media="\#(String(repeating: "a", count: 2049))"/>"#,
        #"<SegmentTemplate duration="1" media="\#(String(repeating: "$RepresentationID$", count: 2049))"/>"#,
        #"<SegmentTemplate duration="1" media="\#(String(repeating: "$Number%032d$", count: 65))"/>"#,
        #"<SegmentTemplate duration="1" media="a" initialization="\#(String(repeating: "a", count: 2048))"/>"#,
        #"<SegmentList duration="1"><SegmentURL media="\#(String(repeating: "a", count: 2048))"/></SegmentList>"#,
        #"<BaseURL>\#(String(repeating: "a", count: 2048))/</BaseURL><SegmentTemplate duration="1" media="a"/>"#,
        "",
    ])
    func `what leads elsewhere, or nowhere, is not followed`(inside: String) { #expect(Self.parts(Self.one(inside)) == nil, "\(inside)") }

    @Test(arguments: ["", "<MPD", "<MPD/>", "<a/>", "<MPD><Period></MPD></Period>", "<MPD>" + String(repeating: "<a>", count: 1000)])
    func `what is no manifest is none`(text: String) { #expect(Manifest(text, from: Self.address) == nil) }

    @Test(
        arguments: [
            ("PT10S", 10_000_000), ("PT1H2M3.5S", 3_723_500_000), ("P1DT1S", 86_401_000_000), ("PT0.04S", 40_000), ("P1Y", nil), ("PT", nil),
            ("10", nil),
            ("PT-1S", nil), ("PT1S2", nil), ("P1S", nil), ("PT99999999999S", nil),
        ] as [(String, Int64?)])
    func `durations are days, hours, minutes and seconds`(_ text: String, _ microseconds: Int64?) {
        #expect(ManifestText.microseconds(text) == microseconds)
    }
}
