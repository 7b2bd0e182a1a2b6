package import CAV
internal import Glibc

/// The bytes of one compressed sample, shared by all who hold it and never changed.
///
/// It owns a packet of libavformat's, so that nothing is copied between the container and the decoder, and what the packet carries beside its
/// bytes (palettes, new set-up data) goes along. `paddingByteCount` zero bytes follow the last one; bit readers rely on them.
///
/// Thread-safety: all of it; immutable while anyone but its maker holds it (`BlockBufferRecycler`).
@safe
public final class BlockBuffer: @unchecked Sendable {
    /// Zero bytes that must follow a sample (`AV_INPUT_BUFFER_PADDING_SIZE`).
    public static let paddingByteCount = Int(AV_INPUT_BUFFER_PADDING_SIZE)

    /// Borrowed; libavcodec takes a reference of its own.
    package let packet: UnsafeMutablePointer<AVPacket>

    /// Takes over a packet whose bytes are reference-counted.
    package init(moving packet: UnsafeMutablePointer<AVPacket>) { unsafe self.packet = packet }

    /// A copy of `bytes`.
    public init(copying bytes: UnsafeRawBufferPointer) {
        guard let packet = unsafe av_packet_alloc(), unsafe av_new_packet(packet, Int32(bytes.count)) == 0 else {
            preconditionFailure("no memory for \(bytes.count) bytes")
        }
        if let source = bytes.baseAddress { unsafe memcpy(packet.pointee.data, source, bytes.count) }
        unsafe self.packet = packet
    }

    /// The caller's bytes, read in place: nothing is copied, and a decoder may read them on its own threads.
    ///
    /// - Parameters:
    ///   - bytes: The sample and, behind it, `paddingByteCount` bytes that are 0. Valid and unchanged until `onRelease`.
    ///   - onRelease: Called once, on the thread that lets go last, when neither a holder of this buffer nor a decoder reads the bytes.
    public init(lending bytes: UnsafeRawBufferPointer, onRelease: @escaping @Sendable () -> Void) {
        let count = bytes.count - Self.paddingByteCount
        precondition(count > 0 && count <= Int32.max, "a sample has at least one byte before its padding")
        unsafe precondition(bytes[count...].allSatisfy { $0 == 0 }, "the padding behind a sample is 0")
        let data = unsafe UnsafeMutablePointer(mutating: bytes.baseAddress!.assumingMemoryBound(to: UInt8.self))
        let release = unsafe Unmanaged.passRetained(ReleaseNote(onRelease)).toOpaque()
        let free: @convention(c) (UnsafeMutableRawPointer?, UnsafeMutablePointer<UInt8>?) -> Void = { context, _ in
            unsafe Unmanaged<ReleaseNote>.fromOpaque(context!).takeRetainedValue().body()
        }
        guard let packet = unsafe av_packet_alloc(),
            let buffer = unsafe av_buffer_create(data, bytes.count, free, release, AV_BUFFER_FLAG_READONLY)
        else { preconditionFailure("no memory for a sample") }
        unsafe packet.pointee.buf = buffer
        unsafe packet.pointee.data = data
        unsafe packet.pointee.size = Int32(count)
        unsafe self.packet = packet
    }

    private final class ReleaseNote: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    deinit {
        var packet: UnsafeMutablePointer<AVPacket>? = unsafe packet
        unsafe av_packet_free(&packet)
    }

    /// Where libavformat found the bytes in the file; nil when it does not say.
    package var fileOffset: Int64? { unsafe packet.pointee.pos >= 0 ? packet.pointee.pos : nil }

    /// The container has the sample decoded and not shown, as an edit list does.
    package var isHiddenByContainer: Bool { unsafe packet.pointee.flags & AV_PKT_FLAG_DISCARD != 0 }

    /// Bytes.
    public var count: Int { unsafe Int(packet.pointee.size) }

    /// Lends the bytes.
    public func withUnsafeBytes<R: ~Copyable, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
        try unsafe body(UnsafeRawBufferPointer(start: packet.pointee.data, count: count))
    }
}
