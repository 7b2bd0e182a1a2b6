import Testing

@testable import Demuxing

/// Subtitles as lists and manifests have them.
@Suite struct WebVTTFileTests {

    private static func file(_ text: String) -> WebVTTFile? { WebVTTFile(Array(text.utf8)) }

    @Test(arguments: ["\n", "\r\n", "\r"]) func `cues with their times and words`(end: String) throws {
        let text = """
            WEBVTT - a film

            NOTE nothing
            to show

            STYLE
            ::cue { color: red }

            1
            00:00:01.000 --> 00:00:02.500 align:left line:0
            <i>Hello,</i>
            world

            01:02:03.004-->01:02:04.000
            Second

            """
        let file = try #require(Self.file(text.replacing("\n", with: end)))
        #expect(
            file.cues == [TextCue(start: 1000, end: 2500, text: "<i>Hello,</i>\nworld"), TextCue(start: 3_723_004, end: 3_724_000, text: "Second")])
        #expect(file.map == nil)
    }

    @Test(arguments: [
        ("X-TIMESTAMP-MAP=LOCAL:00:00:00.000,MPEGTS:900000", 0, 900_000), ("X-TIMESTAMP-MAP=MPEGTS:126000, LOCAL:00:01.500", 1500, 126_000),
        ("X-TIMESTAMP-MAP=MPEGTS:5", 0, 5),
    ]) func `what its times are in the film`(_ line: String, _ local: Int64, _ timestamp: Int64) {
        let file = Self.file("WEBVTT\n\(line)\n\n00:01.000 --> 00:02.000\na\n")
        #expect(file?.map == WebVTTFile.Map(local: local, timestamp: timestamp) && file?.cues.count == 1)
    }

    @Test(arguments: ["X-TIMESTAMP-MAP=LOCAL:0,MPEGTS:1", "X-TIMESTAMP-MAP=MPEGTS:8589934592", "X-TIMESTAMP-MAP=MPEGTS", "X-TIMESTAMP-MAP=MPEGTS:-1"])
    func `a map that makes no sense is none`(_ line: String) {
        #expect(Self.file("WEBVTT\n\(line)\n\n00:01.000 --> 00:02.000\na")?.map == nil)
    }

    @Test(arguments: [
        "00:02.000 --> 00:01.000\na", "00:01.000 --> 00:01.000\na", "00:01 --> 00:02\na", "00:01.00 --> 00:02.00\na", "61:00.000 --> 62:00.000\na",
        "00:61.000 --> 00:62.000\na", "a:01.000 --> 00:02.000\na", "00:01.000 -->\na", "00:01.000 --> 00:02.000", "0:00:00:01.000 --> 00:02.000\na",
        "-1:01.000 --> 00:02.000\na", "00:01.000 -> 00:02.000\na", "9999999999:00:01.000 --> 99999999999:00:01.000\na",
        "one\ntwo\n00:01.000 --> 00:02.000\na",
    ]) func `what makes no sense is passed over`(_ block: String) throws {
        let file = try #require(Self.file("WEBVTT\n\n\(block)\n\n00:03.000 --> 00:04.000\nb\n"))
        #expect(file.cues == [TextCue(start: 3000, end: 4000, text: "b")])
    }

    @Test func `only such files are read, with a mark of their bytes or without`() {
        #expect(Self.file("") == nil && Self.file("\n\nWEB") == nil && Self.file("1\n00:01.000 --> 00:02.000\na") == nil)
        let marked = [0xEF, 0xBB, 0xBF] + Array("WEBVTT\n\n00:01.000 --> 00:02.000\na".utf8)
        #expect(Self.file("WEBVTT")?.cues == [] && WebVTTFile(marked)?.cues.count == 1)
        #expect(Self.file("WEBVTT\n\n00:01.000 --> 00:02.000\n" + String(repeating: "a", count: 20_000))?.cues == [])
    }
}
