package import CAV
internal import Glibc

/// The bytes of one compressed sample, shared by all who hold it and never changed.
///
/// It owns a packet of libavformat's, so that nothing is copied on the way from the container to the decoder and what the packet carries
/// beside its bytes (palettes, new set-up data) travels along. 64 zero bytes follow the last, which bit readers rely on.
///
/// Thread-safety: all of it; immutable while anyone but its maker holds it (`BlockBufferRecycler`).
@safe
public final class BlockBuffer: @unchecked Sendable {
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

    deinit {
        var packet: UnsafeMutablePointer<AVPacket>? = unsafe packet
        unsafe av_packet_free(&packet)
    }

    /// Bytes.
    public var count: Int { unsafe Int(packet.pointee.size) }

    /// Lends the bytes.
    public func withUnsafeBytes<R: ~Copyable, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
        try unsafe body(UnsafeRawBufferPointer(start: packet.pointee.data, count: count))
    }
}
