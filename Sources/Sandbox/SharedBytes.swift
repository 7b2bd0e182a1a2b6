internal import CLinux
internal import Glibc
package import Media

/// Plain memory of a fixed size that two processes map, for compressed bytes.
///
/// Thread-safety: may be handed between threads; its users agree on who writes what. The corresponding C functions are
/// `memfd_create(2)` and `mmap(2)`; the size is sealed.
@safe
package final class SharedBytes: @unchecked Sendable {
    package let descriptor: OwnedFD
    package let count: Int
    package let base: UnsafeMutableRawPointer

    /// Fresh zero bytes to write.
    package init(count: Int) throws(SystemError) {
        let raw = unsafe clinux_memfd("samples")
        guard raw >= 0 else { throw SystemError(errno, "create a memfd") }
        let memory = OwnedFD(adopting: raw)
        guard ftruncate(raw, count) == 0, clinux_memfd_seal_size(raw) == 0 else { throw SystemError(errno, "size a memfd to \(count) bytes") }
        unsafe base = try Self.map(raw, count: count, PROT_READ | PROT_WRITE)
        descriptor = memory
        self.count = count
    }

    /// Maps what another process writes, for reading.
    package convenience init(reading descriptor: consuming OwnedFD) throws(SystemError) { try self.init(mapping: descriptor, PROT_READ) }

    /// Maps memory that another process made, for writing.
    package convenience init(writing descriptor: consuming OwnedFD) throws(SystemError) { try self.init(mapping: descriptor, PROT_READ | PROT_WRITE) }

    private init(mapping descriptor: consuming OwnedFD, _ protection: Int32) throws(SystemError) {
        let size = clinux_size(descriptor.rawValue)
        guard size > 0 else { throw SystemError(size == 0 ? EINVAL : errno, "find the size of shared memory") }
        count = Int(size)
        unsafe base = try Self.map(descriptor.rawValue, count: count, protection)
        self.descriptor = descriptor
    }

    deinit { unsafe munmap(base, count) }

    private static func map(_ descriptor: Int32, count: Int, _ protection: Int32) throws(SystemError) -> UnsafeMutableRawPointer {
        let address = unsafe mmap(nil, count, protection, MAP_SHARED, descriptor, 0)
        guard let address = unsafe address, unsafe address != MAP_FAILED else { throw SystemError(errno, "map \(count) bytes") }
        return unsafe address
    }
}
