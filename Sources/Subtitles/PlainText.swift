/// Text without what ASS says about its looks, as mpv's `sub-text` has it.
///
/// A pure function: override tags (`{\i1}`) go, and with them drawings (`{\p1}m 0 0 l 10 0{\p0}`); `\N` and `\n` are ends of lines, `\h` is a
/// space, `\{` and `\}` are braces. A brace that is not closed is text.
package enum PlainText {
    /// The plain text of a line of an ASS script. It holds no control characters but `\n`, and neither begins nor ends with one.
    package static func text(_ ass: String) -> String {
        let bytes = Array(ass.utf8)
        var result: [UInt8] = []
        var index = 0
        var isDrawing = false
        func next(_ character: Character) -> Bool { index + 1 < bytes.count && bytes[index + 1] == character.asciiValue }
        func put(_ byte: UInt8) { if !isDrawing { result.append(byte) } }
        while index < bytes.count {
            let byte = bytes[index]
            if byte == UInt8(ascii: "\\"), next("N") || next("n") {
                put(UInt8(ascii: "\n"))
                index += 2
            } else if byte == UInt8(ascii: "\\"), next("h") {
                put(UInt8(ascii: " "))
                index += 2
            } else if byte == UInt8(ascii: "\\"), next("{") || next("}") {
                put(bytes[index + 1])
                index += 2
            } else if byte == UInt8(ascii: "{"), let end = bytes[index...].firstIndex(of: UInt8(ascii: "}")) {
                if let drawing = draws(bytes[index..<end]) { isDrawing = drawing }
                index = end + 1
            } else {
                // A tab parts words, too.
                put(byte == UInt8(ascii: "\t") ? UInt8(ascii: " ") : byte)
                index += 1
            }
        }
        return trimmed(result)
    }

    /// Several lines as one text: without those that have none, and one that follows itself, as scripts write it for a shadow, once.
    package static func joined(_ texts: some Sequence<String>) -> String {
        var kept: [String] = []
        for text in texts where !text.isEmpty && text != kept.last { kept.append(text) }
        return kept.joined(separator: "\n")
    }

    /// Whether a text has no control characters but tabs and ends of lines.
    static func isClean(_ text: String) -> Bool { text.unicodeScalars.allSatisfy(isClean) }

    /// The text without them.
    static func cleaned(_ text: String) -> String {
        isClean(text) ? text : String(String.UnicodeScalarView(text.unicodeScalars.filter(isClean)))
    }

    private static func isClean(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "\t" || scalar == "\n" || scalar.properties.generalCategory != .control
    }

    /// Whether a drawing follows a block of tags; nil: the block does not say. The last `\p` counts; `\pos` and `\pbo` are others.
    private static func draws(_ block: ArraySlice<UInt8>) -> Bool? {
        var answer: Bool?
        var index = block.startIndex
        while let tag = block[index...].firstIndex(of: UInt8(ascii: "\\")), tag + 1 < block.endIndex {
            index = tag + 1
            guard block[index] == UInt8(ascii: "p") else { continue }
            let digits = block[(index + 1)...].prefix { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
            let isNamedElse = digits.isEmpty && index + 1 < block.endIndex && (UInt8(ascii: "a")...UInt8(ascii: "z") ~= block[index + 1])
            if !isNamedElse { answer = digits.contains { $0 != UInt8(ascii: "0") } }
        }
        return answer
    }

    private static func trimmed(_ bytes: [UInt8]) -> String {
        let text = cleaned(String(decoding: bytes, as: UTF8.self)).unicodeScalars
        guard let first = text.firstIndex(where: { $0 != "\n" }), let last = text.lastIndex(where: { $0 != "\n" }) else { return "" }
        return String(text[first...last])
    }
}
