internal import Media

/// A pool's slots and every decision about them, without memory, lock or clock.
///
///     vacant ── acquire ──► allocating ──► writing ── share ──► writing + n uses ── endWriting ──► n uses ──┐
///       ▲                                     ▲                                                            │ last use ends
///       │ retired, aged or closed             │ acquire                                                    ▼
///       └──────────────────────────────── free ◄────────────── fences signal ────────────────── awaiting fences
///
/// A slot is free when (a) the producer has dropped it, (b) its use count is zero and (c) every fence handed in with an
/// ended use has signalled. Nothing else frees it.
struct SurfacePoolState {
    struct Slot {
        enum Memory { case none, coming, present }
        var memory = Memory.none
        var generation: UInt32 = 0
        var byteCount = 0
        /// The producer holds it: it writes, or keeps it as a reference picture.
        var isHeld = false
        /// The producer has not shared it since it acquired it.
        var isBeingWritten = false
        var uses = 0
        var fences = 0
        var freeSince = HostTime.distantPast

        var isFree: Bool { memory == .present && !isHeld && uses == 0 && fences == 0 }
        /// A consumer keeps it from being free, so waiting makes sense.
        var isWithConsumers: Bool { memory == .present && (uses > 0 || fences > 0) }
    }

    enum Acquisition: Equatable {
        /// Take the free slot `index`.
        case reuse(index: Int)
        /// Make memory for the slot `index`, then report with `allocated`.
        case allocate(index: Int, slot: UInt32)
        /// No slot is free. `canRecover`: consumers hold slots, so one will come back.
        case exhausted(canRecover: Bool)
        case closed
    }

    /// What the shell must do after a slot was given back in part or in whole.
    struct Release: Equatable {
        /// No reader and no reading device is left: what kept the frame alive for readers can go.
        var hasEndedReading = false
        /// The slot can be acquired again: wake the waiters.
        var isFree = false
        /// The slot's memory goes.
        var isGone = false
        /// Somebody was refused before: tell the observers.
        var notifies = false
    }

    let minimumCount: Int
    let maximumCount: Int
    /// Bytes of all generations together.
    let maximumByteCount: Int
    private(set) var generation: UInt32 = 0
    private(set) var byteCountPerSlot: Int
    private(set) var isClosed = false
    private(set) var slots: [Slot] = []
    private(set) var byteCount = 0
    /// Slots of this generation that have or are getting memory.
    private(set) var count = 0
    /// Free slots of this generation, the warmest in the cache last.
    private var free: [Int] = []
    private var nextSlotNumber: UInt32 = 0
    private var wasRefused = false

    init(byteCountPerSlot: Int, minimumCount: Int, maximumCount: Int, maximumByteCount: Int = .max) {
        precondition(byteCountPerSlot > 0 && minimumCount >= 0 && maximumCount >= 1 && minimumCount <= maximumCount)
        self.byteCountPerSlot = byteCountPerSlot
        self.minimumCount = minimumCount
        self.maximumCount = maximumCount
        self.maximumByteCount = maximumByteCount
        slots.reserveCapacity(maximumCount)
        free.reserveCapacity(maximumCount)
    }

    // MARK: The producer's side

    mutating func acquire() -> Acquisition {
        guard !isClosed else { return .closed }
        if let index = free.popLast() {
            slots[index].isHeld = true
            slots[index].isBeingWritten = true
            return .reuse(index: index)
        }
        guard count < maximumCount, byteCountPerSlot <= maximumByteCount - byteCount else {
            wasRefused = true
            return .exhausted(canRecover: slots.contains(where: \.isWithConsumers))
        }
        let index: Int
        if let vacant = slots.firstIndex(where: { $0.memory == .none }) {
            index = vacant
        } else {
            index = slots.count
            slots.append(Slot())
        }
        slots[index] = Slot(memory: .coming, generation: generation, byteCount: byteCountPerSlot, isHeld: true, isBeingWritten: true)
        byteCount += byteCountPerSlot
        count += 1
        defer { nextSlotNumber += 1 }
        return .allocate(index: index, slot: nextSlotNumber)
    }

    /// `acquire` would return a slot now, or waiting for consumers makes sense.
    var canMakeProgress: Bool {
        isClosed || !free.isEmpty || (count < maximumCount && byteCountPerSlot <= maximumByteCount - byteCount)
            || slots.contains(where: \.isWithConsumers)
    }

