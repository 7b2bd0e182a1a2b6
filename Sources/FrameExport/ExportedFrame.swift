public import Media
public import SurfacePool

/// A decoded frame lent to another renderer: its memory stays as it is until the renderer says that it is done.
///
/// Nothing has been copied. The memory is the one the decoder wrote, and the display may be showing it at the same time; it must not be
/// written. Letting the value go is `release()`.
///
/// Thread-safety: may be handed between threads.
public struct ExportedFrame: ~Copyable, Sendable {
    /// What an importer must know about the frame: layout, colours, times and identity.
    public let description: FrameDescription
    /// False when the client got this frame last time too.
    public let isNew: Bool
    /// The bytes are not those the decoder wrote but a copy, made because the client held too much or because the decoder's memory has no
    /// descriptor.
    public let isCopy: Bool
    private let use: SurfaceUse
    /// The client's count; nil for frames of another process, which count there.
    private let hold: FrameHold?
    /// The frame is another process's.
    private let isRemote: Bool

    init(_ description: FrameDescription, isNew: Bool, isCopy: Bool = false, use: consuming SurfaceUse, hold: consuming FrameHold) {
        self.description = description
        self.isNew = isNew
        self.isCopy = isCopy
        self.use = use
        self.hold = .some(hold)
        isRemote = false
    }

    /// A frame of this process that no exporter hands out, for its own importers.
    package init(lending frame: consuming VideoFrame) {
        description = FrameDescription(frame, sequence: frame.sequence, serial: 0, mapping: nil)
        isNew = true
        isCopy = false
        use = frame.takeUse()
        hold = nil
        isRemote = false
    }

    /// A frame of another process.
    init(_ description: FrameDescription, remote use: consuming SurfaceUse) {
        self.description = description
        isNew = true
        isCopy = false
        self.use = use
        hold = nil
        isRemote = true
    }

    /// The DMA-BUF or memfd, lent for as long as the frame is held.
    public var fd: Int32 { use.surface.fd }

    /// The descriptor that other processes get in its place, lent for as long: see `Surface.readOnlyFD`.
    var readOnlyFD: Int32 { use.surface.readOnlyFD }

    /// Planes with memory of their own, 1 to 4.
    public var planeCount: Int { description.layout.planeCount }

    /// The plane `index`, which must be below `planeCount`.
    public func plane(_ index: Int) -> ExportedPlane {
        let place = description.layout.plane(index)
        return ExportedPlane(fd: fd, offset: place.offset, pitch: place.pitch)
    }

    /// The fence that a device must wait for before it reads, owned by the caller; nil when the frame is finished. A frame that the CPU
    /// wrote always is.
    public borrowing func acquireFence() -> SyncFile? {
        guard description.isDMABuf, let fence = try? DMABuf.exportSyncFile(fd, for: .read), !fence.isSignalled else { return nil }
        return fence
    }

    /// Makes `point` of the renderer's timeline the moment from which a device may read: it is reached when the acquire fence signals, and at once
    /// when the frame is finished. To release the frame at a point, pass `timeline.fence(at:)` to `release(after:)`.
    public borrowing func setAcquirePoint(_ point: UInt64, of timeline: SyncTimeline) throws(SystemError) {
        switch acquireFence() {
        case .some(let fence): try timeline.signal(point, after: fence)
        case .none: try timeline.signal(point)
        }
    }

    /// Calls `body` once, on the thread that ends the memory, when its owner has given it up and nobody uses it: importers destroy what they
    /// made of it. Memory of another process counts as given up when it has not come again for 32 frames.
    public borrowing func onGone(_ body: @escaping @Sendable (SurfaceIdentity) -> Void) { use.surface.onGone(body) }

    /// Lends the bytes to the CPU, DMA-BUFs bracketed by `DMA_BUF_IOCTL_SYNC`. Nil when the CPU cannot read the memory.
    public borrowing func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R? {
        use.surface.isReadable ? try unsafe use.surface.withUnsafeBytes(body) : nil
    }

    /// Turns the frame into one that sinks take. They read the memory in place. It no longer counts against the client's budget.
    ///
    /// A frame whose `presentationTime` is not numeric is shown at once.
    public consuming func videoFrame() -> VideoFrame {
        let description = description
        var attachments = Attachments()
        if let bytes = description.hdr10Plus { attachments.hdr10Plus = bytes }
        if let bytes = description.dolbyVisionRPU { attachments.dolbyVisionRPU = bytes }
        return VideoFrame(
            use: use, visible: description.visible, attributes: description.attributes, presentationTime: description.presentationTime,
            duration: description.duration, sequence: description.sequence, attachments: attachments)
    }

    /// Gives the frame back now. The same as letting the value go.
    public consuming func release() {}

    /// Gives the frame back when `fence` signals, which the renderer's device does when it has read it. The memory is not written before that.
    ///
    /// Until then the frame counts against the client's budget, and the exporter reports a fence that has not signalled after two seconds.
    /// The DMA-BUF of another process carries the fence there (`DMA_BUF_IOCTL_IMPORT_SYNC_FILE`), so that process waits for it; other memory is
    /// given back to it when the fence has signalled.
    public consuming func release(after fence: consuming SyncFile) {
        if fence.isSignalled { return use.end() }
        if isRemote, description.isDMABuf, (try? DMABuf.importSyncFile(fd, fence, as: .read)) != nil { return use.end() }
        use.end(after: fence, telling: FencedHold(hold))
    }
}

/// An exported frame in an object, since sequences and collections cannot hold the frame itself. It is released with the object, or before.
///
/// Thread-safety: all of it.
public final class HeldFrame: Sendable {
    /// As the frame's; still there when the frame has been taken.
    public let description: FrameDescription
    private let frame: Monitor<ExportedFrame?>

    /// Takes over the frame.
    public init(_ frame: consuming ExportedFrame) {
        description = frame.description
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
