public import Media

/// The right to read a surface's pixels: while one exists nobody writes them.
///
/// Each reader has its own. Ending the last one gives the slot back to its pool, once the decoder too has let go.
///
/// Thread-safety: may be handed between threads.
public struct SurfaceUse: ~Copyable, Sendable {
    /// The memory that may be read; its bytes are lent by `Surface.withUnsafeBytes` or its `fd`.
    public let surface: Surface
    private var isEnded = false

    /// Counts a use that the pool has already been told about.
    init(counted surface: Surface) { self.surface = surface }

    deinit { if !isEnded { surface.core.endUse(of: surface) } }

    /// A further right to read the same surface, for another reader.
    public borrowing func another() -> SurfaceUse {
        surface.core.addUse(of: surface)
        return SurfaceUse(counted: surface)
    }

    /// Ends the right now. The same as letting the value go.
    public consuming func end() {}

    /// Ends the right when `fence` signals: the reader is a device that has been given its commands but has not carried them out.
    /// The slot is not written before that.
    public consuming func end(after fence: consuming SyncFile) {
        isEnded = true
        surface.core.endUse(of: surface, after: fence, owner: nil)
    }

    /// As `end(after:)`, and reports to `owner` if the fence is late.
    package consuming func end(after fence: consuming SyncFile, telling owner: any FenceOwner) {
        isEnded = true
        surface.core.endUse(of: surface, after: fence, owner: owner)
    }
}

/// The right to write a surface. There is only one, and it comes before every use.
///
/// Letting it go without `finish()` puts the slot back unused.
///
/// Thread-safety: may be handed between threads.
@safe
public struct SurfaceWriter: ~Copyable, Sendable {
    /// The memory that may be written, through `withUnsafeMutableBytes`.
    public let surface: Surface
    private var isOwner = true

    init(acquired surface: Surface) { self.surface = surface }

    deinit { if isOwner { surface.endWriting() } }

    /// Lends the bytes for writing.
    public borrowing func withUnsafeMutableBytes<R: ~Copyable, E: Error>(
        _ body: (UnsafeMutableRawBufferPointer) throws(E) -> R
    ) throws(E) -> R {
        try unsafe body(UnsafeMutableRawBufferPointer(start: surface.base, count: surface.layout.byteCount))
    }

    /// The frame is complete: gives the right to write up for a right to read.
    public consuming func finish() -> SurfaceUse {
        surface.core.share(surface, keeper: nil)
        return SurfaceUse(counted: surface)
    }

    /// Hands the right to write to a C library, which ends it with `Surface.endWriting()`.
    package consuming func detach() -> Surface {
        isOwner = false
        return surface
    }
}
