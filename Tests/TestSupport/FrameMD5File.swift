public import Media

/// FFmpeg's text of one checksum a frame (`-f framemd5`).
public struct FrameMD5File: Sendable {
    public struct Line: Sendable, Hashable {
        /// In units of `timeBase`.
        public var timestamp: Int64
        /// Bytes of the frame.
        public var byteCount: Int
        /// Lower-case hexadecimal.
        public var hash: String
    }

    /// Seconds in a unit of the time stamps.
    public var timeBase: Ratio
    public var lines: [Line]

    /// nil when the file cannot be read or holds no time base.
    public init?(path: String) {
        guard let text = TextFile.contents(of: path) else { return nil }
        self.init(text)
    }

    public init?(_ text: String) {
        var timeBase: Ratio?
        lines = []
        for row in text.split(separator: "\n") {
            if row.hasPrefix("#tb 0: ") {
                let numbers = row.dropFirst(7).split(separator: "/").compactMap { Int32($0) }
                if numbers.count == 2 { timeBase = Ratio(numbers[0], numbers[1]) }
            }
            let cells = row.split(separator: ",").map { $0.drop { $0 == " " } }
            guard !row.hasPrefix("#"), cells.count >= 6, let timestamp = Int64(cells[2]), let byteCount = Int(cells[4]) else { continue }
            lines.append(Line(timestamp: timestamp, byteCount: byteCount, hash: String(cells[5])))
        }
        guard let timeBase else { return nil }
        self.timeBase = timeBase
    }

    public func time(_ line: Line) -> MediaTime { MediaTime(value: line.timestamp, timescale: 1).multiplied(by: timeBase) }
}
