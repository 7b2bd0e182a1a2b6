internal import CAVFormat

/// An `AVIOContext` that asks us for its bytes, and its buffer; freed with this (`avio_alloc_context`).
@safe
final class InputContext {
    typealias Read = @convention(c) (UnsafeMutableRawPointer?, UnsafeMutablePointer<UInt8>?, Int32) -> Int32
    typealias Seek = @convention(c) (UnsafeMutableRawPointer?, Int64, Int32) -> Int64

    private(set) var io: UnsafeMutablePointer<AVIOContext>?

    /// nil when there is no memory.
    ///
    /// - Parameters:
    ///   - reader: given to `read` and `seek`; it must outlive this.
    ///   - seek: nil for what cannot go back.
    init?(asking reader: AnyObject, bufferBytes: Int, read: Read, seek: Seek?) {
        unsafe io = nil
        guard let buffer = unsafe av_malloc(bufferBytes) else { return nil }
        unsafe io = avio_alloc_context(
            buffer.assumingMemoryBound(to: UInt8.self), Int32(bufferBytes), 0, Unmanaged.passUnretained(reader).toOpaque(), read, nil, seek)
        if unsafe io != nil { return }
        unsafe av_free(buffer)
        return nil
    }

    deinit {
        guard let io = unsafe io else { return }
        unsafe av_free(io.pointee.buffer)
        unsafe avio_context_free(&self.io)
    }
}
