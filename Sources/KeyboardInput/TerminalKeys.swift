package import DisplaySink

/// Translates what a terminal sends into the player's keys (ECMA-48, xterm and the Linux console).
package enum TerminalKeys {
    /// The keys in the bytes of one `read`. An escape byte without a sequence after it is the Escape key.
    package static func keys(_ bytes: some Collection<UInt8>) -> [PlayerKey] {
        var keys: [PlayerKey] = [], rest = Array(bytes)[...]
        while let byte = rest.popFirst() {
            guard byte == 0x1b else {
                if let key = plain[byte] { keys.append(key) }
                continue
            }
            guard let next = rest.first, next == 0x5b || next == 0x4f else {
                keys.append(.escape)
                continue
            }
            rest.removeFirst()
            // Function keys of the Linux console: a second bracket and a letter.
            if rest.first == 0x5b { rest.removeFirst() }
            while let parameter = rest.first, (0x20..<0x40).contains(parameter) { rest.removeFirst() }
            guard let final = rest.popFirst() else { continue }
            switch final {
            case 0x41: keys.append(.up)
            case 0x42: keys.append(.down)
            case 0x43: keys.append(.right)
            case 0x44: keys.append(.left)
            default: break
            }
        }
        return keys
    }

    private static let plain: [UInt8: PlayerKey] = {
        func code(_ character: Character) -> UInt8 { character.asciiValue! }
        return [
            code(" "): .space, code("q"): .q, code("Q"): .q, code("f"): .f, code("F"): .f, code("o"): .o, code(","): .comma, code("."): .period,
            code("m"): .m,
            code("M"): .m, code("9"): .nine, code("0"): .zero, code("["): .leftBracket, code("]"): .rightBracket, 0x7f: .backspace, 8: .backspace,
            0x0a: .enter, 0x0d: .enter, code(">"): .greater, code("<"): .less, code("j"): .j, code("J"): .capitalJ, code("v"): .v,
            code("z"): .z, code("x"): .x,
        ]
    }()
}
