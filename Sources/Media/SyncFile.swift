internal import CLinux
internal import Glibc

/// The right to wait for work on a piece of memory to end: a kernel fence (`sync_file`), held by its descriptor.
///
/// Thread-safety: a value with one owner; its borrowing members may be called from any thread.
/// Source: Linux `sync_file.h`, "Explicit Fencing".
public struct SyncFile: ~Copyable, Sendable {
    private let fd: OwnedFD

    /// Takes over a descriptor of a `sync_file`.
    public init(adopting fd: consuming OwnedFD) { self.fd = fd }

    /// Borrowed; readable once the fence has signalled.
    public borrowing func rawValue() -> Int32 { fd.rawValue }

    /// Whether the work is done. Never blocks.
    public var isSignalled: Bool { wait(until: .distantPast) }

    /// Sleeps until the work is done, or `deadline` (CLOCK_MONOTONIC; nil waits for ever) has passed. True when done.
    public borrowing func wait(until deadline: HostTime?) -> Bool {
        var descriptors = [PollDescriptor(fd: fd.rawValue, interest: .readable)]
        return (try? pollDescriptors(&descriptors, until: deadline)) == 1
    }

    /// A fence that signals when both have. The corresponding ioctl is `SYNC_IOC_MERGE`.
    public borrowing func merged(with other: borrowing SyncFile) throws(SystemError) -> SyncFile {
        let merged = clinux_sync_file_merge(fd.rawValue, other.fd.rawValue)
        guard merged >= 0 else { throw SystemError(errno, "merge two fences") }
        return SyncFile(adopting: OwnedFD(adopting: merged))
    }

    /// A second owner of the same fence (`F_DUPFD_CLOEXEC`). Throws when the process has no descriptor left.
    public borrowing func duplicate() throws(SystemError) -> SyncFile { SyncFile(adopting: try fd.duplicate()) }

    /// Gives up the descriptor to the caller, who must close it.
    public consuming func take() -> OwnedFD { fd }
}

/// Synchronises access to memory that devices share (a DMA-BUF).
///
/// Each function borrows the DMA-BUF's descriptor. Thread-safety: any thread. Source: Linux `dma-buf.h`.
public enum DMABuf {
    /// Whether the memory is read, written or both. The raw values are `DMA_BUF_SYNC_READ`, `…_WRITE` and `…_RW`.
    public enum Access: Int32, Sendable { case read = 1, write = 2, readWrite = 3 }

    /// Opens a stretch of CPU access: waits for devices and makes their writes visible (`DMA_BUF_IOCTL_SYNC`).
    public static func beginCPUAccess(_ fd: Int32, _ access: Access) throws(SystemError) {
        guard clinux_dmabuf_sync(fd, 1, access.rawValue) == 0 else { throw SystemError(errno, "begin CPU access to a DMA-BUF") }
    }

    /// Ends the stretch opened with the same `access`: makes the CPU's writes visible to devices.
    public static func endCPUAccess(_ fd: Int32, _ access: Access) throws(SystemError) {
        guard clinux_dmabuf_sync(fd, 0, access.rawValue) == 0 else { throw SystemError(errno, "end CPU access to a DMA-BUF") }
    }

    /// The fences that an access of this kind has to wait for, as one (`DMA_BUF_IOCTL_EXPORT_SYNC_FILE`, Linux 6.0).
    public static func exportSyncFile(_ fd: Int32, for access: Access) throws(SystemError) -> SyncFile {
        let fence = clinux_dmabuf_export_sync_file(fd, access.rawValue)
        guard fence >= 0 else { throw SystemError(errno, "export the fences of a DMA-BUF") }
        return SyncFile(adopting: OwnedFD(adopting: fence))
    }

    /// Makes all users of implicit fences wait for `fence` as for an access of this kind (`DMA_BUF_IOCTL_IMPORT_SYNC_FILE`, Linux 6.0).
    public static func importSyncFile(_ fd: Int32, _ fence: borrowing SyncFile, as access: Access) throws(SystemError) {
        guard clinux_dmabuf_import_sync_file(fd, fence.rawValue(), access.rawValue) == 0 else {
            throw SystemError(errno, "add a fence to a DMA-BUF")
        }
    }
}
