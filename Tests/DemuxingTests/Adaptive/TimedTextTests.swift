import Testing

@testable import Demuxing

/// The cues of TTML documents.
@Suite struct TimedTextTests {

    private static func cues(_ body: String, head: String = "", _ attributes: String = "") -> [TextCue]? {
        let names = #"xmlns="http://www.w3.org/ns/ttml" xmlns:tts="http://www.w3.org/ns/ttml#styling""#
        let text = "<?xml version=\"1.0\"?><tt \(names) \(attributes)><head>\(head)</head><body>\(body)</body></tt>"
        return TimedText(Array(text.utf8)[...])?.cues
    }

    @Test(
        arguments: [
            (#"begin="00:00:01.5" end="00:01:02""#, 1500, 62_000), (#"begin="1.5s" dur="2s""#, 1500, 3500),
            (#"begin="100ms" end="1h""#, 100, 3_600_000),
            (#"begin="1m" end="61s""#, 60_000, 61_000), (#"begin="00:00:01:15" end="00:00:02:00""#, 1600, 2000),
            (#"begin="25f" end="50f""#, 1000, 2000), (#"begin="10000000t" end="20000000t""#, 1000, 2000),
            (#"begin="1s" dur="9s" end="3s""#, 1000, 3000), (#"begin="100:00:00.000" end="100:00:00.001""#, 360_000_000, 360_000_001),
        ] as [(String, Int64, Int64)])
    func `times are read in all their forms`(_ attributes: String, _ start: Int64, _ end: Int64) {
        let clock = #"ttp:frameRate="25" ttp:tickRate="10000000""#
        #expect(Self.cues("<div><p \(attributes)>x</p></div>", clock) == [TextCue(start: start, end: end, text: "x")])
    }

    @Test(arguments: [#"begin="soon" end="later""#, #"begin="2s" end="1s""#, #"begin="1s""#, #"begin="1s" end="1:2""#, #"begin="1s" end="1e99s""#])
    func `a paragraph whose end is not known, or comes before its beginning, is none`(_ attributes: String) {
        #expect(Self.cues("<div><p \(attributes)>x</p></div>") == [])
    }

    @Test func `times count from those of what a paragraph is in, and end with it`() {
        let body =
            #"<div begin="10s" end="20s"><p begin="1s" end="2s">a</p><p begin="5s" end="60s">b</p><p>c</p>"#
            + #"<p begin="6s" end="9s">d<span begin="1s" end="2s">e</span></p></div>"#
        #expect(
            Self.cues(body) == [
                TextCue(start: 11_000, end: 12_000, text: "a"), TextCue(start: 15_000, end: 20_000, text: "b"),
                TextCue(start: 10_000, end: 20_000, text: "c"),
                TextCue(start: 16_000, end: 19_000, text: "d"), TextCue(start: 17_000, end: 18_000, text: "e"),
            ])
    }

    @Test(
        arguments: [
            ("a<br/>b", "a\nb"), ("  a \n\t b  <br/>  c ", "a b\nc"), ("a &lt;b&gt; &amp;amp; c", "a &lt;b&gt; &amp;amp; c"),
            (#"a <span tts:fontStyle="italic">b</span> c"#, "a <i>b</i> c"), (#"<span style="strong under">b</span>"#, "<b><u>b</u></b>"),
            (#"<span style="strong" tts:fontWeight="normal">b</span>"#, "b"), (#"<metadata><title>no</title></metadata>yes"#, "yes"),
            (#"<span xml:space="preserve">a  b</span>"#, "a  b"), (#"<span tts:fontStyle="italic"> </span>x"#, "x"),
            (#"<span tts:fontStyle="oblique">a<br/>b</span>"#, "<i>a</i>\n<i>b</i>"), ("<![CDATA[a < b]]>", "a &lt; b"),
        ])
    func `text keeps its lines and marks, and blanks count once`(_ inside: String, _ text: String) {
        let head = #"<styling><style xml:id="strong" tts:fontWeight="bold"/><style xml:id="under" tts:textDecoration="underline"/></styling>"#
        #expect(Self.cues(#"<div><p begin="1s" end="2s">\#(inside)</p></div>"#, head: head) == [TextCue(start: 1000, end: 2000, text: text)])
    }

    @Test func `what is shown from when to when is said by who asks`() {
        let text = Array(#"<tt><body><div><p>a</p><p end="4s">b</p><p begin="1s" end="2s">c</p></div></body></tt>"#.utf8)[...]
        #expect(
            TimedText(text, shownFrom: 3000, to: 5000)?.cues == [
                TextCue(start: 3000, end: 5000, text: "a"), TextCue(start: 3000, end: 4000, text: "b"),
            ])
        #expect(TimedText(text)?.cues == [TextCue(start: 0, end: 4000, text: "b"), TextCue(start: 1000, end: 2000, text: "c")])
    }

    @Test(arguments: ["", "x", "<html><p>x</p></html>", "WEBVTT\n\n00:01.000 --> 00:02.000\nx"])
    func `anything else is no document`(_ text: String) { #expect(TimedText(Array(text.utf8)[...]) == nil) }

    @Test func `a document that nests or ends wrongly ends there`() {
        let first = #"<div><p begin="1s" end="2s">a</p>"#, deep = String(repeating: "<span>", count: 100)
        for rest in ["<p begin=\"3s\" end=\"4s\">b</div>", deep, "<p begin=\"3s\" end=\"4s\"", "</wrong>"] {
            #expect(Self.cues(first + rest) == [TextCue(start: 1000, end: 2000, text: "a")], "\(rest)")
        }
    }
}
