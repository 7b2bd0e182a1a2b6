internal import Media
internal import Synchronization

/// The part of a pool that outlives it. Surfaces in use refer to it, so that the last reader can give them back.
///
/// It asks the state under the lock and acts after unlocking: no allocation, system call or closure runs under the lock.
final class SurfacePoolCore: Sendable {
    /// A decoder library's reference to a frame, which keeps it for its readers.
    @safe
    struct Keeper: @unchecked Sendable {
        private let context: UnsafeMutableRawPointer
        private let release: @convention(c) (UnsafeMutableRawPointer) -> Void

        init(context: UnsafeMutableRawPointer, release: @escaping @convention(c) (UnsafeMutableRawPointer) -> Void) {
            unsafe self.context = context
            unsafe self.release = release
        }

        func end() { unsafe release(context) }
    }

    struct Entry {
        var surface: Surface?
        var keeper: Keeper?
        var goneObservers: [@Sendable (SurfaceIdentity) -> Void] = []
    }

    struct Guarded {
        var state: SurfacePoolState
        var layout: SurfaceLayout
        var entries: [Entry] = []
        var freeObservers: [@Sendable () -> Void] = []
        var isInterrupted = false
        var allocations = 0
        /// The allocator's epoch when this generation began.
        var epoch: Int

        mutating func retire(_ layout: SurfaceLayout) -> [Entry] {
            self.layout = layout
            return remove(state.retire(byteCountPerSlot: layout.byteCount))
        }

        mutating func remove(_ indices: [Int]) -> [Entry] {
            indices.map { index in
                defer { entries[index] = Entry() }
                return entries[index]
            }
        }
    }

    let monitor: Monitor<Guarded>
    let number: UInt32
    let allocator: any SurfaceAllocator

    private static let nextNumber = Atomic<UInt32>(1)

    init(layout: SurfaceLayout, state: SurfacePoolState, allocator: any SurfaceAllocator) {
        monitor = Monitor(Guarded(state: state, layout: layout, epoch: allocator.epoch))
        number = Self.nextNumber.wrappingAdd(1, ordering: .relaxed).oldValue
        self.allocator = allocator
    }

    /// A surface in memory that somebody else made, in a pool of its own. The producer holds it.
    static func surface(adopting memory: consuming SurfaceMemory, _ layout: SurfaceLayout) -> Surface {
        let core = SurfacePoolCore(layout: layout, state: SurfacePoolState(adopting: layout.byteCount), allocator: MemfdAllocator())
        let surface = Surface(
            identity: SurfaceIdentity(pool: core.number, generation: 0, slot: 0), layout: layout, memory: memory, core: core, index: 0)
        core.monitor.withLock { $0.entries = [Entry(surface: surface)] }
        return surface
    }

    // MARK: Acquiring

    private enum Grant: Sendable {
        case surface(Surface)
        case allocate(index: Int, identity: SurfaceIdentity, layout: SurfaceLayout)
        /// The pool's layout differs from the one asked for.
        case changed
        /// No consumer holds a slot, so waiting for one is useless.
        case stuck
        case nothing
    }

    /// A slot for the producer; waits until `deadline` (nil: for ever) while consumers hold what it needs, and for `patience` when
    /// all slots are in the producer's own hands.
    ///
    /// - Parameter layout: Starts a new generation when the pool has another layout; nil takes what the pool has.
    func acquire(
        _ layout: SurfaceLayout? = nil, waitingUntil deadline: HostTime?, patience: HostSpan = .zero
    ) throws(SurfaceError) -> SurfaceWriter? {
        while true {
            followAllocator()
            if let layout { adopt(layout) }
            switch monitor.wait(until: deadline, { guarded -> Grant? in self.grant(layout, &guarded) }) {
            case .surface(let surface):
                surface.bracketWriting(begin: true)
                return SurfaceWriter(acquired: surface)
            case .allocate(let index, let identity, let layout):
                return try allocate(index: index, identity: identity, layout: layout)
            case .changed:
                continue
            case .stuck:
                let limit = MonotonicClock.shared.now() + patience
                let isHopeful: Bool? = monitor.wait(until: limit) { $0.isInterrupted || $0.state.canMakeProgress ? true : nil }
                if isHopeful == nil { return nil }
            case .nothing, nil:
                return nil
            }
        }
    }

