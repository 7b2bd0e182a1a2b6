internal import Media

/// Bytes that a C program reads where they are for as long as this object; each is made when it is first asked for.
///
/// Thread-safety: all of it.
@safe
final class LentBytes: Sendable {
    /// Addresses, by the program's number for them.
    private let made = Monitor<[UInt32: UInt]>([:])

    /// The bytes under `number`, which are always the same.
    func lend(_ bytes: [UInt8], _ number: UInt32) -> UnsafeRawBufferPointer {
        let address = made.withLock { made -> UInt in
            if let address = made[number] { return address }
            let place = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 16)
            unsafe place.copyBytes(from: bytes)
            let address = UInt(bitPattern: place.baseAddress)
            made[number] = address
            return address
        }
        return unsafe UnsafeRawBufferPointer(start: UnsafeRawPointer(bitPattern: address), count: bytes.count)
    }

    deinit { made.withLock { for address in $0.values { unsafe UnsafeMutableRawPointer(bitPattern: address)?.deallocate() } } }
}
