public import Media
public import SurfacePool

/// A decoded picture lent to another renderer: its memory stays as it is until the renderer says that it is done.
///
/// Nothing has been copied. The memory is the one the decoder wrote, and the display may be showing it at the same time; it must not be
/// written. Letting the value go is `release()`.
///
/// Thread-safety: may be handed between threads.
public struct ExportedFrame: ~Copyable, Sendable {
    public let description: FrameDescription
    /// Not the frame that this client got last.
    public let isNew: Bool
    /// The bytes are not those the decoder wrote but a copy, made because the client held too much.
    public let isCopy: Bool
    /// The DMA-BUF or memfd, lent for as long as the frame is held.
    public let fd: Int32
    // Either a pool's surface with the right to read it and the client's count, or another process's picture.
    private let surface: Surface?
    private let use: SurfaceUse?
    private let hold: FrameHold?
    private let remote: RemoteBuffer?

    init(_ description: FrameDescription, isNew: Bool, isCopy: Bool = false, use: consuming SurfaceUse, hold: consuming FrameHold) {
        self.description = description
        self.isNew = isNew
        self.isCopy = isCopy
        surface = use.surface
        fd = use.surface.fd
        self.use = consume use
        self.hold = consume hold
        remote = nil
    }

    init(_ description: FrameDescription, remote: consuming RemoteBuffer) {
        self.description = description
        isNew = true
        isCopy = false
        surface = nil
        fd = remote.fd
        use = nil
        hold = nil
        self.remote = consume remote
    }

    public var planeCount: Int { description.layout.planeCount }

    /// The plane `index`, which must be below `planeCount`.
    public func plane(_ index: Int) -> ExportedPlane {
        let place = description.layout.plane(index)
        return ExportedPlane(fd: fd, offset: place.offset, pitch: place.pitch)
    }

    /// The fence that a device must wait for before it reads, owned by the caller; nil when the picture is finished, as a CPU's always is.
    public borrowing func acquireFence() -> SyncFile? {
        guard description.isDMABuf, let fence = try? DMABuf.exportSyncFile(fd, for: .read), !fence.isSignalled else { return nil }
        return fence
    }

    /// Whether the end of the memory is reported to `onGone`: true of this process's own pools, while another process says nothing.
    public var reportsGone: Bool { surface != nil }

    /// Calls `body` once when nobody uses the memory any more and it has been given up, on the thread that ends it: what an importer made of it
    /// can go. Never called for frames of other processes.
    public borrowing func onGone(_ body: @escaping @Sendable (SurfaceIdentity) -> Void) { surface?.onGone(body) }

    /// Lends the bytes to the CPU, DMA-BUFs bracketed by `DMA_BUF_IOCTL_SYNC`. Nil when memory of another process cannot be mapped.
    public borrowing func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R? {
        if let surface { return try unsafe surface.withUnsafeBytes(body) }
        switch remote {
        case .some(let buffer): return try unsafe buffer.withUnsafeBytes(body)
        case .none: return nil
        }
    }

    /// The renderer reads no more. The same as letting the value go.
    public consuming func release() {}

    /// The renderer's device has been told to read and will have done so when `fence` signals; the memory is not written before that.
    ///
    /// Until then the frame counts against the client's budget, and a fence that does not signal for two seconds is a notice of the exporter's.
    ///
    /// A frame of another process has no way to carry a fence there: it is added to the DMA-BUF, or waited for where that is refused.
    public consuming func release(after fence: consuming SyncFile) {
        switch consume use {
        case .some(let use):
            if fence.isSignalled { return use.end() }
            use.end(after: fence, telling: FencedHold(hold))
        case .none:
            switch consume remote {
            case .some(let buffer): buffer.release(after: fence)
            case .none: break
            }
        }
    }
}

/// An exported frame in a box, for sequences and collections, which cannot hold the frame itself. It is released with the box, or before.
///
/// Thread-safety: all of it.
public final class HeldFrame: Sendable {
    public let description: FrameDescription
    private let frame: Monitor<ExportedFrame?>

    /// The descriptor, lent while the frame has not been taken.
    let descriptor: Int32

    public init(_ frame: consuming ExportedFrame) {
        description = frame.description
        descriptor = frame.fd
        self.frame = Monitor(frame)
    }

    /// Lends the frame; nil when it has been taken.
    public func withFrame<R>(_ body: (borrowing ExportedFrame) -> sending R) -> R? {
        frame.withLock { frame in
            switch frame {
            case .some(let frame): body(frame)
            case .none: nil
            }
        }
    }

    /// Takes the frame out, once.
    public func take() -> ExportedFrame? { frame.withLock { $0.take() } }
}
