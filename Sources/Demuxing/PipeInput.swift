internal import CAV
internal import CAVFormat
internal import Glibc
internal import Media

/// Reads standard input, pipes and FIFOs for libavformat in a way that can be cancelled: its own reading of a pipe blocks until bytes come.
///
/// A file redirected to standard input can be sought in, as when it is opened by name. Belongs to one `AssetReader`, which must outlive
/// the format context that uses it.
@safe
final class PipeInput: AssetInput {
    private let descriptor: OwnedFD
    private let isFile: Bool
    private let cancellation: AssetCancellation
    private var context: InputContext?
    var io: UnsafeMutablePointer<AVIOContext>? { unsafe context?.io }

    /// What has been read is gone.
    var canBegin: Bool { false }

    /// 32 KiB, libavformat's own size for files.
    private static let bufferBytes = 32_768
    /// Milliseconds between looks at the cancellation: soon enough for a person.
    private static let patience: Int32 = 50

    /// nil when there is no memory.
    init?(_ descriptor: consuming OwnedFD, cancellation: AssetCancellation) {
        var status = stat()
        isFile = unsafe fstat(descriptor.rawValue, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        self.descriptor = descriptor
        self.cancellation = cancellation
        context = unsafe InputContext(
            asking: self, bufferBytes: Self.bufferBytes,
            read: { unsafe Unmanaged<PipeInput>.fromOpaque($0!).takeUnretainedValue().read($1!, $2) },
            seek: isFile ? { unsafe Unmanaged<PipeInput>.fromOpaque($0!).takeUnretainedValue().seek($1, $2) } : nil)
        guard context != nil else { return nil }
    }

    private func read(_ bytes: UnsafeMutablePointer<UInt8>, _ count: Int32) -> Int32 {
        while true {
            if cancellation.isCancelled { return cav_error_exit }
            var wait = pollfd(fd: descriptor.rawValue, events: Int16(POLLIN), revents: 0)
            let ready = unsafe poll(&wait, 1, Self.patience)
            if ready == 0 || (ready < 0 && errno == EINTR) { continue }
            let got = unsafe Glibc.read(descriptor.rawValue, bytes, Int(count))
            if got > 0 { return Int32(got) }
            if got == 0 { return cav_error_eof }
            if errno != EINTR, errno != EAGAIN { return cav_error(errno) }
        }
    }

    private func seek(_ offset: Int64, _ whence: Int32) -> Int64 {
        if whence & AVSEEK_SIZE != 0 {
            var status = stat()
            return unsafe fstat(descriptor.rawValue, &status) == 0 ? Int64(status.st_size) : Int64(cav_error(errno))
        }
        let position = lseek(descriptor.rawValue, Int(offset), whence & ~AVSEEK_FORCE)
        return position < 0 ? Int64(cav_error(errno)) : Int64(position)
    }
}
