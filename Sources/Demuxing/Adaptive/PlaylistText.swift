/// What the player itself looks at in the text of an HLS list. Pure functions.
enum PlaylistText {
    /// Lines end with a line feed, or a carriage return before it (RFC 8216, 4.1).
    static func lines(_ text: String) -> [Substring] {
        text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" || $0 == "\r" }.map { line in
            line.hasPrefix("\u{feff}") ? line.dropFirst() : line
        }
    }

    /// The list with every name turned into an address, as it means it at `base`: for a list that came from elsewhere than it was asked for.
    static func absolute(_ text: String, from base: String) -> String {
        lines(text).map { line in
            if line.isEmpty { return "" }
            if !line.hasPrefix("#") { return AssetBytes.address(String(line), from: base) ?? String(line) }
            guard line.hasPrefix("#EXT-X-"), let start = line.firstRange(of: "URI=\"")?.upperBound else { return String(line) }
            let name = line[start...].prefix { $0 != "\"" }
            return line[..<start] + (AssetBytes.address(String(name), from: base) ?? String(name)) + line[name.endIndex...]
        }.joined(separator: "\n")
    }

    /// When each part of a list ends, in microseconds from its beginning, and whether nothing will be added (RFC 8216, 4.3.2.1, 4.3.3.4).
    static func ends(_ text: String) -> (ends: [Int64], isEnded: Bool) {
        var ends: [Int64] = [], isEnded = false, duration: Int64?, target = usualLength
        for line in lines(text) where !line.isEmpty {
            if line.hasPrefix("#EXTINF:") { duration = microseconds(line.dropFirst(8).prefix { $0 != "," }) }
            if line.hasPrefix("#EXT-X-TARGETDURATION:") { target = max(microseconds(line.dropFirst(22)) ?? target, shortestLength) }
            if line.hasPrefix("#EXT-X-ENDLIST") { isEnded = true }
            if line.hasPrefix("#") { continue }
            ends.append((ends.last ?? 0) + (duration ?? target))
            duration = nil
        }
        return (ends, isEnded)
    }

    /// How long parts are whose length a list does not say, and the least that it may say of all.
    static let usualLength: Int64 = 10_000_000, shortestLength: Int64 = 100_000

    /// Of seconds, at most a day.
    static func microseconds(_ text: Substring) -> Int64? {
        Double(text.filter { $0 != " " }).flatMap { (0...86_400).contains($0) ? Int64($0 * 1e6) : nil }
    }

    /// Why the film in a list cannot be played, by how it is encrypted (RFC 8216, 4.3.2.4); nil where it can.
    static func protection(_ text: String) -> String? {
        var objection: String?
        for line in lines(text) {
            let tags = ["#EXT-X-KEY", "#EXT-X-SESSION-KEY"]
            guard let attributes = tags.lazy.compactMap({ PlaylistAttributes(line, tag: $0) }).first else { continue }
            let method = attributes["METHOD"] ?? "NONE", format = (attributes["KEYFORMAT"] ?? "identity").lowercased()
            if method == "NONE" { continue }
            // One film may be encrypted for several systems, each with a tag of its own; the one without any is the one that is played.
            if format == "identity", method == "AES-128" { return nil }
            let cause = format == "identity" ? "encrypted by \(method)" : "protected by \(system(format) ?? "DRM")"
            objection = objection ?? "it is \(cause), which is not played"
        }
        return objection
    }

    /// What the system with this name or number, in lower case, is called.
    static func system(_ name: String) -> String? { systems.first { name.contains($0.key) }?.value }

    /// By parts of their names and numbers (DASH-IF's list of protection systems).
    private static let systems = [
        "com.apple.streamingkeydelivery": "FairPlay", "edef8ba9-79d6-4ace-a3c8-27dcd51d21ed": "Widevine", "widevine": "Widevine",
        "playready": "PlayReady", "9a04f079-9840-4286-ab92-e65be0885f95": "PlayReady",
    ]
}
