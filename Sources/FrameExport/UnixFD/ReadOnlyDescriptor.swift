internal import Glibc
internal import Media

/// A descriptor of a frame's memory as other processes get it: open for reading only, so that a client that maps it for writing, or writes to it,
/// is refused.
///
/// A memfd is opened again through `/proc/self/fd`. The kernel has no such way for a DMA-BUF, nor without `/proc`: then the descriptor itself is
/// lent, and clients are trusted not to write. A process of the same user that wants to write can open the memory again by itself.
enum ReadOnlyDescriptor {
    /// Calls `body` with the descriptor, lent.
    static func with<R>(_ descriptor: Int32, isDMABuf: Bool, _ body: (Int32) -> R) -> R {
        guard !isDMABuf else { return body(descriptor) }
        let opened = unsafe open("/proc/self/fd/\(descriptor)", O_RDONLY | O_CLOEXEC)
        guard opened >= 0 else { return body(descriptor) }
        let owned = OwnedFD(adopting: opened)
        return body(owned.rawValue)
    }
}
