/// What a list on a web server names, as a whole address (RFC 3986, 5.2).
enum WebReference {
    /// - Parameter list: the list's own address.
    /// - Returns: nil for what is not on a web server: a file, a pipe, another kind of server.
    static func resolve(_ name: String, at list: String) -> String? {
        let scheme = name.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }
        if name.dropFirst(scheme.count).hasPrefix(":") {
            let isWeb = ["http", "https"].contains(scheme.lowercased()) && name.dropFirst(scheme.count).hasPrefix("://")
            return isWeb ? name : nil
        }
        guard let colon = list.firstIndex(of: ":") else { return nil }
        let rest = list[colon...].dropFirst(3)
        let authority = rest.prefix { !"/?#".contains($0) }
        let path = rest.dropFirst(authority.count).prefix { $0 != "?" && $0 != "#" }
        if name.hasPrefix("//") { return list[...colon] + name }
        let origin = "\(list[...colon])//\(authority)"
        if name.hasPrefix("/") { return origin + name }
        let folder = path.lastIndex(of: "/").map { path[...$0] } ?? "/"
        return origin + folder + name
    }
}
