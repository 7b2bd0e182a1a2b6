/// The characters of CEA-708 that codes stand for (7.1.3 to 7.1.9).
enum CaptionCharacters {
    /// ASCII, with a note in place of the last one, and Latin-1; nil for other codes.
    static func plain(_ code: UInt8) -> Unicode.Scalar? {
        switch code {
        case 0x7f: "\u{266a}"
        case 0x20...0x7e, 0xa0...0xff: Unicode.Scalar(code)
        default: nil
        }
    }

    /// What stands behind the code for more characters. A code that means nothing is an underscore, as the standard wants it; nil for commands.
    static func extended(_ code: UInt8) -> Unicode.Scalar? {
        switch code {
        case 0x20...0x7f: more[code] ?? "_"
        // The sign for closed captions, which Unicode lacks.
        case 0xa0: "\u{1f4ac}"
        case 0xa1...0xff: "_"
        default: nil
        }
    }

    private static let more: [UInt8: Unicode.Scalar] = [
        0x20: "\u{a0}", 0x21: "\u{a0}", 0x25: "\u{2026}", 0x2a: "\u{160}", 0x2c: "\u{152}", 0x30: "\u{2588}", 0x31: "\u{2018}", 0x32: "\u{2019}",
        0x33: "\u{201c}", 0x34: "\u{201d}", 0x35: "\u{2022}", 0x39: "\u{2122}", 0x3a: "\u{161}", 0x3c: "\u{153}", 0x3d: "\u{2120}", 0x3f: "\u{178}",
        0x76: "\u{215b}", 0x77: "\u{215c}", 0x78: "\u{215d}", 0x79: "\u{215e}", 0x7a: "\u{2502}", 0x7b: "\u{2510}", 0x7c: "\u{2514}",
        0x7d: "\u{2500}", 0x7e: "\u{2518}", 0x7f: "\u{250c}",
    ]
}
