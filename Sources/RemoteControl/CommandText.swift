internal import PlaySupport

/// Commands as mpv's `input.conf` writes them: words between blanks, `"quoted words"` with escapes, several commands between `;`.
enum CommandText {
    /// What of a command's effect the viewer is shown, where it comes from a key.
    enum Manner: Sendable, Hashable { case automatic, nothing, bar, message, both }

    /// One command.
    struct Command: Sendable, Hashable {
        /// Its name and its arguments.
        var words: [String]
        var manner = Manner.automatic
    }

    private static let manners: [String: Manner] = [
        "osd-auto": .automatic, "no-osd": .nothing, "osd-bar": .bar, "osd-msg": .message, "osd-msg-bar": .both,
    ]
    /// Prefixes that change how mpv reads or repeats a command, and nothing here.
    private static let prefixes: Set<String> = ["raw", "expand-properties", "repeatable", "nonrepeatable", "async", "sync"]

    /// The words of each command; nil: a quotation has no end.
    static func commands(in text: String) -> [[String]]? { orders(in: text)?.map(\.words) }

    /// Each command with what its prefixes say; nil: a quotation has no end.
    static func orders(in text: String) -> [Command]? {
        var commands: [Command] = [], words: [String] = [], word: String?
        var rest = Substring(text)
        func ended() {
            if let done = word { words.append(done) }
            word = nil
        }
        func endedCommand() {
            ended()
            var command = Command(words: [])
            let rest = words.drop { word in
                if let manner = manners[word] { command.manner = manner }
                return manners[word] != nil || prefixes.contains(word)
            }
            command.words = Array(rest)
            if !rest.isEmpty { commands.append(command) }
            words = []
        }
        while let character = rest.popFirst() {
            switch character {
            case " ", "\t": ended()
            case ";": endedCommand()
            case "#" where word == nil: rest = ""
            case "\"" where word == nil:
                guard let quoted = quotation(&rest) else { return nil }
                word = quoted
            case "'" where word == nil:
                guard let end = rest.firstIndex(of: "'") else { return nil }
                word = String(rest[..<end])
                rest = rest[rest.index(after: end)...]
            default: word = (word ?? "") + String(character)
            }
        }
        endedCommand()
        return commands
    }

    /// The rest of a quotation whose first mark has been read.
    private static func quotation(_ rest: inout Substring) -> String? {
        var text = ""
        while let character = rest.popFirst() {
            switch character {
            case "\"": return text
            case "\\":
                guard let escaped = rest.popFirst() else { return nil }
                text.append(escaped == "n" ? "\n" : escaped == "t" ? "\t" : escaped)
            default: text.append(character)
            }
        }
        return nil
    }

    /// The text with `${name}` replaced by what the property says to people, `${=name}` by its value, `${name:otherwise}` by the text behind the
    /// colon where the property has no value, `${?name:text}` by the text where it has one, and `$$` by `$`.
    static func expanded(_ text: String, _ snapshot: RemoteSnapshot) -> String {
        var result = "", rest = Substring(text)
        while let character = rest.popFirst() {
            guard character == "$", let next = rest.first else {
                result.append(character)
                continue
            }
            if next == "$" {
                rest.removeFirst()
                result.append("$")
            } else if next == "{", let end = closing(rest) {
                result += value(rest[rest.index(after: rest.startIndex)..<end], snapshot)
                rest = rest[rest.index(after: end)...]
            } else {
                result.append(character)
            }
        }
        return result
    }

    /// The mark that closes the brace at the beginning.
    private static func closing(_ text: Substring) -> Substring.Index? {
        var depth = 0
        for index in text.indices {
            if text[index] == "{" { depth += 1 }
            if text[index] == "}" { depth -= 1 }
            if depth == 0 { return index }
        }
        return nil
    }

    private static func value(_ inside: Substring, _ snapshot: RemoteSnapshot) -> String {
        let sign = inside.first.flatMap { "=?!".contains($0) ? $0 : nil }
        let parts = (sign == nil ? inside : inside.dropFirst()).split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let name = String(parts.first ?? ""), text = parts.count > 1 ? String(parts[1]) : nil
        let found = try? RemoteProperties.value(of: name, snapshot)
        switch sign {
        case "?": return found != nil ? expanded(text ?? "", snapshot) : ""
        case "!": return found == nil ? expanded(text ?? "", snapshot) : ""
        default:
            guard let found else { return text.map { expanded($0, snapshot) } ?? "(unavailable)" }
            return sign == "=" ? RemoteProperties.text(found) : RemoteProperties.spoken(name, found, snapshot)
        }
    }
}
