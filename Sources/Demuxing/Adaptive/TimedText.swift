internal import Media

/// The cues of a TTML document (W3C, TTML 2; the text profile of IMSC), with the marks of WebVTT for what is slanted, bold and underlined. Times are
/// in milliseconds. A pure value.
///
/// Colours, places and images are not read. What makes no sense is passed over.
struct TimedText: Sendable {
    private(set) var cues: [TextCue] = []

    /// 32 deep, 100,000 cues of 16 KiB, and 1000 styles at most: more than any film has.
    private static let deepest = 32, mostCues = 100_000, longestText = 16 << 10, mostStyles = 1000

    private struct Style {
        var isItalic: Bool?, isBold: Bool?, isUnderlined: Bool?

        init() {}

        init(_ attributes: [String: String]) {
            isItalic = attributes["fontStyle"].map { $0 == "italic" || $0 == "oblique" }
            isBold = attributes["fontWeight"].map { $0 == "bold" }
            isUnderlined = attributes["textDecoration"].map { $0.contains("underline") && !$0.contains("noUnderline") }
        }

        /// With what another says in addition, which counts more.
        func under(_ other: Style) -> Style {
            var style = self
            (style.isItalic, style.isBold) = (other.isItalic ?? isItalic, other.isBold ?? isBold)
            style.isUnderlined = other.isUnderlined ?? isUnderlined
            return style
        }

        /// The text between the marks that it has.
        func mark(_ text: String) -> String {
            guard text.contains(where: { !$0.isWhitespace }) else { return text }
            var text = text
            for (isSet, name) in [(isUnderlined, "u"), (isBold, "b"), (isItalic, "i")] where isSet == true { text = "<\(name)>\(text)</\(name)>" }
            return text
        }
    }

    /// An element that is open.
    private struct Level {
        var name: String
        var begin: Int64
        /// nil: until the document is not shown any more.
        var end: Int64?
        /// Nothing above it says when it begins.
        var isTimeless: Bool
        var style: Style
        var keepsBlanks: Bool
    }

    /// What is shown together.
    private struct Run {
        var begin: Int64?, end: Int64?
        var text = ""
    }

    /// nil where the bytes are no such document.
    ///
    /// - Parameters:
    ///   - begin: before it, nothing of the document is shown; a paragraph without a beginning begins then.
    ///   - end: from when on nothing of it is shown.
    init?(_ bytes: ArraySlice<UInt8>, shownFrom begin: Int64 = 0, to end: Int64 = .max) {
        var scanner = XMLScanner(bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes)
        var levels: [Level] = [], styles: [String: Style] = [:], runs: [Run] = [], clock = Clock(), isDocument = false
        while let piece = scanner.next() {
            switch piece {
            case .begin(let name, let attributes):
                guard isDocument || name == "tt" else { return nil }
                if !isDocument { (isDocument, clock) = (true, Clock(attributes)) }
                guard levels.count < Self.deepest else { return }
                if name == "style", let id = attributes["id"], styles.count < Self.mostStyles {
                    styles[id] = Self.style(attributes, styles)
                }
                if name == "p" { runs = [] }
                if name == "br", Self.isText(levels) { Self.add("\n", levels.last, to: &runs) }
                levels.append(Self.level(name, attributes, levels.last, styles, clock))
            case .text(let bytes):
                guard Self.isText(levels), let level = levels.last else { continue }
                let text = String(decoding: bytes, as: UTF8.self)
                Self.add(level.style.mark(Self.escaped(level.keepsBlanks ? text : Self.joined(text))), level, to: &runs)
            case .end(let name):
                guard levels.popLast()?.name == name else { return }
                if name == "p" { for run in runs { add(run, begin, end) } }
            }
        }
        if !isDocument { return nil }
    }

    // MARK: Elements

    private static func style(_ attributes: [String: String], _ styles: [String: Style]) -> Style {
        let named = (attributes["style"] ?? "").split(separator: " ").prefix(8).compactMap { styles[String($0)] }
        return named.reduce(Style()) { $0.under($1) }.under(Style(attributes))
    }

