internal import Glibc

/// Writes all bytes to a descriptor, waiting as long as its other end is slow; an error when that is not possible.
///
/// The program must ignore SIGPIPE, so that a closed pipe is an error (`EPIPE`) and not its end. The corresponding C function is `write(2)`.
package func writeWhole(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) throws(SystemError) {
    var rest = unsafe bytes[...]
    while unsafe !rest.isEmpty {
        let count = unsafe write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
        if count > 0 {
            unsafe rest = rest.dropFirst(count)
            continue
        }
        let code = count == 0 ? ENOSPC : errno
        guard code == EINTR || code == EAGAIN else { throw SystemError(code, "write") }
        if code == EAGAIN {
            var waiting = [PollDescriptor(fd: descriptor, interest: .writable)]
            _ = try pollDescriptors(&waiting)
        }
    }
}

/// Writes all bytes, as the other `writeWhole`.
package func writeWhole(_ bytes: [UInt8], to descriptor: Int32) throws(SystemError) {
    let result = unsafe bytes.withUnsafeBytes { bytes -> Result<Void, SystemError> in
        do throws(SystemError) { return .success(try unsafe writeWhole(bytes, to: descriptor)) } catch { return .failure(error) }
    }
    try result.get()
}
