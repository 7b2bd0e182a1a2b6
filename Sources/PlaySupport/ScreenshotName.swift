public import Media

/// How files of screenshots are called: a template with `%`, as `--screenshot-template` of mpv has it.
///
/// `%n` is a number with four digits, `%02n` one with two; `%f` the film's file name, `%F` the same without its ending, `%p` the time
/// (`00:01:30`), `%P` with milliseconds, `%%` a percent sign. Without a number the name stays the same, and one is added where the file is there.
public struct ScreenshotName: Sendable, Hashable {
    private enum Part: Sendable, Hashable {
        case text(String)
        case number(digits: Int)
        case file, stem, time, exactTime
    }

    private var parts: [Part] = []

    /// `scanout-shot0001`.
    public static let standard = "scanout-shot%n"

    /// Nil: there is a `%` that means nothing, or nothing at all.
    public init?(template: String) {
        var rest = Substring(template), text = ""
        func ended() {
            if !text.isEmpty { parts.append(.text(text)) }
            text = ""
        }
        while let character = rest.popFirst() {
            guard character == "%" else {
                text.append(character)
                continue
            }
            if rest.first == "%" {
                rest.removeFirst()
                text.append("%")
                continue
            }
            ended()
            let digits = rest.prefix { $0.isASCII && $0.isNumber }
            rest = rest.dropFirst(digits.count)
            switch rest.popFirst() {
            case "n":
                guard let count = digits.isEmpty ? 4 : Int(digits), (1...9).contains(count) else { return nil }
                parts.append(.number(digits: count))
            case "f" where digits.isEmpty: parts.append(.file)
            case "F" where digits.isEmpty: parts.append(.stem)
            case "p" where digits.isEmpty: parts.append(.time)
            case "P" where digits.isEmpty: parts.append(.exactTime)
            default: return nil
            }
        }
        ended()
        if parts.isEmpty { return nil }
        let hasNumber = parts.contains { if case .number = $0 { true } else { false } }
        if !hasNumber { parts += [.text("-"), .number(digits: 4)] }
    }

    /// The name with this number, without an ending. The film's name brings no folders.
    public func text(number: Int, film: String, time: MediaTime) -> String {
        let file = film.split(separator: "/").last.map(String.init) ?? "film"
        return parts.map { part in
            switch part {
            case .text(let text): text
            case .number(let digits): Self.padded(number, digits)
            case .file: file.printable
            case .stem: (file.lastIndex(of: ".").map { String(file[..<$0]) } ?? file).printable
            case .time: Self.clock(time, isExact: false)
            case .exactTime: Self.clock(time, isExact: true)
            }
        }.joined()
    }

    private static func padded(_ number: Int, _ digits: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(digits - text.count, 0)) + text
    }

    private static func clock(_ time: MediaTime, isExact: Bool) -> String {
        let count = Int(max(time.nanoseconds() ?? 0, 0) / 1_000_000), seconds = count / 1000
        let text = [seconds / 3600, seconds / 60 % 60, seconds % 60].map { padded($0, 2) }.joined(separator: ":")
        return isExact ? text + "." + padded(count % 1000, 3) : text
    }
}
