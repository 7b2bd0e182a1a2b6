internal import Glibc
public import Media

/// A film behind an open descriptor, as a source: a regular file, a pipe or FIFO, a socket, a terminal.
///
/// A regular file is read from its first byte with `pread(2)`, whatever its offset, which does not move. From the others bytes are taken as they
/// come, until the end.
///
/// Thread-safety: as `ByteSource`.
public final class DescriptorBytes: ByteSource, @unchecked Sendable {
    private let descriptor: OwnedFD
    private let wake: EventFD
    private let isFile: Bool
    private let isCancelled = Monitor(false)

    /// Takes a duplicate of `descriptor`: the caller's own stays open, and may be closed at once.
    ///
    /// - Throws: when it is not open for reading, or stands for a folder.
    public init(duplicating descriptor: Int32) throws(SystemError) {
        let flags = fcntl(descriptor, F_GETFL)
        var status = stat()
        guard flags >= 0, unsafe fstat(descriptor, &status) == 0 else { throw SystemError(errno, "read descriptor \(descriptor)") }
        guard flags & O_ACCMODE != O_WRONLY else { throw SystemError(EBADF, "read descriptor \(descriptor)") }
        let kind = status.st_mode & S_IFMT
        if kind == S_IFDIR { throw SystemError(EISDIR, "read descriptor \(descriptor)") }
        isFile = kind == S_IFREG
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
        guard copy >= 0 else { throw SystemError(errno, "duplicate descriptor \(descriptor)") }
        self.descriptor = OwnedFD(adopting: copy)
        wake = try EventFD()
    }

    /// The size of a regular file; nil for everything else.
    public var byteCount: Int64? {
        var status = stat()
        return unsafe isFile && fstat(descriptor.rawValue, &status) == 0 ? Int64(status.st_size) : nil
    }

    /// Whether it is a regular file.
    public var isSeekable: Bool { isFile }

    /// Reads as `pread(2)` does, or waits for what comes next.
    public func read(into target: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int {
        while true {
            if isFile {
                let count = unsafe pread(descriptor.rawValue, target.baseAddress, target.count, Int(offset))
                if count >= 0 { return count }
            } else {
                guard try waitForBytes() else { return 0 }
                let count = unsafe Glibc.read(descriptor.rawValue, target.baseAddress, target.count)
                if count >= 0 { return count }
            }
            guard errno == EINTR || errno == EAGAIN else { throw SystemError(errno, "read") }
        }
    }

    /// False when cancelled.
    private func waitForBytes() throws(SystemError) -> Bool {
        while !isCancelled.withLock({ $0 }) {
            var waiting = [
                PollDescriptor(fd: descriptor.rawValue, interest: .readable), PollDescriptor(fd: wake.rawValue, interest: .readable),
            ]
            if try pollDescriptors(&waiting) > 0, !waiting[0].ready.isEmpty { return true }
        }
        return false
    }

    /// Ends a wait for bytes.
    public func cancel() {
        isCancelled.withLock { $0 = true }
        wake.signal()
    }
}