    /// One slot around memory that exists and has been written: the producer holds it, and it goes when it is given back.
    init(adopting byteCount: Int) {
        self.init(byteCountPerSlot: byteCount, minimumCount: 0, maximumCount: 1)
        _ = acquire()
        allocated(0, succeeded: true)
        slots[0].isBeingWritten = false
        isClosed = true
    }

    /// The memory that `acquire` asked for has been allocated, or the allocation failed.
    mutating func allocated(_ index: Int, succeeded: Bool) {
        precondition(slots[index].memory == .coming)
        if succeeded { slots[index].memory = .present } else { vacate(index) }
    }

    /// A reader gets the frame for the first time, or again, from the producer. True when this ends the writing.
    mutating func share(_ index: Int) -> Bool {
        precondition(slots[index].isHeld, "a surface is shared by the producer that holds it")
        slots[index].uses += 1
        defer { slots[index].isBeingWritten = false }
        return slots[index].isBeingWritten
    }

    mutating func endWriting(_ index: Int, now: HostTime) -> Release {
        precondition(slots[index].isHeld, "a surface's writing ends once")
        slots[index].isHeld = false
        slots[index].isBeingWritten = false
        return settle(index, now: now)
    }

    /// An `acquire` now would have to wait for somebody.
    var isExhausted: Bool { free.isEmpty && (count >= maximumCount || byteCountPerSlot > maximumByteCount - byteCount) }

    // MARK: The readers' side

    mutating func addUse(_ index: Int) {
        precondition(slots[index].uses > 0, "a use is made from a use")
        slots[index].uses += 1
    }

    /// A reader is done; `fenced` when the end of its reading will be signalled later.
    mutating func endUse(_ index: Int, fenced: Bool = false, now: HostTime) -> Release {
        precondition(slots[index].uses > 0, "a use ends once")
        slots[index].uses -= 1
        if fenced { slots[index].fences += 1 }
        return settle(index, now: now)
    }

    mutating func fenceSignalled(_ index: Int, now: HostTime) -> Release {
        precondition(slots[index].fences > 0)
        slots[index].fences -= 1
        return settle(index, now: now)
    }

    private mutating func settle(_ index: Int, now: HostTime) -> Release {
        let hasEndedReading = slots[index].uses == 0 && slots[index].fences == 0
        guard slots[index].isFree else { return Release(hasEndedReading: hasEndedReading) }
        let refused = wasRefused
        wasRefused = false
        if isClosed || slots[index].generation != generation {
            vacate(index)
            return Release(hasEndedReading: hasEndedReading, isFree: true, isGone: true, notifies: refused && !isClosed)
        }
        slots[index].freeSince = now
        free.append(index)
        return Release(hasEndedReading: hasEndedReading, isFree: true, notifies: refused)
    }

    private mutating func vacate(_ index: Int) {
        byteCount -= slots[index].byteCount
        if slots[index].generation == generation { count -= 1 }
        slots[index] = Slot()
    }

    // MARK: Growing old

    /// Starts a new generation. Free slots go now (their indices are returned), the others when they are given back.
    mutating func retire(byteCountPerSlot: Int) -> [Int] {
        let gone = free
        gone.forEach { vacate($0) }
        free.removeAll(keepingCapacity: true)
        generation += 1
        nextSlotNumber = 0
        count = 0
        self.byteCountPerSlot = byteCountPerSlot
        return gone
    }

    /// The longest-unused free slot if it has been free since before `limit` and the pool keeps `minimumCount` without it.
    mutating func trimOne(freeSinceBefore limit: HostTime) -> Int? {
        guard count > minimumCount, let coldest = free.first, slots[coldest].freeSince < limit else { return nil }
        free.removeFirst()
        vacate(coldest)
        return coldest
    }

    /// No slot is given out from here on; those in use drain.
    mutating func close() -> [Int] {
        isClosed = true
        let gone = free
        gone.forEach { vacate($0) }
        free.removeAll()
        return gone
    }

    /// Slots that are not free, of every generation.
    var inUseCount: Int { slots.reduce(0) { $0 + ($1.memory != .none && !$1.isFree ? 1 : 0) } }
    /// Slots that have memory, of every generation.
    var allocatedCount: Int { slots.reduce(0) { $0 + ($1.memory != .none ? 1 : 0) } }
}
