internal import Media
internal import SurfacePool

/// The surfaces that a session writes its frames into: those of one pool, which follows the layout that is asked for.
///
/// Thread-safety: `take` on one thread at a time; the rest from any.
final class ConversionSurfaces: SurfaceWaiting {
    private let allocator: any SurfaceAllocator
    private let maximumCount: Int
    private let maximumByteCount: Int
    private let waits: Bool
    private let shared = Monitor(Shared())

    private struct Shared: InterruptibleState {
        var pool: SurfacePool?
        var waited: SurfacePool? { pool }
        var isInterrupted = false
    }

    /// - Parameters:
    ///   - holdCount: Written frames that consumers may hold at once.
    ///   - maximumByteCount: Limit of their memory, in bytes.
    ///   - waits: Whether `take` waits while consumers hold `holdCount` frames; else it throws at once.
    init(allocator: any SurfaceAllocator, holdCount: Int, maximumByteCount: Int = .max, waits: Bool = true) {
        self.allocator = allocator
        // One more is being written.
        maximumCount = holdCount + 1
        self.maximumByteCount = maximumByteCount
        self.waits = waits
    }

    /// How full the pool is; before the first surface only its capacity.
    var statistics: SurfacePoolStatistics { shared.withLock { $0.pool }?.statistics ?? SurfacePoolStatistics(capacity: maximumCount) }

    /// A surface to write.
    /// - Throws: `.outOfSurfaces` when there is none, or the wait was interrupted.
    func take(_ layout: SurfaceLayout) throws(PixelConversionError) -> SurfaceWriter {
        let pool = shared.withLock { shared in
            let pool =
                shared.pool ?? SurfacePool(layout: layout, allocator: allocator, maximumCount: maximumCount, maximumByteCount: maximumByteCount)
            shared.pool = pool
            return pool
        }
        if pool.layout != layout { pool.retire(layout) }
        if shared.withLock({ $0.isInterrupted }) { pool.interrupt() }
        do throws(SurfaceError) {
            if let writer = try pool.acquire(waitingUntil: waits ? nil : .distantPast) { return writer }
        } catch {
            throw PixelConversionError(.outOfSurfaces, error.description)
        }
        throw PixelConversionError(.outOfSurfaces, "there is no surface for a converted frame of \(layout.byteCount) bytes")
    }

    func interrupt() { shared.interrupt() }

    func resume() { shared.resume() }
}
