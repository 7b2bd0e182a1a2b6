internal import Glibc
internal import Media

/// Where the films of a time line are.
enum TimelineAddress {
    /// The path of a film; nil where it is no file.
    ///
    /// - Parameters:
    ///   - url: As a time line has it: `file://…`, or a path, with or without escapes.
    ///   - timeline: The path of the time line, from whose folder relative paths begin.
    static func path(of url: String, besides timeline: String) -> String? {
        guard !url.isEmpty, !url.utf8.contains(0) else { return nil }
        var name = url
        if url.hasPrefix("file://") {
            name = unescaped(String(url.dropFirst("file://".count)))
            if name.hasPrefix("localhost/") { name = String(name.dropFirst("localhost".count)) }
            return name.hasPrefix("/") ? name : nil
        }
        if hasScheme(url) { return nil }
        let folder = timeline.lastIndex(of: "/").map { String(timeline[...$0]) } ?? "./"
        func place(_ name: String) -> String { name.hasPrefix("/") ? name : folder + name }
        if unsafe place(name).withPath({ unsafe access($0, F_OK) }) != 0 { name = unescaped(name) }
        return place(name)
    }

    /// Whether it is an address, such as `https://…`.
    private static func hasScheme(_ url: String) -> Bool {
        let scheme = url.prefix { $0 != ":" }
        return url.dropFirst(scheme.count).hasPrefix("://") && !scheme.contains("/")
    }

    /// Percent signs and two digits stand for a byte.
    private static func unescaped(_ text: String) -> String {
        let bytes = Array(text.utf8)
        var made: [UInt8] = [], index = 0
        while index < bytes.count {
            if bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count,
                bytes[index + 1] != UInt8(ascii: "+"), let byte = UInt8(String(decoding: bytes[index + 1...index + 2], as: UTF8.self), radix: 16),
                byte != 0
            {
                made.append(byte)
                index += 3
            } else {
                made.append(bytes[index])
                index += 1
            }
        }
        return PathText.text(made)
    }
}
