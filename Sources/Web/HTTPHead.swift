/// The head of a server's answer, line by line as it comes (RFC 9112, 2.1).
struct HTTPHead {
    /// Of the answer that comes last: others say that the client goes on elsewhere, or asks again with a password.
    private(set) var status = 0
    /// All of the head has come.
    private(set) var isWhole = false
    private(set) var takesRanges = false
    /// The first byte of a part, where the answer is one, and the bytes of the whole, where the server says it.
    private(set) var range: (first: Int64, whole: Int64?)?
    /// The bytes are packed, so that lengths do not count those that are read.
    private(set) var isPacked = false
    /// Bytes of all heads.
    private(set) var byteCount = 0

    /// 256 KiB: browsers take as much.
    static let longest = 256 << 10

    /// Takes a line with its line break; an empty one ends the head.
    mutating func add(_ line: String, byteCount count: Int) {
        byteCount += count
        if line.hasPrefix("HTTP/") || line.hasPrefix("ICY ") {
            self = HTTPHead(status: line.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0, byteCount: byteCount)
            return
        }
        guard !isWhole else { return }
        let text = line.trimmedLine
        if text.isEmpty {
            isWhole = true
            return
        }
        guard let colon = text.firstIndex(of: ":") else { return }
        let value = text[text.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
        switch text[..<colon].lowercased() {
        case "accept-ranges": takesRanges = value.lowercased().hasPrefix("bytes")
        case "content-range": range = Self.range(value)
        case "content-encoding": isPacked = value.lowercased() != "identity"
        default: break
        }
    }

    init() {}

    private init(status: Int, byteCount: Int) { (self.status, self.byteCount) = (status, byteCount) }

    /// `bytes 100-199/1000`, or `*` for what is not known (RFC 9110, 14.4).
    static func range(_ value: Substring) -> (first: Int64, whole: Int64?)? {
        guard value.lowercased().hasPrefix("bytes ") else { return nil }
        let parts = value.dropFirst(6).split(separator: "/")
        guard parts.count == 2, let first = parts[0].split(separator: "-", omittingEmptySubsequences: false).first.flatMap({ Int64($0) }), first >= 0
        else { return nil }
        guard parts[1] != "*" else { return (first, nil) }
        guard let whole = Int64(parts[1]), whole > first else { return nil }
        return (first, whole)
    }
}

extension String {
    /// Without the line break and the spaces at its end.
    fileprivate var trimmedLine: Substring {
        var end = endIndex
        while end > startIndex {
            let before = index(before: end)
            guard self[before].isWhitespace else { break }
            end = before
        }
        return self[..<end]
    }
}
