internal import CAV
internal import Media
internal import SampleQueue
internal import Sandbox

/// Samples whose bytes lie where the player wrote them.
extension DecoderService {
    /// Keeps the memory of a sample's bytes until libavcodec no longer uses them.
    private final class Bytes: Sendable {
        let memory: SharedBytes
        let number: UInt32
        let service: DecoderService?

        /// - Parameter service: Is notified at the end; nil for memory of the sample's own.
        init(memory: SharedBytes, number: UInt32, service: DecoderService?) {
            self.memory = memory
            self.number = number
            self.service = service
        }

        deinit { service?.shared.withLock { $0.freed.append(number) } }
    }

    /// A sample whose bytes libavcodec reads where the player wrote them.
    func sampleBuffer(_ sample: SampleDescriptor, own: SharedBytes?, _ decoding: Decoding) throws -> SampleBuffer {
        let memory = own ?? decoding.ring
        let count = Int(sample.byteCount), sides = Int(sample.sideByteCount), padding = Int(AV_INPUT_BUFFER_PADDING_SIZE)
        guard sample.offset <= UInt64(memory.count), count + padding + sides <= memory.count - Int(sample.offset),
            let packet = unsafe av_packet_alloc()
        else { throw Ending.connection }
        let start = unsafe memory.base + Int(sample.offset)
        let bytes = Bytes(memory: memory, number: sample.number, service: own == nil ? self : nil)
        unsafe packet.pointee.buf = av_buffer_create(
            start.assumingMemoryBound(to: UInt8.self), count + padding,
            { opaque, _ in unsafe Unmanaged<Bytes>.fromOpaque(opaque!).release() },
            Unmanaged.passRetained(bytes).toOpaque(), AV_BUFFER_FLAG_READONLY)
        unsafe packet.pointee.data = start.assumingMemoryBound(to: UInt8.self)
        unsafe packet.pointee.size = Int32(count)
        unsafe packet.pointee.flags = sample.packetFlags
        let block = unsafe BlockBuffer(moving: packet)
        guard unsafe packet.pointee.buf != nil,
            unsafe SideData.add(UnsafeRawBufferPointer(start: start + count + padding, count: sides), to: packet)
        else { throw Ending.connection }
        var buffer = SampleBuffer(
            content: .compressed(block, .video(decoding.format)), presentationTime: sample.presentationTime,
            decodeTime: sample.decodeTime, duration: sample.duration, flags: sample.flags)
        buffer.sourcePresentationTimestamp = sample.sourcePresentationTimestamp
        buffer.sourceDecodeTimestamp = sample.sourceDecodeTimestamp
        buffer.sourceTimeBase = sample.sourceTimeBase
        return buffer
    }
}
