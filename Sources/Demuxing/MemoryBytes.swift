/// A film that lies in memory, as a source.
///
/// Thread-safety: all of it; nothing changes.
@safe
public final class MemoryBytes: ByteSource, @unchecked Sendable {
    private let bytes: UnsafeRawBufferPointer
    /// Freed with this; nil for memory that is lent.
    private let own: UnsafeMutableRawBufferPointer?

    /// Keeps a copy of `bytes`.
    public init(_ bytes: some Collection<UInt8>) {
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 16)
        unsafe copy.copyBytes(from: bytes)
        unsafe own = unsafe copy
        unsafe self.bytes = UnsafeRawBufferPointer(copy)
    }

    /// Reads `bytes` where they lie. They must stay, unchanged, until the player has been closed.
    public init(lent bytes: UnsafeRawBufferPointer) {
        unsafe self.bytes = unsafe bytes
        unsafe own = nil
    }

    deinit { unsafe own?.deallocate() }

    /// All of them.
    public var byteCount: Int64? { unsafe Int64(bytes.count) }
    /// Always.
    public var isSeekable: Bool { true }

    /// Copies what there is from `offset` on.
    public func read(into target: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int {
        guard offset >= 0, unsafe offset < Int64(bytes.count) else { return 0 }
        let count = unsafe min(target.count, bytes.count - Int(offset))
        unsafe target.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[Int(offset)..<Int(offset) + count]))
        return count
    }
}
