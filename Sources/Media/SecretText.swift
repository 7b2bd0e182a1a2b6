extension String {
    /// This text without the passwords of the addresses in it: `rtsp://viewer:***@camera/live`. For everything that is shown, written or told.
    ///
    /// A password is what stands between the first colon and the last `@` of an address's authority (RFC 3986, 3.2.1), and the value of `passphrase`
    /// or `password` in its query, as SRT has it.
    package var withoutPasswords: String {
        guard utf8.contains(UInt8(ascii: "@")) || utf8.contains(UInt8(ascii: "=")), contains("://") else { return self }
        var result = Substring(), rest = self[...]
        while let place = rest.firstRange(of: "://") {
            result += rest[..<place.upperBound]
            rest = rest[place.upperBound...]
            let authority = rest.prefix { !"/?#".contains($0) && !$0.isWhitespace && $0 != "\"" }
            if let at = authority.lastIndex(of: "@"), let colon = authority[..<at].firstIndex(of: ":") {
                result += authority[...colon] + "***"
                rest = rest[at...]
            }
        }
        return Self.withoutSecretValues(String(result + rest))
    }

    private static let secretNames = ["passphrase=", "password="]

    private static func withoutSecretValues(_ text: String) -> String {
        var text = text
        for name in secretNames {
            var result = Substring(), rest = text[...]
            while let place = rest.firstRange(of: name) {
                let isName = rest[..<place.lowerBound].last.map { $0 == "?" || $0 == "&" } ?? false
                result += rest[..<place.upperBound]
                rest = rest[place.upperBound...]
                let value = rest.prefix { $0 != "&" && $0 != "#" && !$0.isWhitespace && $0 != "\"" }
                guard isName, !value.isEmpty else { continue }
                // A sentence's own marks follow the address.
                let marks = value.reversed().prefix { ":.,".contains($0) }.count
                result += "***"
                rest = rest[value.index(value.endIndex, offsetBy: -marks)...]
            }
            text = String(result + rest)
        }
        return text
    }
}
