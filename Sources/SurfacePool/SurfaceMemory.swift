internal import CLinux
internal import Glibc
package import Media

/// The memory of one surface, mapped for the CPU: one owner, who unmaps and closes it.
///
/// Descriptors: one for plain memory and for a DMA heap's, two for udmabuf (the DMA-BUF and the memfd under it).
///
/// Thread-safety: may be handed between threads; what is in the memory is guarded by the pool's slots.
@safe
public struct SurfaceMemory: ~Copyable, @unchecked Sendable {
    /// Where the pages come from, which decides who can import them.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// A sealed memfd: shared with a Wayland compositor through `wl_shm`.
        case memfd
        /// A DMA-BUF made over a memfd's pages by `/dev/udmabuf`: importable by GPUs and displays, and still a memfd.
        case udmabuf
        /// A DMA-BUF from `/dev/dma_heap`.
        case dmaHeap = "dma-heap"
        /// A DMA-BUF of a hardware decoder's surface.
        case va
    }

    public let kind: Kind
    public let byteCount: Int
    /// What importers take: the DMA-BUF, or the memfd where there is none.
    let descriptor: OwnedFD
    /// The memfd below a udmabuf.
    let backing: OwnedFD?
    /// Where the bytes are; of memory that the CPU cannot read in place, a range of addresses that nobody can touch.
    let base: UnsafeMutableRawPointer
    /// Lent by another process: its number there, and whom to tell when it is unmapped here.
    let loan: Loan?

    package struct Loan: Sendable {
        let number: UInt32
        let end: @Sendable (UInt32) -> Void

        package init(number: UInt32, end: @escaping @Sendable (UInt32) -> Void) {
            self.number = number
            self.end = end
        }
    }

    /// Maps memory that another process lends; the descriptors are this process's own copies.
    package init(
        lent kind: Kind, descriptor: consuming OwnedFD, backing: consuming OwnedFD?, byteCount: Int, loan: Loan
    ) throws(SurfaceError) {
        try self.init(kind: kind, descriptor: descriptor, backing: backing, byteCount: byteCount, loan: loan)
    }
    /// Whether importers get a DMA-BUF.
    let isDMABuf: Bool
    /// The driver's object that this memory belongs to; it goes with the memory.
    let owner: (any SurfaceMemoryOwner)?
    /// The CPU may read and write at `base`.
    let isMapped: Bool

    /// Maps `byteCount` bytes of `backing`, or of `descriptor` where there is none, and owns all three from here on, also when it fails.
    init(kind: Kind, descriptor: consuming OwnedFD, backing: consuming OwnedFD? = nil, byteCount: Int, loan: Loan? = nil) throws(SurfaceError) {
        let mapped: Int32
        switch backing {
        case .some(let memfd): mapped = memfd.rawValue
        case .none: mapped = descriptor.rawValue
        }
        let address = unsafe mmap(nil, byteCount, PROT_READ | PROT_WRITE, MAP_SHARED, mapped, 0)
        guard let address = unsafe address, unsafe address != MAP_FAILED else {
            throw SurfaceError(.noMemory, SystemError(errno, "map \(byteCount) bytes of \(kind.rawValue) memory"))
        }
        self.kind = kind
        self.byteCount = byteCount
        self.descriptor = descriptor
        self.backing = backing
        unsafe base = address
        self.loan = loan
        isDMABuf = kind != .memfd
        owner = nil
        isMapped = true
    }

    /// Memory that a driver made and `owner` stands for. Linear memory is mapped if the exporter allows it; any other is read through the owner.
    init(
        kind: Kind, descriptor: consuming OwnedFD, byteCount: Int, isLinear: Bool, owner: any SurfaceMemoryOwner
    ) throws(SurfaceError) {
        isDMABuf = clinux_dmabuf_sync(descriptor.rawValue, 1, Int32(CLINUX_SYNC_READ)) == 0
        if isDMABuf { _ = clinux_dmabuf_sync(descriptor.rawValue, 0, Int32(CLINUX_SYNC_READ)) }
        var address = unsafe isLinear ? mmap(nil, byteCount, PROT_READ, MAP_SHARED, descriptor.rawValue, 0) : MAP_FAILED
        let isMapped = unsafe address != MAP_FAILED
        self.isMapped = isMapped
        if !isMapped { unsafe address = mmap(nil, byteCount, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) }
        guard let address = unsafe address, unsafe address != MAP_FAILED else {
            throw SurfaceError(.noMemory, SystemError(errno, "reserve \(byteCount) bytes of addresses"))
        }
        self.kind = kind
        self.byteCount = byteCount
        self.descriptor = descriptor
        backing = nil
        unsafe base = address
        self.owner = owner
        loan = nil
    }

    deinit {
        unsafe munmap(base, byteCount)
        if let loan { loan.end(loan.number) }
    }

    /// Tells the exporter that the CPU begins or ends to touch a DMA-BUF's bytes (`DMA_BUF_IOCTL_SYNC`); plain memory needs no word.
    borrowing func bracket(begin: Bool, writing: Bool) {
        guard isDMABuf, isMapped else { return }
        _ = clinux_dmabuf_sync(descriptor.rawValue, begin ? 1 : 0, Int32(writing ? CLINUX_SYNC_RW : CLINUX_SYNC_READ))
    }
}

/// What a driver's memory belongs to.
///
/// Thread-safety: all of it.
package protocol SurfaceMemoryOwner: AnyObject, Sendable {
    /// Copies the picture to `target`, laid out as `layout` says with linear planes; false on failure.
    func read(_ layout: SurfaceLayout, into target: UnsafeMutableRawPointer) -> Bool
}

/// Why a surface or an allocator cannot be had.
public struct SurfaceError: Error, Sendable, Hashable, CustomStringConvertible {
    public enum Code: Sendable, Hashable {
        /// This machine lacks the device, or we may not open it.
        case unavailable
        /// The system would not give the memory.
        case noMemory
        /// The pool has been closed.
        case closed
    }
    public let code: Code
    /// The kernel's reason, 0 where it gave none.
    public let status: Int32
    /// One sentence.
    public let description: String

    public init(_ code: Code, _ description: String, status: Int32 = 0) {
        self.code = code
        self.status = status
        self.description = description
    }

    init(_ code: Code, _ error: SystemError) { self.init(code, error.description, status: error.code) }
}
