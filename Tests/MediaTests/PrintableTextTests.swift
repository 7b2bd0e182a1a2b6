import Media
import TestSupport
import Testing

/// What may be shown of a text that comes from a file.
@Suite struct PrintableTextTests {
    /// Any characters, more often those that do harm.
    private func text(_ dice: inout Dice) -> String {
        let harmful: [ClosedRange<UInt32>] = [0...0x1F, 0x7F...0x9F, 0x200B...0x206F, 0x2028...0x2029, 0xE0000...0xE007F, 0x10FF80...0x10FFFF]
        var text = String.UnicodeScalarView()
        for _ in 0..<Int.random(in: 0...24, using: &dice) {
            let range = Bool.random(using: &dice) ? harmful.randomElement(using: &dice)! : 0...0x10FFFF
            if let scalar = Unicode.Scalar(UInt32.random(in: range, using: &dice)) { text.append(scalar) }
        }
        return String(text)
    }

    @Test(arguments: 1...8 as ClosedRange<UInt64>) func `nothing that a terminal obeys is left, and what is printable stays`(seed: UInt64) {
        var dice = Dice(seed: seed)
        for _ in 0..<TestExtent.rounds(2_000, full: 100_000, sanitized: 200) {
            let text = text(&dice), shown = text.printable
            #expect(
                shown.unicodeScalars.allSatisfy { $0.isPrintable && $0.properties.generalCategory != .control }, "\(text.unicodeScalars.map(\.value))"
            )
            #expect(shown.unicodeScalars.count == text.unicodeScalars.count && shown.printable == shown)
            for (before, after) in zip(text.unicodeScalars, shown.unicodeScalars) where before.isPrintable { #expect(before == after) }
            let limit = Int.random(in: 0...40, using: &dice)
            #expect(text.printable(byteLimit: limit).utf8.count <= limit && shown.hasPrefix(text.printable(byteLimit: limit)))
        }
    }

    @Test(arguments: [
        ("Ein Film – 映画 🎬 👩‍👩‍👧", "Ein Film – 映画 🎬 👩‍👩‍👧"), ("a\u{1b}[2Jb", "a�[2Jb"), ("one\ntwo\r\nthree\tfour", "one two  three four"),
        ("\u{9b}31m", "�31m"), ("cba\u{202e}fed", "cba�fed"), ("x\u{7f}\u{0}y", "x��y"), ("می‌خواهم", "می‌خواهم"),
    ])
    func `each kind of character is shown as`(_ text: String, _ shown: String) { #expect(text.printable == shown) }

    @Test(arguments: 1...8 as ClosedRange<UInt64>) func `any path has a text, and the text gives the path back`(seed: UInt64) {
        var dice = Dice(seed: seed)
        for _ in 0..<TestExtent.rounds(2_000, full: 100_000, sanitized: 200) {
            var path: [UInt8] = []
            for _ in 0..<Int.random(in: 0...12, using: &dice) {
                switch Int.random(in: 0..<4, using: &dice) {
                case 0: path.append(UInt8.random(in: 1...255, using: &dice))
                case 1: path += Array("ä映🎬".utf8)
                // The characters that stand for bytes, as somebody's own.
                case 2: path += [0xF4, 0x8F, UInt8.random(in: 0xBE...0xBF, using: &dice), UInt8.random(in: 0x80...0xBF, using: &dice)]
                default: path += Array(text(&dice).utf8)
                }
            }
            path.removeAll { $0 == 0 }
            let text = PathText.text(path)
            #expect(PathText.bytes(text) == path)
            let given: [UInt8] = unsafe text.withPath {
                unsafe Array(UnsafeBufferPointer(start: UnsafePointer<UInt8>(OpaquePointer($0)), count: path.count + 1))
            }
            #expect(given == path + [0])
            if let plain = String(validating: path, as: UTF8.self), !plain.unicodeScalars.contains(where: { $0.value >= 0x10FF80 }) {
                #expect(text == plain)
            }
        }
    }
}
