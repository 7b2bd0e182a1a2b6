internal import Web

/// Names and passwords for servers in the file that ftp, curl and wget read: `machine example.org login viewer password sesame`, words between
/// spaces and line ends.
///
/// Thread-safety: a value.
struct NetrcFile: Equatable {
    struct Credentials: Equatable {
        var name: String
        var password: String
    }

    private var machines: [(host: String?, credentials: Credentials)] = []

    static func == (left: NetrcFile, right: NetrcFile) -> Bool {
        left.machines.elementsEqual(right.machines) { $0.host == $1.host && $0.credentials == $1.credentials }
    }

    /// Reads a file's text. What makes no sense is passed over.
    init(_ text: String) {
        var words = Words(text[...])
        var host: String??, name: String?, password: String?
        func end(_ machines: inout [(host: String?, credentials: Credentials)]) {
            if let host, name != nil || password != nil { machines.append((host, Credentials(name: name ?? "", password: password ?? ""))) }
            (host, name, password) = (nil, nil, nil)
        }
        while let word = words.next() {
            switch word {
            case "machine":
                end(&machines)
                host = words.next().map { .some($0.lowercased()) }
            case "default":
                end(&machines)
                host = .some(nil)
            case "login": name = words.next()
            case "password": password = words.next()
            case "account": _ = words.next()
            case "macdef": words.skipMacro()
            default: continue
            }
        }
        end(&machines)
    }

    /// The first that are for this host, in lower case, or for all that no line names.
    func credentials(for host: String) -> Credentials? {
        (machines.first { $0.host == host } ?? machines.first { $0.host == nil })?.credentials
    }

    /// The address with the name and the password for its host; as it is where it has its own, and where there are none.
    func completed(_ address: String) -> String {
        guard let place = WebAddress(address), let found = credentials(for: place.host), let start = address.firstRange(of: "://") else {
            return address
        }
        let authority = address[start.upperBound...].prefix { !"/?#".contains($0) }
        guard !authority.contains("@") else { return address }
        return address[..<start.upperBound] + Self.escaped(found.name) + ":" + Self.escaped(found.password) + "@" + address[start.upperBound...]
    }

    /// With all but the unreserved characters in percent form (RFC 3986, 2.3).
    private static func escaped(_ text: String) -> String {
        var result = ""
        for byte in text.utf8 {
            let scalar = Unicode.Scalar(byte), digits = String(byte, radix: 16, uppercase: true)
            let isPlain = scalar.isASCII && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar) || "-._~".unicodeScalars.contains(scalar))
            result += isPlain ? String(scalar) : "%" + (digits.count == 1 ? "0" : "") + digits
        }
        return result
    }

    /// Words, one after the other.
    private struct Words {
        private var rest: Substring

        init(_ text: Substring) { rest = text }

        mutating func next() -> String? {
            while true {
                rest = rest.drop(while: \.isWhitespace)
                guard let first = rest.first else { return nil }
                if first == "#" {
                    rest = rest.drop { !$0.isNewline }
                    continue
                }
                return first == "\"" ? quoted() : plain()
            }
        }

        private mutating func plain() -> String {
            let word = rest.prefix { !$0.isWhitespace }
            rest = rest.dropFirst(word.count)
            return String(word)
        }

        /// As curl has it: a backslash stands before `"`, and before itself.
        private mutating func quoted() -> String {
            var word = ""
            rest = rest.dropFirst()
            while let character = rest.popFirst(), character != "\"" {
                if character == "\\", let next = rest.popFirst() { word.append(next) } else { word.append(character) }
            }
            return word
        }

        /// A macro ends with an empty line.
        mutating func skipMacro() {
            while !rest.isEmpty {
                let line = rest.prefix { !$0.isNewline }
                rest = rest.dropFirst(line.count).dropFirst()
                if rest.first?.isNewline == true { return }
            }
        }
    }
}
