internal import Media

extension SurfacePoolCore {
    // MARK: Generations, age, end

    func retire(_ layout: SurfaceLayout) {
        announce(monitor.change { $0.retire(layout) })
    }

    /// Begins a new generation of the same layout when the allocator has changed over to other memory. What is in use is shown as it is.
    func followAllocator() {
        let epoch = allocator.epoch
        announce(
            monitor.withLock { guarded in
                if guarded.epoch == epoch { return [] }
                guarded.epoch = epoch
                return guarded.retire(guarded.layout)
            })
    }

    /// Retires unless the pool has `layout` already.
    func adopt(_ layout: SurfaceLayout) {
        announce(monitor.withLock { $0.layout == layout ? [] : $0.retire(layout) })
    }

    func trim(olderThan age: HostSpan) {
        let limit = MonotonicClock.shared.now() - age
        while let entry = monitor.withLock({ guarded in
            guarded.state.trimOne(freeSinceBefore: limit).map { guarded.remove([$0])[0] }
        }) {
            announce([entry])
        }
    }

    func close() {
        let gone = monitor.change { guarded -> [Entry] in
            let indices = guarded.state.close()
            guarded.freeObservers = []
            return guarded.remove(indices)
        }
        announce(gone)
    }

    private func announce(_ entries: [Entry]) {
        for entry in entries {
            for observer in entry.goneObservers { observer(entry.surface!.identity) }
        }
    }

    // MARK: Observers and questions

    func addFreeObserver(_ body: @escaping @Sendable () -> Void) {
        monitor.withLock { guarded in
            if !guarded.state.isClosed { guarded.freeObservers.append(body) }
        }
    }

    /// False when the surface is gone already.
    func addGoneObserver(_ body: @escaping @Sendable (SurfaceIdentity) -> Void, for surface: Surface) -> Bool {
        monitor.withLock { guarded in
            guard surface.index < guarded.entries.count, guarded.entries[surface.index].surface === surface else { return false }
            guarded.entries[surface.index].goneObservers.append(body)
            return true
        }
    }

    func surface(at address: UnsafeRawPointer) -> Surface? {
        let bits = UInt(bitPattern: address)
        return monitor.withLock { guarded in
            for entry in guarded.entries {
                if let surface = entry.surface, surface.baseBits == bits { return surface }
            }
            return nil
        }
    }

    func isInUse(_ surface: Surface) -> Bool {
        monitor.withLock { guarded in
            guard surface.index < guarded.entries.count, guarded.entries[surface.index].surface === surface else { return false }
            return !guarded.state.slots[surface.index].isFree
        }
    }

    var isExhausted: Bool { monitor.withLock { $0.state.isExhausted } }

    var layout: SurfaceLayout { monitor.withLock { $0.layout } }

    var statistics: SurfacePoolStatistics {
        monitor.withLock { guarded in
            SurfacePoolStatistics(
                generation: guarded.state.generation, capacity: guarded.state.maximumCount, allocated: guarded.state.allocatedCount,
                inUse: guarded.state.inUseCount, byteCount: guarded.state.byteCount, allocations: guarded.allocations)
        }
    }
}
