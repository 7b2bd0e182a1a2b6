/// The parts of an address on a web server (RFC 3986, 3), as far as connections and cookies need them.
package struct WebAddress: Equatable {
    package var isSecure: Bool
    /// In lower case, without the brackets of an IPv6 address.
    package var host: String
    package var port: UInt16
    /// From the slash on, without query and fragment.
    package var path: String

    /// nil for what is not on a web server.
    package init?(_ address: String) {
        let lower = address.prefix(8).lowercased()
        guard lower.hasPrefix("http://") || lower.hasPrefix("https://") else { return nil }
        isSecure = lower.hasPrefix("https")
        let rest = address.dropFirst(isSecure ? 8 : 7)
        let authority = rest.prefix { !"/?#".contains($0) }
        let place = rest.dropFirst(authority.count).prefix { $0 != "?" && $0 != "#" }
        path = place.isEmpty ? "/" : String(place)
        let (name, number) = Self.place(of: authority)
        host = name.lowercased()
        guard !host.isEmpty, let port = number.map({ $0.isEmpty ? nil : UInt16($0) }) ?? (isSecure ? 443 : 80) else { return nil }
        self.port = port
    }

    /// Host and port of an authority (RFC 3986, 3.2), without name and password.
    package static func place(of authority: Substring) -> (host: Substring, port: Substring?) {
        let name = authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority
        if name.hasPrefix("["), let end = name.firstIndex(of: "]") {
            let behind = name[name.index(after: end)...]
            return (name[name.index(after: name.startIndex)..<end], behind.hasPrefix(":") ? behind.dropFirst() : nil)
        }
        guard let colon = name.lastIndex(of: ":") else { return (name, nil) }
        return (name[..<colon], name[name.index(after: colon)...])
    }
}
