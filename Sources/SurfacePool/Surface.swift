internal import Media

/// Identifies a piece of frame memory. Unlike a descriptor's number it is never reused for other memory while the process lives.
public struct SurfaceIdentity: Sendable, Hashable {
    /// The pool; unique in the process.
    public let pool: UInt32
    /// Counts the pool's layouts.
    public let generation: UInt32
    /// Counts the surfaces of that generation.
    public let slot: UInt32

    /// Makes an identity from its three numbers; a surface already has its own.
    public init(pool: UInt32, generation: UInt32, slot: UInt32) {
        self.pool = pool
        self.generation = generation
        self.slot = slot
    }
}

/// The memory of one frame. It belongs to a pool: one producer writes it, many consumers read it in place.
///
/// Holding the object keeps the memory mapped but gives no right to look at the pixels: that right is a `SurfaceUse`
/// (or, for the producer, the `SurfaceWriter`). A display makes one `wl_buffer` or framebuffer per `identity` and drops it when
/// `onGone` reports.
///
/// Thread-safety: all of it.
@safe
public final class Surface: Sendable {
    /// What importers find their imports by.
    public let identity: SurfaceIdentity
    /// Where the planes lie in the memory.
    public let layout: SurfaceLayout
    private let memory: SurfaceMemory
    private let readOnly = ReadOnlyDescriptor()
    let core: SurfacePoolCore
    /// Its index in the pool's table.
    let index: Int

    init(identity: SurfaceIdentity, layout: SurfaceLayout, memory: consuming SurfaceMemory, core: SurfacePoolCore, index: Int) {
        self.identity = identity
        self.layout = layout
        self.memory = memory
        self.core = core
        self.index = index
    }

    /// Where the memory comes from, which decides who can import it.
    public var memoryKind: SurfaceMemory.Kind { memory.kind }
    /// The descriptor that importers take, lent: the DMA-BUF or the memfd; -1 for memory of kind `.plain`. Duplicate it to keep it.
    public var fd: Int32 { memory.fd }
    /// The memfd that holds the pages, lent, for `wl_shm`; nil when the memory is a DMA-BUF only.
    public var memfd: Int32? {
        switch memory.backing {
        case .some(let backing): backing.rawValue
        case .none: memory.kind == .memfd ? memory.fd : nil
        }
    }
    /// The descriptor that other processes get in place of `fd`, lent while the surface lives: of a memfd one that can only read, else `fd` itself.
    package var readOnlyFD: Int32 { isDMABuf || fd < 0 ? fd : readOnly.descriptor(for: fd) }
    /// The number of memory that another process lends.
    package var loanNumber: UInt32? { memory.loanNumber }
    /// The device whose memory this is, by its render node: that of a hardware decoder. Nil for memory of the system, and where nobody knows.
    public var device: DeviceNumber? { memory.owner?.deviceNumber }
    /// Whether `fd` is a DMA-BUF, which displays and GPUs import.
    public var isDMABuf: Bool { memory.isDMABuf }

    /// Whether somebody holds the surface: its producer, a reader, or a device whose fence has not signalled.
    public var isInUse: Bool { core.isInUse(self) }

    /// Whether `withUnsafeBytes` lends the frame. False for a caller's DMA-BUF that is not linear or that its exporter does not map: only
    /// importers read that.
    public var isReadable: Bool { isReadInPlace || memory.owner != nil }

    package var isReadInPlace: Bool { memory.access != .none && (layout.modifier == .linear || memory.owner != nil) }

    /// Lends the bytes for reading, DMA-BUFs bracketed by `DMA_BUF_IOCTL_SYNC`. The caller holds a use, or is the writer.
    ///
    /// A hardware decoder's memory that the CPU cannot read in place is copied first (`FrameStatistics.bytesCopied`): the planes lie where
    /// the layout says, linear whatever its modifier. The bytes are all 0 where `isReadable` is false and where that copy fails.
    public func withUnsafeBytes<R: ~Copyable, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
        if !isReadInPlace {
            // With padding behind it, as every mapping has.
            let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: layout.byteCount + SurfaceMapping.padding, alignment: 64)
            defer { unsafe memory.deallocate() }
            let copy = unsafe UnsafeMutableRawBufferPointer(rebasing: memory[..<layout.byteCount])
            let isRead = unsafe self.memory.owner?.read(layout, into: copy.baseAddress!) ?? false
            if !isRead { unsafe copy.initializeMemory(as: UInt8.self, repeating: 0) }
            return try unsafe body(UnsafeRawBufferPointer(copy))
        }
        memory.bracket(begin: true, writing: false)
        defer { memory.bracket(begin: false, writing: false) }
        return try unsafe body(UnsafeRawBufferPointer(start: memory.base, count: layout.byteCount))
    }

    /// Where a plane begins, for a C library that writes or reads while the caller holds the right to.
    package func address(ofPlane plane: Int) -> UnsafeMutableRawPointer { unsafe memory.base + layout.plane(plane).offset }

    package var base: UnsafeMutableRawPointer { unsafe memory.base }

    /// The driver's object that the memory belongs to; nil for memory of our own.
    package var owner: (any SurfaceMemoryOwner)? { memory.owner }

    var baseBits: UInt { unsafe UInt(bitPattern: memory.base) }

    /// A use for a reader while the producer continues to hold the surface as a reference picture. `context` is handed to `release`
    /// when the last reader has ended and every fence handed in with an ended use has signalled, on the thread that ends it. It keeps the
    /// producer's library from writing meanwhile.
    package func share(
        keeping context: UnsafeMutableRawPointer, release: @convention(c) (UnsafeMutableRawPointer) -> Void
    ) -> SurfaceUse {
        unsafe core.share(self, keeper: SurfacePoolCore.Keeper(context: context, release: release))
        return SurfaceUse(counted: self)
    }

    /// As above; `body` runs when the last reader has ended.
    package func share(_ body: @escaping @Sendable () -> Void) -> SurfaceUse {
        final class Box: Sendable {
            let body: @Sendable () -> Void
            init(_ body: @escaping @Sendable () -> Void) { self.body = body }
        }
        return unsafe share(keeping: Unmanaged.passRetained(Box(body)).toOpaque()) { context in
            unsafe Unmanaged<Box>.fromOpaque(context).takeRetainedValue().body()
        }
    }

    /// Ends what `SurfaceWriter.detach()` began with a complete frame: the same as `SurfaceWriter.finish()`.
    package func finishWriting() -> SurfaceUse {
        core.share(self, keeper: nil)
        core.endWriting(of: self)
        return SurfaceUse(counted: self)
    }

    /// Ends what `SurfaceWriter.detach()` began: the producer has dropped the surface.
    package func endWriting() { core.endWriting(of: self) }

    func bracketWriting(begin: Bool) { memory.bracket(begin: begin, writing: true) }

    /// Calls `body` once, on the thread that ends the surface, when the pool has given this memory up and nobody uses it
    /// any more; immediately if that has already happened. Consumers destroy what they made of the surface.
    public func onGone(_ body: @escaping @Sendable (SurfaceIdentity) -> Void) {
        if core.addGoneObserver(body, for: self) == false { body(identity) }
    }
}
