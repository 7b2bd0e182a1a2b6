public import Media

/// Memory for frames of one layout, which is written, shown, and written again. It has as many slots as are needed at once.
///
/// A slot is handed out for writing only when the producer has dropped it, its last use has ended and every fence handed in
/// with an ended use has signalled. A pool with no free slot is *exhausted*: `acquire` waits or returns nil, which is how
/// a slow display holds a decoder back. Slots are reused last-in-first-out, so the warmest memory is written next.
///
/// Thread-safety: all of it. Surfaces and uses may outlive the pool.
public final class SurfacePool: Sendable {
    private let core: SurfacePoolCore

    /// Makes a pool without memory.
    ///
    /// - Parameters:
    ///   - layout: Of every slot until `retire`.
    ///   - allocator: Makes the memory of each new slot.
    ///   - minimumCount: Slots that ageing leaves alone.
    ///   - maximumCount: Slots of one generation; at least 1. Memory is allocated when first needed.
    ///   - maximumByteCount: Limit of the memory of all generations together.
    public init(
        layout: SurfaceLayout, allocator: any SurfaceAllocator, minimumCount: Int = 0, maximumCount: Int, maximumByteCount: Int = .max
    ) {
        let state = SurfacePoolState(
            byteCountPerSlot: layout.byteCount, minimumCount: minimumCount, maximumCount: maximumCount, maximumByteCount: maximumByteCount)
        core = SurfacePoolCore(layout: layout, state: state, allocator: allocator)
    }

    deinit { core.close() }

    /// A slot to write, or nil when the pool is exhausted or closed.
    public func acquire() throws(SurfaceError) -> SurfaceWriter? { try core.acquire(waitingUntil: .distantPast) }

    /// A slot to write; waits while consumers hold what it needs.
    ///
    /// Nil after `deadline` (CLOCK_MONOTONIC; nil waits for ever), at `interrupt()` or `close()`, and at once when no consumer
    /// holds a slot: then only the caller itself could give one back.
    public func acquire(waitingUntil deadline: HostTime?) throws(SurfaceError) -> SurfaceWriter? {
        try core.acquire(waitingUntil: deadline)
    }

    /// As `acquire(waitingUntil: nil)` for a producer whose threads need different layouts in turn: another layout than the pool's starts
    /// a new generation. When all slots are in the producer's hands, its other threads get `patience` to give one back.
    package func acquire(_ layout: SurfaceLayout, patience: HostSpan) throws(SurfaceError) -> SurfaceWriter? {
        try core.acquire(layout, waitingUntil: nil, patience: patience)
    }

    /// Starts a generation of another layout. Slots of the old one are freed as they are given back.
    public func retire(_ layout: SurfaceLayout) { core.retire(layout) }

    /// Makes every waiting and coming `acquire` return nil until `resume()`.
    public func interrupt() { core.setInterrupted(true) }
    /// Ends what `interrupt()` began.
    public func resume() { core.setInterrupted(false) }

    /// Gives the memory of slots that have been free for longer than `age` back to the system, except for `minimumCount` slots.
    public func trimIdle(olderThan age: HostSpan) { core.trim(olderThan: age) }

    /// Ends the pool: free slots are freed now, the others when their last use ends. Idempotent.
    public func close() { core.close() }

    /// Calls `body`, on the thread that gives it back, when a slot becomes free after somebody was refused one.
    public func whenFree(_ body: @escaping @Sendable () -> Void) { core.addFreeObserver(body) }

    /// Whether `acquire` would have to wait now.
    package var isExhausted: Bool { core.isExhausted }

    /// The layout of the slots that `acquire` hands out next.
    public var layout: SurfaceLayout { core.layout }
    /// The generation of the slots that `acquire` hands out next, from 0.
    public var generation: UInt32 { core.statistics.generation }
    /// How full the pool is now.
    public var statistics: SurfacePoolStatistics { core.statistics }

    /// The surface of this pool, of any generation, whose memory begins at `address`.
    package func surface(at address: UnsafeRawPointer) -> Surface? { unsafe core.surface(at: address) }
}

/// How full a pool is.
public struct SurfacePoolStatistics: Sendable, Hashable {
    /// Counts the generations so far, from 0. `SurfacePool.retire` begins another, and so does a change of the allocator's epoch.
    public var generation: UInt32
    /// Most slots that one generation may have.
    public var capacity: Int
    /// Slots that have memory now, of all generations.
    public var allocated: Int
    /// Slots somebody holds now, of all generations.
    public var inUse: Int
    /// Bytes of memory now.
    public var byteCount: Int
    /// Surfaces made since the pool began; does not grow while slots are reused.
    public var allocations: Int

    /// Makes a report with these numbers; without arguments, that of a pool which does not exist yet.
    public init(generation: UInt32 = 0, capacity: Int = 0, allocated: Int = 0, inUse: Int = 0, byteCount: Int = 0, allocations: Int = 0) {
        self.generation = generation
        self.capacity = capacity
        self.allocated = allocated
        self.inUse = inUse
        self.byteCount = byteCount
        self.allocations = allocations
    }
}
