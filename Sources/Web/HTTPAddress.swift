/// Addresses as people write them, as libcurl takes them.
enum HTTPAddress {
    /// Scheme, host and port, as written; empty for what is none.
    static func origin(of address: String) -> String {
        guard let colon = address.firstIndex(of: ":"), address[colon...].hasPrefix("://") else { return "" }
        let authority = address[colon...].dropFirst(3).prefix { !"/?#".contains($0) }
        let host = authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority
        return (address[..<colon] + "://" + host).lowercased()
    }

    /// The same with what may not stand in a path or a query escaped (RFC 3986, 2.1), as browsers do; escapes stay as they are.
    static func escaped(_ address: String) -> String {
        guard let colon = address.firstIndex(of: ":"), address[colon...].hasPrefix("://") else { return address }
        let rest = address[colon...].dropFirst(3), authority = rest.prefix { !"/?#".contains($0) }
        let path = rest.dropFirst(authority.count)
        var result = String(address[..<path.startIndex])
        for byte in path.utf8 {
            if byte > 0x20, byte < 0x7F, !forbidden.contains(byte) {
                result.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                let digits = String(byte, radix: 16, uppercase: true)
                result += digits.count == 1 ? "%0\(digits)" : "%\(digits)"
            }
        }
        return result
    }

    private static let forbidden = Set("\"<>\\^`{|}".utf8)
}
