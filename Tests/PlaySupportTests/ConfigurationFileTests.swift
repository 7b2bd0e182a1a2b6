import Testing

@testable import PlaySupport

/// What a configuration file says.
@Suite struct ConfigurationFileTests {
    private static func text(_ entries: [ConfigurationFile.Entry]) -> String {
        entries.map { "\($0.line) \($0.name)" + ($0.value.map { "=\($0)" } ?? "") }.joined(separator: "|")
    }

    @Test(
        arguments: [
            ("", ""), ("fullscreen", "1 fullscreen"), ("\n volume = 50 \n", "2 volume=50"), ("--speed=2", "1 speed=2"), ("a=b=c", "1 a=b=c"),
            ("a=", "1 a="), ("# all\na=1 # one\nb=x#y", "2 a=1|3 b=x#y"), ("a=\" x # y \" # z", "1 a= x # y "), ("a='\"'", "1 a=\""),
            ("a\r\nb\r\n", "1 a|2 b"), ("fullscreen # always", "1 fullscreen"), ("a=#", "1 a="),
        ])
    func `a line is an option`(_ text: String, _ entries: String) {
        let file = ConfigurationFile(text: text)
        #expect(Self.text(file.entries) == entries && file.faults.isEmpty)
    }

    @Test(arguments: ["=5", "a b", "a=\"x", "a=\"x\" y", "[name", "[name] x", "a\u{0}b", "é=1"])
    func `a line that says nothing is left out and named`(_ text: String) {
        let file = ConfigurationFile(text: "first\n\(text)\nlast")
        #expect(Self.text(file.entries) == "1 first|3 last" && file.faults.map(\.line) == [2])
    }

    @Test func `profiles hold their options`() {
        let file = ConfigurationFile(text: "a\n[one] # first\nb=1\n[two]\nc\n[one]\nd\n[default]\ne\n[empty]")
        #expect(Self.text(file.entries) == "1 a|9 e" && Self.text(file.profiles["one"] ?? []) == "3 b=1|7 d")
        #expect(Self.text(file.profiles["two"] ?? []) == "5 c" && file.profiles["empty"] == [] && file.profiles.count == 3)
    }
}
