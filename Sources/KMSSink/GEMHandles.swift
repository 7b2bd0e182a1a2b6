internal import CDRM
internal import Media

/// Counts the references to a device's GEM handles.
///
/// The kernel returns the same handle however often the same memory is imported, and frees it at the first close: a buffer that is imported twice
/// and closed once would lose its memory. One table per open device counts.
///
/// Thread-safety: belongs to the device's thread. The corresponding C functions are `drmPrimeFDToHandle` and `drmCloseBufferHandle`.
final class GEMHandles {
    private let fd: Int32
    private var counts: [UInt32: Int] = [:]

    /// - Parameter fd: The device, borrowed for as long as this object lives.
    init(fd: Int32) { self.fd = fd }

    /// Number of handles that are open.
    var count: Int { counts.count }

    /// The handle of a DMA-BUF's memory. Each call needs one `release`.
    func importing(_ dmabuf: Int32) throws(SystemError) -> UInt32 {
        var handle: UInt32 = 0
        let result = unsafe drmPrimeFDToHandle(fd, dmabuf, &handle)
        guard result == 0 else { throw SystemError(-result, "import the frame's DMA-BUF") }
        counts[handle, default: 0] += 1
        return handle
    }

    func release(_ handle: UInt32) {
        guard let count = counts[handle] else { return }
        counts[handle] = count > 1 ? count - 1 : nil
        if count == 1 { drmCloseBufferHandle(fd, handle) }
    }
}
