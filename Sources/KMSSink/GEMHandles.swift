internal import CDRM
internal import Media

/// The device's numbers for pieces of memory, counted.
///
/// The kernel gives one number for the same memory however often it is imported, and takes it away at the first close: whoever imports
/// one buffer twice and closes one of them pulls the memory from under the other. One table for each open device keeps count.
///
/// Thread-safety: belongs to the device's thread. The corresponding C functions are `drmPrimeFDToHandle` and `drmCloseBufferHandle`.
final class GEMHandles {
    private let fd: Int32
    private var counts: [UInt32: Int] = [:]

    /// - Parameter fd: The device, lent for as long as this object lives.
    init(fd: Int32) { self.fd = fd }

    /// How many pieces of memory are held.
    var count: Int { counts.count }

    /// The number of a DMA-BUF's memory, to be given back by `release`.
    func importing(_ dmabuf: Int32) throws(SystemError) -> UInt32 {
        var handle: UInt32 = 0
        let result = unsafe drmPrimeFDToHandle(fd, dmabuf, &handle)
        guard result == 0 else { throw SystemError(-result, "import the picture") }
        counts[handle, default: 0] += 1
        return handle
    }

    func release(_ handle: UInt32) {
        guard let count = counts[handle] else { return }
        counts[handle] = count > 1 ? count - 1 : nil
        if count == 1 { drmCloseBufferHandle(fd, handle) }
    }
}
