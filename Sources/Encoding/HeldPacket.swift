internal import CAV
internal import SampleQueue

/// An encoder's packet before anyone else has it: what stands beside its bytes may still be changed.
///
/// Thread-safety: one thread at a time until `block` is handed on.
@safe
struct HeldPacket {
    let block: BlockBuffer

    /// Takes the packet over.
    init(_ packet: UnsafeMutablePointer<AVPacket>) { block = unsafe BlockBuffer(moving: packet) }

    private var packet: UnsafeMutablePointer<AVPacket> { unsafe block.packet }

    var byteCount: Int { block.count }
    /// The number of its first frame of sound.
    var position: Int64 { unsafe packet.pointee.pts }
    /// Frames of sound; 0 where the encoder does not say.
    var frameCount: Int64 { unsafe packet.pointee.duration }

    /// Set-up data that replaces what the encoder said when it was opened.
    var newConfiguration: [UInt8]? {
        var count = 0
        guard let bytes = unsafe av_packet_get_side_data(packet, AV_PKT_DATA_NEW_EXTRADATA, &count) else { return nil }
        return unsafe Array(UnsafeBufferPointer(start: bytes, count: count))
    }

    /// Muxers put it where the film's head is.
    func setNewConfiguration(_ bytes: [UInt8]) {
        guard let place = unsafe av_packet_new_side_data(packet, AV_PKT_DATA_NEW_EXTRADATA, bytes.count) else { return }
        for (index, byte) in bytes.enumerated() { unsafe place[index] = byte }
    }

    /// Marks silence before the first sound.
    func skip(first count: Int32) { setMark(UInt32(count), at: 0) }

    /// Marks what fills the last sample up.
    func skip(last count: UInt32) { setMark(count, at: 4) }

    /// Bytes of `AV_PKT_DATA_SKIP_SAMPLES`: two numbers and two reasons.
    private static let markByteCount = 10

    private func setMark(_ count: UInt32, at offset: Int) {
        var size = 0
        var place = unsafe av_packet_get_side_data(packet, AV_PKT_DATA_SKIP_SAMPLES, &size)
        if unsafe place == nil || size < Self.markByteCount {
            unsafe place = unsafe av_packet_new_side_data(packet, AV_PKT_DATA_SKIP_SAMPLES, Self.markByteCount)
            for index in 0..<Self.markByteCount { unsafe place?[index] = 0 }
        }
        for index in 0..<4 { unsafe place?[offset + index] = UInt8(truncatingIfNeeded: count >> UInt32(8 * index)) }
    }
}
