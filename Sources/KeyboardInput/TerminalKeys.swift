package import DisplaySink
internal import Media

/// Translates what a terminal sends into the player's keys (ECMA-48, xterm and the Linux console).
package enum TerminalKeys {
    /// The keys in the bytes of one `read`. An escape byte without a sequence after it is the Escape key.
    package static func keys(_ bytes: some Collection<UInt8>) -> [PlayerKey] {
        var keys: [PlayerKey] = [], rest = Array(bytes)[...]
        while let byte = rest.first {
            guard byte == 0x1b else {
                if let key = plain(&rest) { keys.append(key) }
                continue
            }
            rest.removeFirst()
            guard let next = rest.first, next == 0x5b || next == 0x4f else {
                keys.append(.escape)
                continue
            }
            rest.removeFirst()
            // Function keys of the Linux console: a second bracket and a letter.
            let isConsole = rest.first == 0x5b
            if isConsole { rest.removeFirst() }
            let parameters = String(decoding: rest.prefix { (0x20..<0x40).contains($0) }, as: UTF8.self)
            rest = rest.dropFirst(parameters.utf8.count)
            guard let final = rest.popFirst() else { continue }
            if let key = key(final, parameters, isConsole: isConsole) { keys.append(key) }
        }
        return keys
    }

    /// `1;2`: with Shift. The number alone names a key where the letter is `~`.
    private static func key(_ final: UInt8, _ parameters: String, isConsole: Bool) -> PlayerKey? {
        let numbers = parameters.split(separator: ";", omittingEmptySubsequences: false).map { Int($0) }
        let stated = numbers.count > 1 ? numbers[1] ?? 1 : 1, bits = (1...16).contains(stated) ? stated - 1 : 0
        var modifiers: PlayerKey.Modifiers = []
        for (bit, modifier) in [(1, PlayerKey.Modifiers.shift), (2, .alt), (4, .control)] where bits & bit != 0 { modifiers.insert(modifier) }
        let name: String?
        switch final {
        // `[[A` to `[[E`: F1 to F5 of the Linux console.
        case 0x41...0x45 where isConsole: name = "F\(final - 0x40)"
        case 0x7e: name = numbers.first.flatMap(\.self).flatMap { numbered[$0] }
        default: name = lettered[final]
        }
        return name.map { PlayerKey($0, modifiers) }
    }

    private static let lettered: [UInt8: String] = [
        0x41: "UP", 0x42: "DOWN", 0x43: "RIGHT", 0x44: "LEFT", 0x48: "HOME", 0x46: "END", 0x50: "F1", 0x51: "F2", 0x52: "F3", 0x53: "F4",
    ]

    private static let numbered: [Int: String] = [
        1: "HOME", 2: "INS", 3: "DEL", 4: "END", 5: "PGUP", 6: "PGDWN", 7: "HOME", 8: "END", 11: "F1", 12: "F2", 13: "F3", 14: "F4", 15: "F5",
        17: "F6", 18: "F7", 19: "F8", 20: "F9", 21: "F10", 23: "F11", 24: "F12",
    ]

    /// A character, or a control character for Ctrl and a letter.
    private static func plain(_ rest: inout ArraySlice<UInt8>) -> PlayerKey? {
        guard let byte = rest.first else { return nil }
        switch byte {
        case 0x20...0x7e, 0x80...:
            // At most four bytes of UTF-8.
            for length in 1...4 {
                guard let text = String(validating: rest.prefix(length), as: UTF8.self), let scalar = text.unicodeScalars.first else { continue }
                rest = rest.dropFirst(length)
                guard scalar.isPrintable else { return nil }
                return PlayerKey(scalar == " " ? "SPACE" : text)
            }
            rest.removeFirst()
            return nil
        default:
            rest.removeFirst()
            switch byte {
            case 0x7f, 8: return .backspace
            case 0x0a, 0x0d: return .enter
            case 9: return PlayerKey("TAB")
            case 1...26: return PlayerKey(String(UnicodeScalar(byte + 0x60)), .control)
            default: return nil
            }
        }
    }
}