    private static func level(
        _ name: String, _ attributes: [String: String], _ outer: Level?, _ styles: [String: Style], _ clock: Clock
    ) -> Level {
        let start = outer?.begin ?? 0, own = attributes["begin"].flatMap(clock.time)
        let begin = start + (own ?? 0)
        let ends = [attributes["end"].flatMap(clock.time).map { start + $0 }, attributes["dur"].flatMap(clock.time).map { begin + $0 }, outer?.end]
        return Level(
            name: name, begin: begin, end: ends.compactMap(\.self).min(), isTimeless: own == nil && outer?.isTimeless ?? true,
            style: (outer?.style ?? Style()).under(style(attributes, styles)),
            keepsBlanks: attributes["space"].map { $0 == "preserve" } ?? outer?.keepsBlanks ?? false)
    }

    /// Whether what stands here is shown: in a paragraph, in itself or in spans.
    private static func isText(_ levels: [Level]) -> Bool {
        guard let paragraph = levels.lastIndex(where: { $0.name == "p" }) else { return false }
        return levels[(paragraph + 1)...].allSatisfy { $0.name == "span" }
    }

    private static func add(_ text: String, _ level: Level?, to runs: inout [Run]) {
        guard let level else { return }
        let begin = level.isTimeless ? nil : level.begin
        if runs.last.map({ $0.begin != begin || $0.end != level.end }) ?? true { runs.append(Run(begin: begin, end: level.end)) }
        if runs[runs.count - 1].text.utf8.count + text.utf8.count <= longestText { runs[runs.count - 1].text += text }
    }

    private mutating func add(_ run: Run, _ begin: Int64, _ end: Int64) {
        let lines = run.text.split(separator: "\n").map { line in
            let front = line.drop { $0 == " " }
            return front.dropLast(front.reversed().prefix { $0 == " " }.count)
        }
        let text = lines.filter { !$0.isEmpty }.joined(separator: "\n"), start = run.begin ?? begin, stop = run.end ?? end
        // What is not shown during the document at all belongs to another one.
        guard !text.isEmpty, stop > start, start < end, stop > begin, stop < .max, cues.count < Self.mostCues else { return }
        cues.append(TextCue(start: start, end: stop, text: text))
    }

    // MARK: Text

    /// Blanks and line ends count as one blank.
    private static func joined(_ text: String) -> String {
        var result = ""
        for character in text where !character.isWhitespace || result.last != " " { result.append(character.isWhitespace ? " " : character) }
        return result
    }

    private static func escaped(_ text: String) -> String {
        text.reduce(into: "") { result, character in
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            default: result.append(character)
            }
        }
    }

    // MARK: Times

    /// How the document counts (TTML 2, 12.3.1).
    private struct Clock {
        /// Frames and ticks a second.
        var frames = 30.0, ticks = 1.0

        init() {}

        init(_ attributes: [String: String]) {
            func number(_ name: String) -> Double? { attributes[name].flatMap { Double($0) }.flatMap { $0 > 0 && $0 < 1e10 ? $0 : nil } }
            let factor = (attributes["frameRateMultiplier"] ?? "").split(whereSeparator: { $0 == " " || $0 == ":" }).compactMap { Double($0) }
            if let rate = number("frameRate") { frames = rate }
            if factor.count == 2, factor[0] > 0, factor[1] > 0 { frames *= factor[0] / factor[1] }
            ticks = number("tickRate") ?? (attributes["frameRate"] == nil ? 1 : frames)
        }

        /// `01:02:03.5`, `01:02:03:12` in frames, `3723.5s`, and the like with `h`, `m`, `ms`, `f` and `t`.
        func time(_ text: String) -> Int64? {
            let parts = text.split(separator: ":", omittingEmptySubsequences: false)
            guard parts.count > 1 else { return offset(text) }
            let numbers = parts.compactMap { part in part.utf8.allSatisfy { (48...57).contains($0) || $0 == 46 } ? Double(part) : nil }
            guard (3...4).contains(parts.count), numbers.count == parts.count, numbers[1] < 60, numbers[2] < 61 else { return nil }
            return milliseconds((numbers[0] * 60 + numbers[1]) * 60 + numbers[2] + (numbers.count > 3 ? numbers[3] / frames : 0))
        }

        private func offset(_ text: String) -> Int64? {
            let digits = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
            guard let number = Double(digits) else { return nil }
            let units = ["h": 3600, "m": 60, "s": 1, "ms": 0.001, "f": 1 / frames, "t": 1 / ticks]
            return units[String(text.dropFirst(digits.count))].flatMap { milliseconds(number * $0) }
        }

        /// 100 years at most, as lists that count from 1970 do.
        private func milliseconds(_ seconds: Double) -> Int64? { seconds < 3.2e9 ? Int64((seconds * 1000).rounded()) : nil }
    }
}
