internal import Sandbox

/// The messages of GStreamer's `unixfdsink` and `unixfdsrc`: a header of eight bytes (kind and length of what follows), the payload,
/// and with the header the descriptors of a buffer's memory. All numbers are little-endian.
///
/// Source: GStreamer 1.24 and later, gst-plugins-bad, `gst/unixfd`.
enum UnixFDCommand: UInt32, Sendable {
    case newBuffer = 0
    case releaseBuffer = 1
    case caps = 2
    case endOfStream = 3
    // These are ours, and go only to who has sent one of them. GStreamer knows none.
    /// From a client: frames of the film with this name from now on. From the server: what follows is of that film.
    case film = 0x5343_0001
    /// From a client: what films there are. From the server: their names, each with a zero at its end.
    case films = 0x5343_0002

    static let headerSize = 8
    /// Bytes of a film's name at most.
    static let nameLimit = 255

    static func message(_ command: UnixFDCommand, payload: [UInt8] = []) -> [UInt8] {
        var bytes = WireWriter()
        bytes.put(command.rawValue)
        bytes.put(UInt32(payload.count))
        return bytes.bytes + payload
    }

    /// The caps as text with a zero at the end.
    static func caps(_ text: String) -> [UInt8] { message(.caps, payload: Array(text.utf8) + [0]) }

    static func film(_ name: String) -> [UInt8] { message(.film, payload: Array(name.utf8)) }

    static func films(_ names: [String]) -> [UInt8] { message(.films, payload: names.flatMap { Array($0.utf8) + [0] }) }

    static func release(_ id: UInt64) -> [UInt8] {
        var payload = WireWriter()
        payload.put(id)
        return message(.releaseBuffer, payload: payload.bytes)
    }
}

/// The payload of NEW_BUFFER.
struct UnixFDBuffer: Sendable, Hashable {
    struct Memory: Sendable, Hashable {
        var size: UInt64
        var offset: UInt64
    }

    /// GStreamer's "no time".
    static let noTime = UInt64.max
    static let memoryLimit = 4
    /// Bytes before the memories.
    static let fixedSize = 56

    /// The sender's number for the buffer, which RELEASE_BUFFER repeats.
    var id: UInt64
    /// CLOCK_MONOTONIC in nanoseconds.
    var pts = noTime
    var dts = noTime
    /// Nanoseconds.
    var duration = noTime
    /// Frame numbers.
    var offset = noTime
    var offsetEnd = noTime
    var flags: UInt32 = 0
    var isDMABuf: Bool
    var memories: [Memory]
    var videoMeta: GStreamerVideoMeta?
    /// The film's own time, which GStreamer carries along as a reference time stamp: nanoseconds.
    var mediaTime: UInt64?
    var mediaDuration = noTime

    var message: [UInt8] {
        var payload = WireWriter()
        for number in [id, pts, dts, duration, offset, offsetEnd] { payload.put(number) }
        payload.put(flags)
        payload.put(UInt8(isDMABuf ? 1 : 0))
        payload.put(UInt8(memories.count))
        payload.put(UInt16((videoMeta == nil ? 0 : 1) + (mediaTime == nil ? 0 : 1)))
        for memory in memories {
            payload.put(memory.size)
            payload.put(memory.offset)
        }
        if let videoMeta { payload.put(meta: GStreamerVideoMeta.name, videoMeta.bytes) }
        if let mediaTime {
            var content = WireWriter()
            content.put(mediaTime)
            content.put(mediaDuration)
            content.put(bytes: Array(Self.mediaTimeCaps.utf8) + [0])
            payload.put(meta: Self.timestampMetaName, content.bytes)
        }
        return UnixFDCommand.message(.newBuffer, payload: payload.bytes)
    }

    static let timestampMetaName = "GstReferenceTimestampMeta"
    static let mediaTimeCaps = "timestamp/x-media"

    init(id: UInt64, isDMABuf: Bool, memories: [Memory]) {
        self.id = id
        self.isDMABuf = isDMABuf
        self.memories = memories
    }

    /// Reads a payload. Unknown metas are skipped, as in GStreamer.
    init(payload: [UInt8]) throws(ExportError) {
        do throws(WireError) { try self.init(WireReader(payload[...])) } catch { throw ExportError(error) }
    }

    private init(_ payload: WireReader) throws(WireError) {
        var reader = payload
        id = try reader.take()
        pts = try reader.take()
        dts = try reader.take()
        duration = try reader.take()
        offset = try reader.take()
        offsetEnd = try reader.take()
        flags = try reader.take()
        let kind = try reader.take(UInt8.self), memoryCount = try reader.take(UInt8.self), metaCount = try reader.take(UInt16.self)
        guard kind <= 1 else { throw WireError("\(kind) is no type of memory") }
        isDMABuf = kind == 1
        memories = []
        for _ in 0..<memoryCount { memories.append(Memory(size: try reader.take(), offset: try reader.take())) }
        for _ in 0..<metaCount {
            var meta = try reader.takeMeta()
            switch meta.name {
            case GStreamerVideoMeta.name where meta.version == 0: videoMeta = try GStreamerVideoMeta(&meta.content)
            case Self.timestampMetaName where meta.version == 0:
                let time = try meta.content.take(UInt64.self), span = try meta.content.take(UInt64.self)
                if meta.content.rest.dropLast().elementsEqual(Self.mediaTimeCaps.utf8) { (mediaTime, mediaDuration) = (time, span) }
            default: break
            }
        }
    }
}

/// Where the planes of a buffer lie, as GStreamer writes it behind a buffer (`GstVideoMeta`, version 0).
struct GStreamerVideoMeta: Sendable, Hashable {
    static let name = "GstVideoMeta"

    var format: Int32
    var width: UInt32
    var height: UInt32
    var offsets: [UInt64]
    var strides: [Int32]

    var bytes: [UInt8] {
        var content = WireWriter()
        content.put(UInt32(0))
        content.put(UInt32(bitPattern: format))
        content.put(width)
        content.put(height)
        content.put(UInt32(offsets.count))
        for offset in offsets { content.put(offset) }
        for stride in strides { content.put(UInt32(bitPattern: stride)) }
        // No alignment: four paddings, and one for each plane.
        for _ in 0..<(4 + offsets.count) { content.put(UInt32(0)) }
        return content.bytes
    }

    init(format: Int32, width: UInt32, height: UInt32, offsets: [UInt64], strides: [Int32]) {
        self.format = format
        self.width = width
        self.height = height
        self.offsets = offsets
        self.strides = strides
    }

    init(_ reader: inout WireReader) throws(WireError) {
        _ = try reader.take(UInt32.self)
        format = try reader.take()
        width = try reader.take()
        height = try reader.take()
        let count = try reader.take(UInt32.self)
        guard count <= 4 else { throw WireError("a frame has \(count) planes") }
        offsets = []
        strides = []
        for _ in 0..<count { offsets.append(try reader.take()) }
        for _ in 0..<count { strides.append(try reader.take()) }
    }
}
