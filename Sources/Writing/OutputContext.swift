internal import CAVFormat
internal import Glibc
internal import Media

/// Writes libavformat's bytes to a descriptor, and remembers why that failed (`avio_alloc_context`).
@safe
final class OutputContext {
    private(set) var io: UnsafeMutablePointer<AVIOContext>?
    private let descriptor: Int32
    /// The error number of the first write that failed; 0: none did.
    private(set) var failure: Int32 = 0

    /// 256 KiB a write.
    private static let bufferBytes = 262_144

    /// nil when there is no memory.
    /// - Parameter descriptor: Of a file, which outlives this.
    init?(_ descriptor: Int32) {
        self.descriptor = descriptor
        unsafe io = nil
        guard let buffer = unsafe av_malloc(Self.bufferBytes) else { return nil }
        unsafe io = cav_output_new(
            buffer.assumingMemoryBound(to: UInt8.self), Int32(Self.bufferBytes), Unmanaged.passUnretained(self).toOpaque(),
            { unsafe Unmanaged<OutputContext>.fromOpaque($0!).takeUnretainedValue().write(UnsafeRawBufferPointer(start: $1, count: Int($2))) },
            { unsafe Unmanaged<OutputContext>.fromOpaque($0!).takeUnretainedValue().seek($1, $2) })
        if unsafe io != nil { return }
        unsafe av_free(buffer)
        return nil
    }

    deinit {
        guard let io = unsafe io else { return }
        unsafe av_free(io.pointee.buffer)
        unsafe avio_context_free(&self.io)
    }

    /// Bytes in the file; nil when the system does not say.
    var byteCount: Int64? {
        var status = stat()
        return unsafe fstat(descriptor, &status) == 0 ? Int64(status.st_size) : nil
    }

    /// Hands the file what waits in the buffer.
    func flush() { unsafe avio_flush(io) }

    /// Goes on behind the last byte, after others have been written beside libavformat.
    func goToEnd() { unsafe avio_seek(io, byteCount ?? 0, SEEK_SET) }

    private func write(_ bytes: UnsafeRawBufferPointer) -> Int32 {
        guard failure == 0 else { return cav_error(failure) }
        do throws(SystemError) { try unsafe writeWhole(bytes, to: descriptor) } catch {
            failure = error.code
            return cav_error(failure)
        }
        return Int32(clamping: bytes.count)
    }

    private func seek(_ offset: Int64, _ whence: Int32) -> Int64 {
        if whence & AVSEEK_SIZE != 0 {
            return byteCount ?? Int64(cav_error(errno))
        }
        let reached = lseek(descriptor, off_t(offset), whence & ~AVSEEK_FORCE)
        guard reached >= 0 else { return Int64(cav_error(errno)) }
        return Int64(reached)
    }
}
