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
            let parameters = String(decoding: rest.prefix { (0x20..<0x40).contains($0) }, as: UTF8.self)
            rest = rest.dropFirst(parameters.utf8.count)
            guard let final = rest.popFirst() else { continue }
            // `1;2`: with Shift. The number alone names a key where the letter is `~`.
            let isShifted = parameters == "1;2"
            switch (final, parameters) {
            case (0x41, _): keys.append(isShifted ? .shiftUp : .up)
            case (0x42, _): keys.append(isShifted ? .shiftDown : .down)
            case (0x43, _): keys.append(isShifted ? .shiftRight : .right)
            case (0x44, _): keys.append(isShifted ? .shiftLeft : .left)
            case (0x7e, "5"): keys.append(.pageUp)
            case (0x7e, "6"): keys.append(.pageDown)
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
            code("z"): .z, code("x"): .x, code("p"): .p, code("{"): .leftBrace, code("}"): .rightBrace, code("/"): .slash, code("*"): .asterisk,
        ]
    }()
}
