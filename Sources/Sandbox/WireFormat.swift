/// Why a message is malformed.
package struct WireError: Error, Sendable, Hashable, CustomStringConvertible {
    package let description: String
    package init(_ description: String) { self.description = description }
}

/// Writes the fields of one message, little-endian, one after the other without padding.
package struct WireWriter: Sendable {
    /// Bytes. Messages are small: large data lie in shared memory.
    package static let capacity = 4096

    package private(set) var bytes: [UInt8] = []

    package init() { bytes.reserveCapacity(256) }

    /// Begins the next message in the same memory.
    package mutating func reset() { bytes.removeAll(keepingCapacity: true) }

    /// Writes a number of at most 64 bits.
    @inlinable package mutating func put<Value: FixedWidthInteger>(_ value: Value) { put(UInt64(truncatingIfNeeded: value), Value.bitWidth / 8) }

    /// Writes the lowest `count` bytes, at most 8. Not generic: the `put` above is inlined into other modules as a call of this.
    @usableFromInline package mutating func put(_ bits: UInt64, _ count: Int) {
        unsafe withUnsafeBytes(of: bits.littleEndian) { unsafe bytes.append(contentsOf: $0[..<count]) }
    }

    package mutating func put(bytes more: some Sequence<UInt8>) { bytes.append(contentsOf: more) }

    package mutating func put(_ value: Bool) { bytes.append(value ? 1 : 0) }

    /// At most 1000 bytes of it, cut between characters.
    package mutating func put(_ text: String) {
        var kept = text
        while kept.utf8.count > WireReader.longestText { kept.removeLast() }
        put(UInt16(kept.utf8.count))
        bytes.append(contentsOf: kept.utf8)
    }

    package mutating func put<Value: FixedWidthInteger>(_ value: Value?) {
        put(value != nil)
        put(value ?? 0)
    }

    package mutating func put(_ text: String?) {
        put(text != nil)
        put(text ?? "")
    }

    /// A text from a film, without its control characters, which the reader would refuse.
    package mutating func put(clean text: String) {
        var kept = String.UnicodeScalarView()
        kept.append(contentsOf: text.unicodeScalars.lazy.filter { $0.properties.generalCategory != .control }.prefix(WireReader.longestText))
        put(String(kept))
    }

    package mutating func put(clean text: String?) {
        put(text != nil)
        put(clean: text ?? "")
    }
}

/// Reads the fields of one message from a sender that is not trusted: every step may fail, none reads past the end.
package struct WireReader: Sendable {
    package static let longestText = 1000

    private let bytes: ArraySlice<UInt8>
    private var position: Int

    package init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        position = bytes.startIndex
    }

    /// Takes a number of at most 64 bits.
    @inlinable package mutating func take<Value: FixedWidthInteger>(_ type: Value.Type = Value.self) throws(WireError) -> Value {
        Value(truncatingIfNeeded: try takeBits(Value.bitWidth / 8))
    }

    /// Takes a number of `size` bytes, at most 8.
    @usableFromInline package mutating func takeBits(_ size: Int) throws(WireError) -> UInt64 {
        guard bytes.endIndex - position >= size else { throw WireError("a message is too short") }
        var value: UInt64 = 0
        for index in 0..<size { value |= UInt64(bytes[position + index]) << (8 * index) }
        position += size
        return value
    }

    package mutating func take(count: Int) throws(WireError) -> ArraySlice<UInt8> {
        guard count >= 0, bytes.endIndex - position >= count else { throw WireError("a message is too short") }
        defer { position += count }
        return bytes[position..<position + count]
    }

    /// The bytes that have not been taken.
    package var rest: ArraySlice<UInt8> { bytes[position...] }

    package mutating func takeBool() throws(WireError) -> Bool {
        switch try take(UInt8.self) {
        case 0: return false
        case 1: return true
        case let other: throw WireError("\(other) is neither yes nor no")
        }
    }

    package mutating func takeOptional<Value: FixedWidthInteger>(_ type: Value.Type = Value.self) throws(WireError) -> Value? {
        let isThere = try takeBool()
        let value = try take(type)
        return isThere ? value : nil
    }

    /// UTF-8 without control characters, so that untrusted text can be shown in a terminal.
    package mutating func takeText() throws(WireError) -> String {
        let count = Int(try take(UInt16.self))
        guard count <= Self.longestText, bytes.endIndex - position >= count else { throw WireError("a text is longer than its message") }
        defer { position += count }
        guard let text = String(validating: bytes[position..<position + count], as: UTF8.self) else {
            throw WireError("a text is not UTF-8")
        }
        guard text.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control }) else {
            throw WireError("a text has control characters")
        }
        return text
    }

    package mutating func takeOptionalText() throws(WireError) -> String? {
        let isThere = try takeBool()
        let text = try takeText()
        return isThere ? text : nil
    }

    /// A number below `limit`.
    package mutating func takeCount(below limit: Int) throws(WireError) -> Int {
        let value = Int(try take(UInt32.self))
        guard value < limit else { throw WireError("\(value) is not below \(limit)") }
        return value
    }

    package var isAtEnd: Bool { position == bytes.endIndex }

    /// Nothing may follow the last field.
    package func finish() throws(WireError) {
        guard isAtEnd else { throw WireError("a message is too long") }
    }
}
