/// The text of a path whose bytes need not be UTF-8. The kernel allows any bytes but zero in a name; a `String` allows none that are not UTF-8.
///
/// A byte that belongs to no character becomes a character of its own, `U+10FF00` plus the byte, in a range for private use. `bytes` turns it back,
/// so that the file can be opened. `printable` shows it as `�`.
package enum PathText {
    private static let escapes: ClosedRange<UInt32> = 0x10FF80...0x10FFFF
    private static let escapeBase: UInt32 = 0x10FF00

    /// The text for a path's bytes. Two different paths have different texts.
    package static func text(_ path: some Sequence<UInt8>) -> String {
        let bytes = Array(path)
        var text = String.UnicodeScalarView(), parser = Unicode.UTF8.ForwardParser(), iterator = bytes.makeIterator(), index = 0
        while true {
            let length: Int
            switch parser.parseScalar(from: &iterator) {
            case .emptyInput: return String(text)
            case .error(let count): length = count
            case .valid(let encoded):
                let scalar = Unicode.UTF8.decode(encoded)
                if !escapes.contains(scalar.value) {
                    text.append(scalar)
                    index += encoded.count
                    continue
                }
                length = encoded.count
            }
            for byte in bytes[index..<(index + length)] { text.append(escape(byte)) }
            index += length
        }
    }

    private static func escape(_ byte: UInt8) -> Unicode.Scalar { Unicode.Scalar(escapeBase + UInt32(byte)) ?? "\u{fffd}" }

    /// The path's bytes.
    package static func bytes(_ text: String) -> [UInt8] {
        var bytes: [UInt8] = []
        for scalar in text.unicodeScalars {
            if escapes.contains(scalar.value) {
                bytes.append(UInt8(truncatingIfNeeded: scalar.value))
            } else {
                bytes.append(contentsOf: String(scalar).utf8)
            }
        }
        return bytes
    }
}

extension String {
    /// Calls `body` with the path that this text stands for, for a C function that takes a path.
    package func withPath<R, E: Error>(_ body: (UnsafePointer<CChar>) throws(E) -> R) throws(E) -> R {
        // Every character that stands for a byte begins with this one.
        let bytes = utf8.contains(0xF4) ? PathText.bytes(self) : Array(utf8)
        let path = bytes.map { CChar(bitPattern: $0) } + [0]
        let result = unsafe path.withUnsafeBufferPointer { buffer -> Result<R, E> in
            do throws(E) { return .success(try unsafe body(buffer.baseAddress!)) } catch { return .failure(error) }
        }
        return try result.get()
    }
}
