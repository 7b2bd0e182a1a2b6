internal import Glibc
internal import Media

/// A descriptor of a surface's memory as other processes get it: open for reading only, so that a client that maps it for writing, or writes to it,
/// is refused. It is opened when it is first asked for, and closed with its owner.
///
/// A memfd is opened again through `/proc/self/fd`. The kernel has no such way for a DMA-BUF, nor without `/proc`: then the descriptor itself is
/// lent, and clients are trusted not to write. A process of the same user that wants to write can open the memory again by itself.
///
/// Thread-safety: all of it.
struct ReadOnlyDescriptor: ~Copyable, Sendable {
    private let opened = Monitor<OwnedFD?>(nil)

    /// The descriptor, lent until the end of this value.
    /// - Parameter writable: The memory's own, always the same one; it is given back where it cannot be opened again.
    func descriptor(for writable: Int32) -> Int32 {
        opened.withLock { opened in
            switch opened {
            case .some(let opened): return opened.rawValue
            case .none: break
            }
            let number = unsafe open("/proc/self/fd/\(writable)", O_RDONLY | O_CLOEXEC)
            guard number >= 0 else { return writable }
            opened = .some(OwnedFD(adopting: number))
            return number
        }
    }
}
