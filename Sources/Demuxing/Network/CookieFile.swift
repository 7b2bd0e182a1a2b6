internal import Web

/// Cookies in the form that Netscape gave them, which browsers' exports, curl, yt-dlp and mpv use: a line each, seven fields between tabs.
enum CookieFile {
    /// The cookies of a file that belong to an address, in the form of libavformat's option `cookies`.
    ///
    /// libavformat compares the ends of hosts' names only, so that it is given no cookie of another host, and each for this host alone. What it
    /// compares has the port behind the name, where that is not the usual one.
    /// - Parameter now: In seconds since 1970; cookies that have expired are left out.
    static func libraryOption(_ text: String, for address: WebAddress, now: Int64) -> String {
        let domain = address.port == (address.isSecure ? 443 : 80) ? address.host : "\(address.host):\(address.port)"
        var result = ""
        for line in text.split(whereSeparator: \.isNewline) {
            // Curl marks what scripts may not see so.
            let isHidden = line.hasPrefix("#HttpOnly_")
            if line.hasPrefix("#"), !isHidden { continue }
            let fields = (isHidden ? line.dropFirst(10) : line).split(separator: "\t", omittingEmptySubsequences: false)
            guard fields.count == 7, let expiry = Int64(fields[4]), !fields[5].isEmpty else { continue }
            let owner = (fields[0].hasPrefix(".") ? fields[0].dropFirst() : fields[0]).lowercased()
            let isHere = address.host == owner || (fields[1] == "TRUE" && address.host.hasSuffix(".\(owner)"))
            guard isHere, !owner.isEmpty, fields[3] != "TRUE" || address.isSecure, expiry == 0 || expiry > now else { continue }
            guard isWithin(address.path, String(fields[2])), !fields.contains(where: { $0.contains(";") }) else { continue }
            result += "\(fields[5])=\(fields[6]); path=\(fields[2]); domain=\(domain);\n"
        }
        return result
    }

    /// RFC 6265, 5.1.4.
    private static func isWithin(_ path: String, _ folder: String) -> Bool {
        path == folder || (path.hasPrefix(folder) && (folder.hasSuffix("/") || path.dropFirst(folder.count).hasPrefix("/")))
    }
}
