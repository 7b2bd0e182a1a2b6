import Media
import TestSupport
import Testing

@testable import SurfacePool

private func time(_ milliseconds: Int64) -> HostTime { HostTime(nanoseconds: milliseconds * 1_000_000) }

/// Takes a slot and gives it memory where it has none.
private func acquire(_ state: inout SurfacePoolState) -> Int? {
    switch state.acquire() {
    case .reuse(let index): return index
    case .allocate(let index, _):
        state.allocated(index, succeeded: true)
        return index
    case .exhausted, .closed: return nil
    }
}

@Suite("SurfacePoolState")
struct SurfacePoolStateTests {
    @Test("a slot is free when the producer has dropped it, no use is left and every fence has signalled, in any order")
    func threeConditions() {
        enum Step: CaseIterable { case producer, use, fencedUse, fence }
        // The fence can only signal after the use that it came with has ended.
        let orders: [[Step]] = [
            [.producer, .use, .fencedUse, .fence], [.use, .producer, .fencedUse, .fence], [.fencedUse, .fence, .use, .producer],
            [.fencedUse, .use, .producer, .fence], [.use, .fencedUse, .fence, .producer], [.fencedUse, .producer, .fence, .use],
        ]
        for order in orders {
            var state = SurfacePoolState(byteCountPerSlot: 100, minimumCount: 0, maximumCount: 1)
            let slot = acquire(&state)!
            let endsWriting = [state.share(slot), state.share(slot)]
            #expect(endsWriting == [true, false], "the first share ends the writing")
            for (number, step) in order.enumerated() {
                let canRecover = state.slots[slot].isWithConsumers, refusal = state.acquire()
                #expect(refusal == .exhausted(canRecover: canRecover))
                let release =
                    switch step {
                    case .producer: state.endWriting(slot, now: time(0))
                    case .use: state.endUse(slot, now: time(0))
                    case .fencedUse: state.endUse(slot, fenced: true, now: time(0))
                    case .fence: state.fenceSignalled(slot, now: time(0))
                    }
                #expect(release.isFree == (number == order.count - 1), "\(order) step \(number)")
            }
            #expect(state.acquire() == .reuse(index: slot))
        }
    }

    @Test("the slot freed last is written next")
    func lastInFirstOut() {
        var state = SurfacePoolState(byteCountPerSlot: 100, minimumCount: 0, maximumCount: 3)
        let slots = (0..<3).map { _ in acquire(&state)! }
        for slot in [slots[1], slots[0], slots[2]] { _ = state.endWriting(slot, now: time(0)) }
        #expect((0..<3).map { _ in acquire(&state)! } == [slots[2], slots[0], slots[1]])
    }

    @Test("a pool grows only when nothing is free, up to its count and its bytes")
    func limits() {
        var byCount = SurfacePoolState(byteCountPerSlot: 100, minimumCount: 0, maximumCount: 2, maximumByteCount: 1000)
        #expect(acquire(&byCount) != nil && acquire(&byCount) != nil)
        #expect(byCount.acquire() == .exhausted(canRecover: false))
        var byBytes = SurfacePoolState(byteCountPerSlot: 400, minimumCount: 0, maximumCount: 9, maximumByteCount: 1000)
        #expect(acquire(&byBytes) != nil && acquire(&byBytes) != nil)
        #expect(byBytes.acquire() == .exhausted(canRecover: false))
        #expect(byBytes.byteCount == 800)
    }

    @Test("memory that cannot be had leaves the pool as it was")
    func failedAllocation() {
        var state = SurfacePoolState(byteCountPerSlot: 100, minimumCount: 0, maximumCount: 1)
        guard case .allocate(let index, let first) = state.acquire() else { Issue.record("nothing to allocate"); return }
        state.allocated(index, succeeded: false)
        #expect(state.byteCount == 0 && state.count == 0 && state.inUseCount == 0)
        guard case .allocate(_, let second) = state.acquire() else { Issue.record("nothing to allocate"); return }
        #expect(first != second, "identities are not given twice")
    }

    @Test("only the release after a refusal notifies")
    func notification() {
        var state = SurfacePoolState(byteCountPerSlot: 100, minimumCount: 0, maximumCount: 1)
        let slot = acquire(&state)!
        #expect(!state.endWriting(slot, now: time(0)).notifies)
        _ = acquire(&state)
        #expect(state.acquire() == .exhausted(canRecover: false))
        #expect(state.endWriting(slot, now: time(0)).notifies)
        _ = acquire(&state)
        #expect(!state.endWriting(slot, now: time(0)).notifies)
    }

