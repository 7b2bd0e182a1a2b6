/// The text of a configuration file: an option a line, as mpv's `mpv.conf` has them.
///
/// `name=value` is the option `--name=value`, `name` alone the option `--name`. `#` begins a comment, also behind a value that has a blank before it.
/// A value with blanks at its ends or with `#` stands between quotation marks. `[name]` begins a profile, whose options hold where `profile=name` or
/// `--profile name` asks for it; `[default]` ends it. The same profile may be begun again and goes on then.
public struct ConfigurationFile: Sendable, Hashable {
    /// An option of the file.
    public struct Entry: Sendable, Hashable {
        /// Without leading dashes.
        public var name: String
        /// nil: the name stands alone.
        public var value: String?
        /// Counted from 1.
        public var line: Int
    }

    /// A line that says nothing.
    public struct Fault: Sendable, Hashable {
        /// Counted from 1.
        public var line: Int
        /// A sentence for people.
        public var reason: String
    }

    /// The options outside of profiles, in the file's order.
    public private(set) var entries: [Entry] = []
    /// The options of each profile.
    public private(set) var profiles: [String: [Entry]] = [:]
    /// The lines that were left out.
    public private(set) var faults: [Fault] = []

    /// Reads a file's text.
    public init(text: String) {
        var profile: String?
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let words = line.trimmed
            if words.isEmpty || words.hasPrefix("#") { continue }
            if words.hasPrefix("[") {
                guard let end = words.firstIndex(of: "]"), Self.isComment(words[words.index(after: end)...]) else {
                    faults.append(Fault(line: index + 1, reason: "a profile's name stands between [ and ]"))
                    continue
                }
                let name = String(words[words.index(after: words.startIndex)..<end].trimmed)
                profile = name == "default" ? nil : name
                if name != "default" { profiles[name, default: []] += [] }
                continue
            }
            switch Self.entry(words, line: index + 1) {
            case .success(let entry):
                if let profile { profiles[profile, default: []].append(entry) } else { entries.append(entry) }
            case .failure(let failure): faults.append(Fault(line: index + 1, reason: failure.reason))
            }
        }
    }

    private struct Failure: Error { let reason: String }

    private static func entry(_ words: Substring, line: Int) -> Result<Entry, Failure> {
        let end = words.firstIndex { $0 == "=" || $0 == "#" } ?? words.endIndex
        let name = words[..<end].trimmed
        // Some write them as on the command line.
        let option = name.hasPrefix("--") ? name.dropFirst(2) : name
        guard !option.isEmpty, option.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }) else {
            return .failure(Failure(reason: "what stands there is no option"))
        }
        guard end < words.endIndex, words[end] == "=" else { return .success(Entry(name: String(option), value: nil, line: line)) }
        let rest = words[words.index(after: end)...].trimmed
        guard let mark = rest.first, mark == "\"" || mark == "'" else {
            return .success(Entry(name: String(option), value: String(withoutComment(rest)), line: line))
        }
        let inside = rest.dropFirst()
        guard let close = inside.firstIndex(of: mark) else { return .failure(Failure(reason: "the quotation has no end")) }
        guard isComment(inside[inside.index(after: close)...]) else { return .failure(Failure(reason: "something stands behind the quotation")) }
        return .success(Entry(name: String(option), value: String(inside[..<close]), line: line))
    }

    private static func isComment(_ text: Substring) -> Bool {
        let text = text.trimmed
        return text.isEmpty || text.hasPrefix("#")
    }

    /// The value before a comment. A `#` within a word, such as that of an address, belongs to it.
    private static func withoutComment(_ value: Substring) -> Substring {
        var before: Character = " "
        for index in value.indices {
            if value[index] == "#", before.isWhitespace { return value[..<index].trimmed }
            before = value[index]
        }
        return value
    }
}

extension Substring {
    /// Without blanks at the ends.
    fileprivate var trimmed: Substring {
        var text = self
        while text.first?.isWhitespace == true { text.removeFirst() }
        while text.last?.isWhitespace == true { text.removeLast() }
        return text
    }
}
