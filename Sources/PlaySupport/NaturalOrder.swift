internal import Media

/// The order in which people number files: `film 2` before `film 10`, whatever the case of letters. As `ls -v` and mpv sort.
enum NaturalOrder {
    static func precedes(_ first: String, _ second: String) -> Bool {
        let one = PathText.bytes(first), other = PathText.bytes(second)
        var left = one[...], right = other[...]
        while let a = left.first, let b = right.first {
            if isDigit(a), isDigit(b) {
                let (m, n) = (number(&left), number(&right))
                if m.count != n.count { return m.count < n.count }
                if m != n { return m.lexicographicallyPrecedes(n) }
            } else {
                let (x, y) = (lower(a), lower(b))
                if x != y { return x < y }
                left.removeFirst()
                right.removeFirst()
            }
        }
        if left.isEmpty != right.isEmpty { return left.isEmpty }
        return one.lexicographicallyPrecedes(other)
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
    private static func lower(_ byte: UInt8) -> UInt8 { (0x41...0x5a).contains(byte) ? byte + 0x20 : byte }

    /// Takes the digits at the front, without leading zeros.
    private static func number(_ bytes: inout ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let digits = bytes.prefix(while: isDigit)
        bytes = bytes[digits.endIndex...]
        return digits.drop { $0 == 0x30 }
    }
}
