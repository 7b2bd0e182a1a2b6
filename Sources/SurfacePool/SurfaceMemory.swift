internal import CLinux
internal import Glibc
public import Media

/// The memory of one surface. It has one owner; at its end it is unmapped, its descriptors are closed, and whoever lent it is told.
///
/// An allocator of a program's own (`SurfaceAllocator`) makes these; `SurfaceUse.init(_:_:)` shows a frame that lies in one.
/// Descriptors: none for the caller's plain memory, two for udmabuf (the DMA-BUF and the memfd under it), one for all other kinds.
///
/// Thread-safety: may be handed between threads. The pool's slots decide who may touch the bytes.
@safe
public struct SurfaceMemory: ~Copyable, @unchecked Sendable {
    /// Where the pages come from, which decides who can import them.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// A sealed memfd, which a Wayland compositor reads through `wl_shm`.
        case memfd
        /// A DMA-BUF made over a memfd's pages by `/dev/udmabuf`: GPUs and displays import it, and it is still a memfd.
        case udmabuf
        /// A DMA-BUF from `/dev/dma_heap`.
        case dmaHeap = "dma-heap"
        /// A DMA-BUF of a hardware decoder's surface.
        case va
        /// A DMA-BUF that the program brought: a camera's, a renderer's.
        case dmabuf
        /// Memory of this process without a descriptor: nobody can import it, so displays and exporters copy.
        case plain
    }

    /// What the CPU may do at `base`.
    enum Access: Sendable { case none, read, readWrite }

    /// Where the pages come from.
    public let kind: Kind
    /// Bytes of the memory that count: all of it, or as many as the caller named.
    public let byteCount: Int
    /// What importers take: the DMA-BUF, or the memfd where there is none. Nil for plain memory.
    let descriptor: OwnedFD?
    /// The memfd below a udmabuf.
    let backing: OwnedFD?
    /// Where the bytes are. A range of addresses that nobody can touch where the CPU cannot read the memory in place.
    let base: UnsafeMutableRawPointer
    let access: Access
    /// Importers get a DMA-BUF.
    let isDMABuf: Bool
    /// The driver's object that this memory belongs to; it goes with the memory.
    let owner: (any SurfaceMemoryOwner)?
    /// The number of memory that another process lends.
    let loanNumber: UInt32?
    private let onRelease: (@Sendable () -> Void)?

    // MARK: The caller's memory

    /// A DMA-BUF of the caller's.
    ///
    /// It is mapped for reading and writing, or for reading only, where its exporter allows that. Otherwise only importers read it.
    /// - Parameters:
    ///   - descriptor: Taken over, also when this throws. Duplicate it to keep one.
    ///   - byteCount: How much of it counts; nil: all of it.
    ///   - onRelease: Called once, on the thread that ends the memory, when nobody reads it any more and the library has unmapped it, or
    ///     before this throws.
    /// - Throws: `.unavailable` for a descriptor that is no DMA-BUF or has fewer bytes.
    public init(
        dmabuf descriptor: consuming OwnedFD, byteCount: Int? = nil, onRelease: @escaping @Sendable () -> Void = {}
    ) throws(SurfaceError) {
        let mapping: SurfaceMapping
        do throws(SurfaceError) {
            guard clinux_is_dmabuf(descriptor.rawValue) != 0 else { throw SurfaceError(.unavailable, "The descriptor is not a DMA-BUF.") }
            mapping = try SurfaceMapping(of: descriptor.rawValue, byteCount, "DMA-BUF")
        } catch {
            onRelease()
            throw error
        }
        self.init(kind: .dmabuf, descriptor, mapping, onRelease: onRelease)
    }

    /// A memfd of the caller's. It is sealed against shrinking, so that no reader can be made to fault.
    ///
    /// - Parameters:
    ///   - descriptor: As for a DMA-BUF.
    ///   - byteCount: As for a DMA-BUF.
    ///   - onRelease: As for a DMA-BUF.
    /// - Throws: `.unavailable` for a file that cannot be sealed or has fewer bytes, `.noMemory` where it cannot be mapped.
    public init(
        memfd descriptor: consuming OwnedFD, byteCount: Int? = nil, onRelease: @escaping @Sendable () -> Void = {}
    ) throws(SurfaceError) {
        let mapping: SurfaceMapping
        do throws(SurfaceError) {
            let fd = descriptor.rawValue
            guard clinux_is_dmabuf(fd) == 0, clinux_cannot_shrink(fd) != 0 || clinux_memfd_seal_shrink(fd) == 0 else {
                throw SurfaceError(.unavailable, "The descriptor is not a memfd that can be sealed against shrinking.")
            }
            mapping = try SurfaceMapping(of: fd, byteCount, "memfd")
            guard mapping.access != .none else {
                unsafe SurfaceMapping.unmap(mapping.address, mapping.byteCount)
                throw SurfaceError(.noMemory, "The memfd cannot be mapped.")
            }
        } catch {
            onRelease()
            throw error
        }
        self.init(kind: .memfd, descriptor, mapping, onRelease: onRelease)
    }

    /// Memory of the caller's without a descriptor. It stays the caller's; the library only reads or writes it.
    ///
    /// Sinks and exporters that hand memory on must copy such frames, and a decoder process cannot write them.
    /// - Parameters:
    ///   - bytes: Valid until `onRelease`. Decoders want their start aligned to 64 bytes.
    ///   - onRelease: Called once, on the thread that ends the memory, when nobody reads it any more.
    public init(bytes: UnsafeMutableRawBufferPointer, onRelease: @escaping @Sendable () -> Void) {
        precondition(bytes.count > 0, "a surface has at least one byte")
        self.init(
            kind: .plain, nil, unsafe SurfaceMapping(address: bytes.baseAddress!, byteCount: bytes.count, access: .readWrite), onRelease: onRelease)
    }

    // MARK: The library's memory

    /// Memory without a descriptor that a device lends. It is the owner's, which stays while this exists.
    package init(bytes: UnsafeMutableRawBufferPointer, owner: any SurfaceMemoryOwner) {
        self.init(kind: .plain, nil, unsafe SurfaceMapping(address: bytes.baseAddress!, byteCount: bytes.count, access: .readWrite), owner: owner) {}
    }

    /// Maps memory that another process lends; the descriptors are this process's own copies.
    /// - Parameter end: Called with `number` when the memory has been unmapped here.
    package init(
        lent kind: Kind, descriptor: consuming OwnedFD, backing: consuming OwnedFD?, byteCount: Int, number: UInt32,
        end: @escaping @Sendable (UInt32) -> Void
    ) throws(SurfaceError) {
        try self.init(kind: kind, descriptor: descriptor, backing: backing, byteCount: byteCount, loanNumber: number) { end(number) }
    }

    /// Maps `byteCount` bytes of `backing`, or of `descriptor` where there is none, and owns all three from here on, also when it fails.
    init(
        kind: Kind, descriptor: consuming OwnedFD, backing: consuming OwnedFD? = nil, byteCount: Int, loanNumber: UInt32? = nil,
        onRelease: (@Sendable () -> Void)? = nil
    ) throws(SurfaceError) {
        let mapped: Int32
        switch backing {
        case .some(let memfd): mapped = memfd.rawValue
        case .none: mapped = descriptor.rawValue
        }
        guard let address = unsafe SurfaceMapping.map(mapped, byteCount, PROT_READ | PROT_WRITE) else {
            throw SurfaceError(.noMemory, SystemError(errno, "map \(byteCount) bytes of \(kind.rawValue) memory"))
        }
        self.kind = kind
        self.byteCount = byteCount
        self.descriptor = consume descriptor
        self.backing = consume backing
        unsafe base = address
        access = .readWrite
        isDMABuf = kind != .memfd
        owner = nil
        self.loanNumber = loanNumber
        self.onRelease = onRelease
    }

    /// Memory that a driver made and that `owner` represents. Linear memory is mapped if the exporter allows it; any other is read through the
    /// owner.
    init(
        kind: Kind, descriptor: consuming OwnedFD, byteCount: Int, isLinear: Bool, owner: any SurfaceMemoryOwner
    ) throws(SurfaceError) {
        isDMABuf = clinux_dmabuf_sync(descriptor.rawValue, 1, Int32(CLINUX_SYNC_READ)) == 0
        if isDMABuf { _ = clinux_dmabuf_sync(descriptor.rawValue, 0, Int32(CLINUX_SYNC_READ)) }
        let mapping = try SurfaceMapping(descriptor.rawValue, byteCount, isLinear ? [(PROT_READ, .read)] : [])
        self.kind = kind
        self.byteCount = byteCount
        self.descriptor = consume descriptor
        backing = nil
        unsafe base = mapping.address
        access = mapping.access
        self.owner = owner
        loanNumber = nil
        onRelease = nil
    }

    private init(
        kind: Kind, _ descriptor: consuming OwnedFD?, _ mapping: SurfaceMapping, owner: (any SurfaceMemoryOwner)? = nil,
        onRelease: @escaping @Sendable () -> Void
    ) {
        self.kind = kind
        byteCount = mapping.byteCount
        self.descriptor = descriptor
        backing = nil
        unsafe base = mapping.address
        access = mapping.access
        isDMABuf = kind == .dmabuf
        self.owner = owner
        loanNumber = nil
        self.onRelease = onRelease
    }

    deinit {
        if kind != .plain { unsafe SurfaceMapping.unmap(base, byteCount) }
        onRelease?()
    }

    /// The descriptor's number, lent; -1 for plain memory.
    var fd: Int32 {
        switch descriptor {
        case .some(let descriptor): descriptor.rawValue
        case .none: -1
        }
    }

    /// Tells the exporter that the CPU begins or ends to touch a DMA-BUF's bytes (`DMA_BUF_IOCTL_SYNC`); other memory needs no call.
    borrowing func bracket(begin: Bool, writing: Bool) {
        guard isDMABuf, access == .readWrite || (access == .read && !writing) else { return }
        _ = clinux_dmabuf_sync(fd, begin ? 1 : 0, Int32(writing ? CLINUX_SYNC_RW : CLINUX_SYNC_READ))
    }
}

/// What a driver's memory belongs to.
///
/// Thread-safety: all of it.
package protocol SurfaceMemoryOwner: AnyObject, Sendable {
    /// The device whose memory it is; nil where there is none, or nobody knows.
    var deviceNumber: DeviceNumber? { get }
    /// Copies the frame to `target`, laid out as `layout` says with linear planes; false on failure.
    func read(_ layout: SurfaceLayout, into target: UnsafeMutableRawPointer) -> Bool
}

extension SurfaceMemoryOwner {
    package var deviceNumber: DeviceNumber? { nil }
}
