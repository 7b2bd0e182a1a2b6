import Subtitles
import Testing

/// Text without what ASS says about its looks.
@Suite struct PlainTextTests {
    private static let table: [(String, String)] = [
        ("", ""), ("Hello", "Hello"), ("{\\i1}Hello{\\i0} you", "Hello you"), ("{}a{}", "a"),
        ("one\\Ntwo\\nthree", "one\ntwo\nthree"), ("a\\hb", "a b"), ("\\N\\Na\\N", "a"), ("a\\N\\Nb", "a\n\nb"),
        ("back\\slash \\x", "back\\slash \\x"), ("ends with \\", "ends with \\"),
        ("{not closed", "{not closed"), ("a{b{c}d", "ad"), ("a}b", "a}b"), ("\\{braces\\}", "{braces}"), ("{\\an8\\{}x", "x"),
        ("{\\p1}m 0 0 l 10 0 10 10{\\p0}text", "text"), ("{\\p2}m 0 0", ""), ("{\\p01}m 0 0{\\p00}a", "a"), ("{\\p1}m 0 0{\\p}a", "a"),
        ("{\\pos(10,20)}here", "here"), ("{\\pbo3}here", "here"), ("{\\p1\\pos(1,2)}m 0 0", ""), ("{\\p1\\p0}here", "here"),
        ("{\\p1}m 0 0{\\i1}l 1 1", ""), ("{\\p1}m\\N0 \\h0{\\p0}\\Na", "a"), ("{a comment}b", "b"), ("{\\}b", "b"),
        ("tab\tand\u{1b}[31m\u{7f}\u{85}", "tab and[31m"), ("Ägypten 日本 👍", "Ägypten 日本 👍"), ("\r\na", "a"),
    ]

    @Test(arguments: table) func `tags go and text stays`(_ ass: String, _ text: String) { #expect(PlainText.text(ass) == text) }

    @Test func `lines stand below each other, and the same one once`() {
        let table: [([String], String)] = [
            ([], ""), ([""], ""), (["a"], "a"), (["a", "b"], "a\nb"), (["a", "", "b", ""], "a\nb"), (["a", "a", "b", "a"], "a\nb\na"),
            (["a", "", "a"], "a"),
        ]
        for (texts, joined) in table { #expect(PlainText.joined(texts) == joined) }
    }
}
