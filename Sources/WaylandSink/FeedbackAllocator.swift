internal import Media
package import SurfacePool

/// Allocates the memory that the compositor can show best. It follows the linux-dmabuf feedback, which changes when the window becomes a candidate
/// for scan-out or moves to another GPU.
///
/// A change increments `epoch`. Pools then allocate new surfaces; frames in older surfaces are still shown.
///
///     no linear DMA-BUFs accepted                     memfd
///     scan-out by a device other than the GPU         a contiguous dma-heap, if the machine has one
///     otherwise                                       the machine's best allocator
///
/// Thread-safety: all of it.
package final class FeedbackAllocator: SurfaceAllocator {
    /// The allocators to choose from.
    package struct Allocators: Sendable {
        package var plain: any SurfaceAllocator = MemfdAllocator()
        /// Allocates DMA-BUFs; nil when the machine cannot.
        package var best: (any SurfaceAllocator)?
        /// Allocates physically contiguous memory, which some display controllers need; nil when the machine cannot.
        package var contiguous: (any SurfaceAllocator)?

        package init() {}

        /// The allocators of this machine.
        static func available() -> Allocators {
            var allocators = Allocators()
            for finding in SurfaceAllocators.findings() {
                guard let allocator = finding.allocator, finding.name != allocators.plain.name else { continue }
                if allocators.best == nil { allocators.best = allocator }
                // The kernel's names are `linux,cma`, `default_cma_region` and `reserved`.
                if allocators.contiguous == nil, ["cma", "reserved"].contains(where: finding.name.contains) { allocators.contiguous = allocator }
            }
            return allocators
        }
    }

    private struct State: Sendable {
        var current: any SurfaceAllocator
        var epoch = 0
    }

    private let allocators: Allocators
    private let state: Monitor<State>

    init(_ allocators: Allocators, _ offer: DMABufOffer) {
        self.allocators = allocators
        state = Monitor(State(current: Self.choice(allocators, offer)))
    }

    package var name: String { state.withLock { $0.current }.name }
    package var epoch: Int { state.withLock { $0.epoch } }
    package func allocate(_ layout: SurfaceLayout) throws(SurfaceError) -> SurfaceMemory { try state.withLock { $0.current }.allocate(layout) }

    /// Follows new feedback. True when the allocator changes.
    func update(for offer: DMABufOffer) -> Bool {
        let wanted = Self.choice(allocators, offer)
        return state.change { state in
            if wanted.name == state.current.name { return false }
            state.current = wanted
            state.epoch += 1
            return true
        }
    }

    private static func choice(_ allocators: Allocators, _ offer: DMABufOffer) -> any SurfaceAllocator {
        let linear = FormatModifier.linear.rawValue
        guard let best = allocators.best, offer.formats.contains(where: { $0.modifier == linear }) else { return allocators.plain }
        if let contiguous = allocators.contiguous, offer.isScannedOutElsewhere(modifier: linear) { return contiguous }
        return best
    }
}
