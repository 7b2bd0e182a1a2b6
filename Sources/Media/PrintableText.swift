extension Unicode.Scalar {
    /// Whether a terminal, a title bar or a report shows this as a character or as a space, and does nothing else with it.
    ///
    /// Not printable are control characters (C0, DEL, C1), which move a terminal's cursor and change its settings; line and paragraph separators;
    /// characters that change the direction of what follows or cannot be seen; and the characters that stand for a byte in a path (`PathText`).
    /// The joiners U+200C and U+200D are part of words and of emoji, and stay.
    package var isPrintable: Bool {
        switch value {
        case 0x20...0x7E: true
        case 0...0x9F, 0xAD, 0x061C, 0x180E, 0x200B, 0x200E...0x200F, 0x2028...0x202E, 0x2060...0x206F, 0xFEFF, 0xFFF0...0xFFFB: false
        case 0xE0000...0xE0FFF, 0x10FF80...0x10FFFF: false
        default: value & 0xFFFE != 0xFFFE && !(0xFDD0...0xFDEF).contains(value)
        }
    }
}

extension String {
    /// This text as one line that can be shown anywhere: line ends and tabs become spaces, everything else that is not printable becomes `�`.
    ///
    /// Titles, languages and names come from files, and sentences contain them. Passwords of addresses are left out (`withoutPasswords`).
    package var printable: String {
        let shown = withoutPasswords
        if shown.unicodeScalars.allSatisfy(\.isPrintable) { return shown }
        var text = UnicodeScalarView()
        for scalar in shown.unicodeScalars {
            switch scalar {
            case "\t", "\n", "\r", "\u{b}", "\u{c}", "\u{85}", "\u{2028}", "\u{2029}": text.append(" ")
            default: text.append(scalar.isPrintable ? scalar : "\u{fffd}")
            }
        }
        return String(text)
    }

    /// The printable form, at most so many bytes of UTF-8 long, cut between characters.
    package func printable(byteLimit: Int) -> String {
        let text = printable
        guard text.utf8.count > byteLimit else { return text }
        var result = "", count = 0
        for character in text {
            count += character.utf8.count
            if count > byteLimit { break }
            result.append(character)
        }
        return result
    }
}
