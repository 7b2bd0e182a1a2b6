internal import Media
package import SurfacePool

/// Allocates what the compositor can show best, and changes over when the compositor changes its mind: the window covers a monitor that could
/// scan the film out, or moves to another GPU.
///
/// Pools see the change by `epoch` and make their next surfaces anew; those that are on their way are shown as they are.
///
///     no linear DMA-BUFs taken                        memfd
///     scanned out by a device beside the GPU's        a heap of contiguous memory, where the machine has one
///     else                                            the best kind of the machine
///
/// Thread-safety: all of it.
package final class SteeredAllocator: SurfaceAllocator {
    /// What the machine has to choose from.
    package struct Kinds: Sendable {
        package var plain: any SurfaceAllocator = MemfdAllocator()
        /// nil where there are no DMA-BUFs to be had.
        package var best: (any SurfaceAllocator)?
        /// Memory without gaps, for display controllers that need it; nil where there is none.
        package var contiguous: (any SurfaceAllocator)?

        package init() {}

        /// This machine's.
        static func found() -> Kinds {
            var kinds = Kinds()
            for finding in SurfaceAllocators.findings() {
                guard let allocator = finding.allocator, finding.name != kinds.plain.name else { continue }
                if kinds.best == nil { kinds.best = allocator }
                // `linux,cma`, `default_cma_region`, `reserved`: the kernel's names for it.
                if kinds.contiguous == nil, ["cma", "reserved"].contains(where: finding.name.contains) { kinds.contiguous = allocator }
            }
            return kinds
        }
    }

    private struct State: Sendable {
        var current: any SurfaceAllocator
        var epoch = 0
    }

    private let kinds: Kinds
    private let state: Monitor<State>

    init(_ kinds: Kinds, _ offer: DMABufOffer) {
        self.kinds = kinds
        state = Monitor(State(current: Self.choice(kinds, offer)))
    }

    package var name: String { state.withLock { $0.current }.name }
    package var epoch: Int { state.withLock { $0.epoch } }
    package func allocate(_ layout: SurfaceLayout) throws(SurfaceError) -> SurfaceMemory { try state.withLock { $0.current }.allocate(layout) }

    /// Follows the compositor; true when from now on other memory is allocated than before.
    func follow(_ offer: DMABufOffer) -> Bool {
        let wanted = Self.choice(kinds, offer)
        return state.change { state in
            if wanted.name == state.current.name { return false }
            state.current = wanted
            state.epoch += 1
            return true
        }
    }

    private static func choice(_ kinds: Kinds, _ offer: DMABufOffer) -> any SurfaceAllocator {
        let linear = FormatModifier.linear.rawValue
        guard let best = kinds.best, offer.formats.contains(where: { $0.modifier == linear }) else { return kinds.plain }
        if let contiguous = kinds.contiguous, offer.isScannedOutElsewhere(modifier: linear) { return contiguous }
        return best
    }
}
