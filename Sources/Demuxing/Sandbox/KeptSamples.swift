internal import CAV
internal import Media
internal import SampleQueue

/// What the samples of a demuxer process take of the player's memory: all that were read and that somebody still holds.
///
/// Thread-safety: all of it.
final class KeptSamples: Sendable {
    private let byteCount = Monitor(0)
    private let limit: Int

    /// - Parameter limit: 1 GB: four of the largest samples. The player's queues hold 64 MB.
    init(limit: Int = 1 << 30) { self.limit = limit }

    /// Bytes.
    var used: Int { byteCount.withLock { $0 } }

    /// What a sample takes besides its bytes.
    static let overhead = 1024

    /// Memory for a sample, which counts until nobody holds it. nil when there would be too much, or the system has none.
    func makePacket(byteCount count: Int, sideByteCount: Int) -> UnsafeMutablePointer<AVPacket>? {
        let size = count + BlockBuffer.paddingByteCount, cost = size + sideByteCount + Self.overhead
        let isWithin = byteCount.withLock { used in
            guard used + cost <= limit else { return false }
            used += cost
            return true
        }
        guard isWithin else { return nil }
        let charge = unsafe Unmanaged.passRetained(Charge(self, cost))
        let free: @convention(c) (UnsafeMutableRawPointer?, UnsafeMutablePointer<UInt8>?) -> Void = { context, bytes in
            unsafe av_free(bytes)
            unsafe Unmanaged<Charge>.fromOpaque(context!).release()
        }
        guard let memory = unsafe av_malloc(size) else {
            unsafe charge.release()
            return nil
        }
        let bytes = unsafe memory.assumingMemoryBound(to: UInt8.self)
        guard let buffer = unsafe av_buffer_create(bytes, size, free, charge.toOpaque(), 0) else {
            unsafe av_free(memory)
            unsafe charge.release()
            return nil
        }
        guard let packet = unsafe av_packet_alloc() else {
            var buffer: UnsafeMutablePointer<AVBufferRef>? = unsafe buffer
            unsafe av_buffer_unref(&buffer)
            return nil
        }
        unsafe (memory + count).initializeMemory(as: UInt8.self, repeating: 0, count: BlockBuffer.paddingByteCount)
        unsafe packet.pointee.buf = buffer
        unsafe packet.pointee.data = bytes
        unsafe packet.pointee.size = Int32(count)
        return unsafe packet
    }

    private final class Charge: Sendable {
        let kept: KeptSamples
        let byteCount: Int

        init(_ kept: KeptSamples, _ byteCount: Int) {
            self.kept = kept
            self.byteCount = byteCount
        }

        deinit { kept.byteCount.withLock { $0 -= byteCount } }
    }
}
