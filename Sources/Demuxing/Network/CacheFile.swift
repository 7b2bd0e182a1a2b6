internal import Glibc
internal import Media

/// A file for the bytes of a film that came over the network. It has no name, so that it is gone when the program ends, however it ends.
///
/// Each byte stands at its place in the film; what has not come is a hole that takes no room. The corresponding C function is `open(2)` with
/// `O_TMPFILE`; where the file system has no such files, the file's name is removed at once.
///
/// Thread-safety: all of it.
final class CacheFile: Sendable {
    private let file: OwnedFD
    private let written = Monitor(Int64(0))

    /// Creates the file in `folder`.
    init(in folder: String) throws(SystemError) {
        var number = unsafe folder.withPath { unsafe open($0, __O_TMPFILE | O_DIRECTORY | O_RDWR | O_CLOEXEC, 0o600) }
        // EISDIR: so a kernel answers that does not know O_TMPFILE; EOPNOTSUPP: FAT, NFS and others.
        if number < 0, errno == EOPNOTSUPP || errno == EISDIR {
            let name = "\(folder)/scanout-cache-\(getpid())-\(UInt64.random(in: .min ... .max))"
            number = unsafe name.withPath { unsafe open($0, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600) }
            if number >= 0 { _ = unsafe name.withPath { unsafe unlink($0) } }
        }
        guard number >= 0 else { throw SystemError(errno, "create a file in \(folder)") }
        file = OwnedFD(adopting: number)
    }

    /// Writes bytes at their place in the film.
    /// - Throws: when the disk is full; then none of them count.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(SystemError) {
        if isRoomDue(bytes.count), !hasRoom { throw SystemError(ENOSPC, Self.action) }
        var done = 0
        while done < bytes.count {
            let count = unsafe pwrite(file.rawValue, bytes.baseAddress! + done, bytes.count - done, off_t(offset) + done)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw SystemError(count == 0 ? ENOSPC : errno, Self.action) }
            done += count
        }
    }

    /// Reads some of the bytes that were written at `offset`, at least one.
    func read(into target: UnsafeMutableRawBufferPointer, at offset: Int64) throws(SystemError) -> Int {
        while true {
            let count = unsafe pread(file.rawValue, target.baseAddress, target.count, off_t(offset))
            if count > 0 { return count }
            if count == 0 || errno != EINTR { throw SystemError(count == 0 ? EIO : errno, "read what was kept on disk") }
        }
    }

    private static let action = "keep more of it on disk"

    // MARK: Room for others

    /// What stays free for other programs: a twentieth of the file system, at most 1 GiB.
    static func reserve(of total: UInt64) -> UInt64 { min(total / 20, 1 << 30) }

    /// How much is written between two looks at how much is free: 1 MiB.
    private static let interval: Int64 = 1 << 20

    /// Whether it is time to look: before the first byte, and after each interval.
    private func isRoomDue(_ count: Int) -> Bool {
        written.withLock { written in
            let before = written
            written += Int64(count)
            return before == 0 || before / Self.interval != written / Self.interval
        }
    }

    private var hasRoom: Bool {
        var status = statvfs()
        guard unsafe fstatvfs(file.rawValue, &status) == 0 else { return true }
        let unit = UInt64(status.f_frsize)
        return UInt64(status.f_bavail) * unit > Self.reserve(of: UInt64(status.f_blocks) * unit)
    }
}