    @Test("a retired generation drains: free slots go at once, used ones with their last use, and their bytes count until then")
    func generations() {
        var state = SurfacePoolState(byteCountPerSlot: 100, minimumCount: 0, maximumCount: 2, maximumByteCount: 350)
        let used = acquire(&state)!, idle = acquire(&state)!
        _ = state.share(used)
        _ = state.endWriting(used, now: time(0))
        _ = state.endWriting(idle, now: time(0))
        #expect(state.retire(byteCountPerSlot: 200) == [idle])
        #expect(state.generation == 1 && state.byteCount == 100)
        #expect(acquire(&state) != nil)
        #expect(state.acquire() == .exhausted(canRecover: true), "the old generation's bytes are still there")
        let release = state.endUse(used, now: time(0))
        #expect(release.isGone && release.notifies)
        #expect(state.byteCount == 200)
    }

    @Test("slot numbers are never given twice within a generation, even when the table's place is reused")
    func identities() {
        var state = SurfacePoolState(byteCountPerSlot: 100, minimumCount: 0, maximumCount: 2)
        var seen: Set<UInt32> = []
        for round in 0..<10 {
            guard case .allocate(let index, let slot) = state.acquire() else { Issue.record("nothing to allocate"); return }
            #expect(seen.insert(slot).inserted)
            state.allocated(index, succeeded: true)
            _ = state.endWriting(index, now: time(Int64(round)))
            #expect(state.trimOne(freeSinceBefore: time(Int64(round) + 1)) == index)
        }
    }

    @Test("ageing takes the longest-unused slots and leaves the minimum")
    func ageing() {
        var state = SurfacePoolState(byteCountPerSlot: 100, minimumCount: 1, maximumCount: 4)
        let slots = (0..<3).map { _ in acquire(&state)! }
        for (age, slot) in slots.enumerated() { _ = state.endWriting(slot, now: time(Int64(age) * 10)) }
        #expect(state.trimOne(freeSinceBefore: time(0)) == nil)
        #expect(state.trimOne(freeSinceBefore: time(15)) == slots[0])
        #expect(state.trimOne(freeSinceBefore: time(15)) == slots[1])
        #expect(state.trimOne(freeSinceBefore: time(1000)) == nil)
        #expect(state.count == 1)
    }

    @Test("a closed pool gives nothing out and lets what is in use drain")
    func closing() {
        var state = SurfacePoolState(byteCountPerSlot: 100, minimumCount: 1, maximumCount: 2)
        let used = acquire(&state)!, idle = acquire(&state)!
        _ = state.endWriting(idle, now: time(0))
        #expect(state.close() == [idle])
        #expect(state.acquire() == .closed)
        #expect(state.endWriting(used, now: time(0)).isGone)
        #expect(state.byteCount == 0 && state.allocatedCount == 0)
    }

    @Test("whatever happens in whatever order, no slot is given out while anybody holds it", arguments: 1...20)
    func property(seed: UInt64) {
        struct Model { var producer = false, uses = 0, fences = 0, generation: UInt32 = 0 }
        var random = Dice(seed: seed)
        var state = SurfacePoolState(byteCountPerSlot: 100, minimumCount: 1, maximumCount: 6, maximumByteCount: 1000)
        var model: [Int: Model] = [:]
        for step in 0..<4000 {
            let now = time(Int64(step))
            let held = model.keys.sorted()
            let slot = held.randomElement(using: &random)
            switch Int.random(in: 0..<100, using: &random) {
            case 0..<35:
                if let index = acquire(&state) {
                    #expect(model[index] == nil, "slot \(index) given out while held, step \(step)")
                    model[index] = Model(producer: true, generation: state.generation)
                }
            case 35..<50: if let slot, model[slot]!.producer { _ = state.share(slot); model[slot]!.uses += 1 }
            case 50..<60: if let slot, model[slot]!.uses > 0 { state.addUse(slot); model[slot]!.uses += 1 }
            case 60..<75: if let slot, model[slot]!.producer { _ = state.endWriting(slot, now: now); model[slot]!.producer = false }
            case 75..<90:
                if let slot, model[slot]!.uses > 0 {
                    let fenced = Bool.random(using: &random)
                    let release = state.endUse(slot, fenced: fenced, now: now)
                    model[slot]!.uses -= 1
                    if fenced { model[slot]!.fences += 1 }
                    #expect(release.hasEndedReading == (model[slot]!.uses == 0 && model[slot]!.fences == 0))
                }
            case 90..<97:
                if let slot, model[slot]!.fences > 0 {
                    let release = state.fenceSignalled(slot, now: now)
                    model[slot]!.fences -= 1
                    #expect(release.hasEndedReading == (model[slot]!.uses == 0 && model[slot]!.fences == 0))
                }
            case 97: _ = state.trimOne(freeSinceBefore: now)
            default: _ = state.retire(byteCountPerSlot: Bool.random(using: &random) ? 100 : 150)
            }
            model = model.filter { $0.value.producer || $0.value.uses > 0 || $0.value.fences > 0 }
            #expect(state.inUseCount == model.count)
            #expect(state.byteCount <= 1000 && state.count <= 6)
        }
    }
}
