/// Puts little-endian numbers one after the other.
struct ByteWriter: Sendable {
    var bytes: [UInt8] = []

    mutating func put<Number: FixedWidthInteger>(_ number: Number) {
        for index in 0..<(Number.bitWidth / 8) { bytes.append(UInt8(truncatingIfNeeded: number >> (8 * Number(index)))) }
    }

    /// A piece of metadata as `gst_meta_serialize` writes it: whole length, length of the name, name, zero, version 0, content.
    mutating func put(meta name: String, _ content: [UInt8]) {
        let name = Array(name.utf8)
        put(UInt32(8 + name.count + 2 + content.count))
        put(UInt32(name.count))
        bytes += name + [0, 0] + content
    }
}

/// Takes little-endian numbers one after the other, and never what is not there.
struct ByteReader: Sendable {
    private let bytes: ArraySlice<UInt8>
    private var position: Int

    init(_ bytes: [UInt8]) { self.init(bytes[...]) }

    init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        position = bytes.startIndex
    }

    var rest: ArraySlice<UInt8> { bytes[position...] }

    mutating func take(_ count: Int) throws(ExportError) -> ArraySlice<UInt8> {
        guard count >= 0, count <= bytes.endIndex - position else { throw ExportError(.malformed, "The peer sent a message that is cut short.") }
        defer { position += count }
        return bytes[position..<position + count]
    }

    mutating func uint8() throws(ExportError) -> UInt8 { try number() }
    mutating func uint16() throws(ExportError) -> UInt16 { try number() }
    mutating func uint32() throws(ExportError) -> UInt32 { try number() }
    mutating func uint64() throws(ExportError) -> UInt64 { try number() }

    private mutating func number<Number: FixedWidthInteger>() throws(ExportError) -> Number {
        try take(Number.bitWidth / 8).reversed().reduce(0) { $0 << 8 | Number($1) }
    }

    /// The next piece of metadata.
    mutating func meta() throws(ExportError) -> (name: String, version: UInt8, content: ByteReader) {
        let whole = Int(try uint32()), nameLength = Int(try uint32())
        guard whole >= 8 + nameLength + 2 else { throw ExportError(.malformed, "The peer sent metadata that is cut short.") }
        let name = try take(nameLength)
        guard try uint8() == 0 else { throw ExportError(.malformed, "The peer sent metadata without a name.") }
        let version = try uint8()
        return (String(decoding: name, as: UTF8.self), version, ByteReader(try take(whole - 8 - nameLength - 2)))
    }
}

/// Cuts a stream of bytes into messages.
struct UnixFDParser: Sendable {
    struct Message: Sendable, Hashable {
        /// Nil for a kind that is not known: to be passed over, for the protocol may grow.
        var command: UnixFDCommand?
        var payload: [UInt8]
    }

    /// Longest payload that is accepted; a peer that announces more is ended before it can fill our memory.
    let payloadLimit: Int
    private var bytes: [UInt8] = []

    init(payloadLimit: Int) { self.payloadLimit = payloadLimit }

    /// How many bytes complete what has begun: a header's, or its payload's.
    var wanted: Int { UnixFDCommand.headerSize + (payloadSize ?? 0) - bytes.count }

    private var payloadSize: Int? {
        guard bytes.count >= UnixFDCommand.headerSize else { return nil }
        return (4..<8).reversed().reduce(0) { $0 << 8 | Int(bytes[$1]) }
    }

    mutating func append(_ more: some Sequence<UInt8>) { bytes.append(contentsOf: more) }

    /// The next whole message; nil when more bytes are needed.
    mutating func next() throws(ExportError) -> Message? {
        guard let payloadSize else { return nil }
        guard payloadSize <= payloadLimit else {
            throw ExportError(.malformed, "The peer announced a message of \(payloadSize) bytes, more than the \(payloadLimit) allowed.")
        }
        let end = UnixFDCommand.headerSize + payloadSize
        guard bytes.count >= end else { return nil }
        let kind = (0..<4).reversed().reduce(UInt32(0)) { $0 << 8 | UInt32(bytes[$1]) }
        defer { bytes.removeFirst(end) }
        return Message(command: UnixFDCommand(rawValue: kind), payload: Array(bytes[UnixFDCommand.headerSize..<end]))
    }
}