    private func grant(_ layout: SurfaceLayout?, _ guarded: inout Guarded) -> Grant? {
        if guarded.isInterrupted { return .nothing }
        if let layout, layout != guarded.layout { return .changed }
        switch guarded.state.acquire() {
        case .reuse(let index): return .surface(guarded.entries[index].surface!)
        case .allocate(let index, let slot):
            let identity = SurfaceIdentity(pool: number, generation: guarded.state.generation, slot: slot)
            return .allocate(index: index, identity: identity, layout: guarded.layout)
        case .exhausted(let canRecover): return canRecover ? nil : .stuck
        case .closed: return .nothing
        }
    }

    private func allocate(index: Int, identity: SurfaceIdentity, layout: SurfaceLayout) throws(SurfaceError) -> SurfaceWriter {
        do throws(SurfaceError) {
            let memory = try allocator.allocate(layout)
            guard memory.byteCount >= layout.byteCount, memory.access == .readWrite || memory.owner != nil else {
                throw SurfaceError(
                    .unavailable, "\(allocator.name) gave \(memory.byteCount) bytes where \(layout.byteCount) that can be written are needed.")
            }
            let surface = Surface(identity: identity, layout: layout, memory: memory, core: self, index: index)
            monitor.withLock { guarded in
                guarded.state.allocated(index, succeeded: true)
                guarded.allocations += 1
                while guarded.entries.count <= index { guarded.entries.append(Entry()) }
                guarded.entries[index] = Entry(surface: surface)
            }
            surface.bracketWriting(begin: true)
            return SurfaceWriter(acquired: surface)
        } catch {
            monitor.change { $0.state.allocated(index, succeeded: false) }
            throw error
        }
    }

    func setInterrupted(_ isInterrupted: Bool) {
        monitor.change { $0.isInterrupted = isInterrupted }
    }

    // MARK: Giving back

    /// Counts a reader of a surface that the producer holds. `keeper` is kept until the last reader has ended.
    func share(_ surface: Surface, keeper: Keeper?) {
        let (endsWriting, surplus) = monitor.withLock { guarded -> (Bool, Keeper?) in
            let endsWriting = guarded.state.share(surface.index)
            guard let keeper = keeper else { return (endsWriting, nil) }
            if guarded.entries[surface.index].keeper != nil { return (endsWriting, keeper) }
            guarded.entries[surface.index].keeper = keeper
            return (endsWriting, nil)
        }
        if endsWriting { surface.bracketWriting(begin: false) }
        surplus?.end()
    }

    func addUse(of surface: Surface) {
        monitor.withLock { $0.state.addUse(surface.index) }
    }

    func endUse(of surface: Surface) {
        settle(surface) { $0.endUse(surface.index, now: $1) }
    }

    func endUse(of surface: Surface, after fence: consuming SyncFile, owner: (any FenceOwner)?) {
        if fence.isSignalled { return endUse(of: surface) }
        settle(surface) { $0.endUse(surface.index, fenced: true, now: $1) }
        FenceWatcher.shared.watch(fence, for: surface, owner: owner)
    }

    func fenceSignalled(of surface: Surface) {
        settle(surface) { $0.fenceSignalled(surface.index, now: $1) }
    }

    func endWriting(of surface: Surface) {
        let wasBeingWritten = monitor.withLock { $0.state.slots[surface.index].isBeingWritten }
        if wasBeingWritten { surface.bracketWriting(begin: false) }
        settle(surface) { $0.endWriting(surface.index, now: $1) }
    }

    private func settle(_ surface: Surface, _ body: (inout SurfacePoolState, HostTime) -> SurfacePoolState.Release) {
        let now = MonotonicClock.shared.now()
        var keeper: Keeper?
        var gone: [@Sendable (SurfaceIdentity) -> Void] = []
        var free: [@Sendable () -> Void] = []
        monitor.change { guarded in
            let release = body(&guarded.state, now)
            if release.hasEndedReading {
                keeper = guarded.entries[surface.index].keeper
                guarded.entries[surface.index].keeper = nil
            }
            if release.isGone {
                gone = guarded.entries[surface.index].goneObservers
                guarded.entries[surface.index] = Entry()
            }
            if release.notifies { free = guarded.freeObservers }
        }
        keeper?.end()
        for observer in gone { observer(surface.identity) }
        for observer in free { observer() }
    }
}
