internal import Media
internal import Sandbox

// Lines that are on, as the process that reads subtitles lays them into the memory that comes with the question.

extension SubtitleLines {
    /// Bytes of that memory: all the text that is told, and 64 bytes beside it for each line.
    static let shelfBytes = mostBytes + most * 1024 + most * 64
}

extension WireWriter {
    mutating func put(_ lines: [SubtitleLine]) {
        put(UInt32(lines.count))
        for line in lines {
            put(line.start)
            put(line.end)
            put(line.ass != nil)
            let text = Array((line.ass ?? "").utf8)
            put(UInt32(text.count))
            put(bytes: text)
            put(clean: line.style)
            put(line.place != nil)
            for value in [line.place?.x ?? 0, line.place?.y ?? 0, line.place?.width ?? 0, line.place?.height ?? 0] { put(Int32(clamping: value)) }
            for value in [line.canvas.width, line.canvas.height] { put(Int32(clamping: value)) }
        }
    }
}

extension WireReader {
    /// The lines of a process that is not trusted: no text has characters that a script has none of.
    mutating func takeLines() throws(WireError) -> [SubtitleLine] {
        let count = try takeCount(below: SubtitleLines.most + 1)
        var lines: [SubtitleLine] = []
        for _ in 0..<count {
            let start = try take(Int64.self), end = try takeOptional(Int64.self)
            let isText = try takeBool()
            let bytes = try take(count: try takeCount(below: SubtitleLines.mostBytes + 1))
            guard let text = String(validating: bytes, as: UTF8.self), PlainText.isClean(text) else { throw WireError("a line is no text") }
            let style = try takeOptionalText(), isPlaced = try takeBool()
            let x = try take(Int32.self), y = try take(Int32.self), width = try take(Int32.self), height = try take(Int32.self)
            let place = PixelRect(x: Int(x), y: Int(y), width: Int(width), height: Int(height))
            let wide = try take(Int32.self), high = try take(Int32.self)
            guard width >= 0, height >= 0, wide >= 0, high >= 0 else { throw WireError("a size is below 0") }
            lines.append(
                SubtitleLine(
                    start: start, end: end, ass: isText ? text : nil, style: style, place: isPlaced ? place : nil,
                    canvas: PixelSize(width: Int(wide), height: Int(high))))
        }
        try finish()
        return lines
    }
}
