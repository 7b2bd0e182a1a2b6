internal import Sandbox

/// Metadata as `gst_meta_serialize` writes it: whole length, length of the name, name, zero, version, content.
extension WireWriter {
    /// Adds a piece of metadata of version 0.
    mutating func put(meta name: String, _ content: [UInt8]) {
        let name = Array(name.utf8)
        put(UInt32(8 + name.count + 2 + content.count))
        put(UInt32(name.count))
        put(bytes: name + [0, 0])
        put(bytes: content)
    }
}

extension WireReader {
    /// The next piece of metadata.
    mutating func takeMeta() throws(WireError) -> (name: String, version: UInt8, content: WireReader) {
        let whole = Int(try take(UInt32.self)), nameLength = Int(try take(UInt32.self))
        guard whole >= 8 + nameLength + 2 else { throw WireError("a piece of metadata is cut short") }
        let name = try take(count: nameLength)
        guard try take(UInt8.self) == 0 else { throw WireError("a piece of metadata has no name") }
        let version = try take(UInt8.self)
        return (String(decoding: name, as: UTF8.self), version, WireReader(try take(count: whole - 8 - nameLength - 2)))
    }
}

extension ExportError {
    /// For a peer's message that cannot be read.
    init(_ error: WireError) { self.init(.malformed, "The peer does not keep to the protocol: \(error).") }
}

/// Cuts a stream of bytes into messages.
struct UnixFDParser: Sendable {
    struct Message: Sendable, Hashable {
        /// Nil for an unknown kind, which is skipped because the protocol may grow.
        var command: UnixFDCommand?
        var payload: [UInt8]
    }

    /// Longest payload that is accepted; a peer that announces more is disconnected before it can fill our memory.
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
