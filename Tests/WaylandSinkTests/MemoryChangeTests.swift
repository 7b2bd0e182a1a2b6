import DisplaySink
import Media
import SinkConformance
import SurfacePool
import TestSupport
import Testing
import WaylandSink

/// A compositor that changes its mind about the memory it likes best, as one does whose window now covers the monitor of a display controller
/// beside the GPU: only linux-dmabuf's feedback says so. The memory itself is plain here, under other names.
@Suite("From one kind of memory to another", .serialized)
struct MemoryChangeTests {
    /// Plain memory that passes for another kind.
    private struct Disguised: SurfaceAllocator {
        var name: String
        let allocated = Monitor(0)
        func allocate(_ layout: SurfaceLayout) throws(SurfaceError) -> SurfaceMemory {
            allocated.withLock { $0 += 1 }
            return try MemfdAllocator().allocate(layout)
        }
        var count: Int { allocated.withLock { $0 } }
    }

    @Test("frames are made in the memory that the display scans out from now on, and none is lost or wrong on the way there and back")
    func changes() throws {
        let best = Disguised(name: "best"), contiguous = Disguised(name: "contiguous")
        var kinds = FeedbackAllocator.Allocators()
        (kinds.best, kinds.contiguous) = (best, contiguous)
        let memory = kinds
        let scene = try CompositorManners.Scene(.gl, { $0.dmabufs = .drawn }, makeSink: { try WaylandSink(display: $0, memory: memory) })
        var number = 0
        /// Each is waited for, so that none may be left out for want of time.
        func show(_ count: Int) throws {
            for _ in 0..<count {
                try scene.show(number)
                #expect(scene.tap.findings.lastWord == TestFrames.word(number, 0), "another frame than \(number)")
                number += 1
            }
        }
        try show(8)
        #expect(scene.sink.preferredAllocator.name == "best" && best.count > 0 && contiguous.count == 0)
        for (offer, allocator) in [(WireTap.DMABufs.scannedOutElsewhere, contiguous), (.drawn, best), (.scannedOutElsewhere, contiguous)] {
            let (before, commits) = (allocator.count, scene.tap.findings.commits)
            // A frame is on its way, and its memory is kept.
            scene.queue.enqueue(try scene.frames.frame(number, rate: 60, flags: .displayImmediately))
            number += 1
            scene.tap.change { $0.dmabufs = offer }
            #expect(scene.wait { scene.sink.preferredAllocator.name == allocator.name })
            #expect(scene.wait { scene.tap.findings.commits == commits + 1 && scene.queue.statistics.framesPresented == number })
            try show(12)
            #expect(allocator.count > before && allocator.count <= before + 12, "\(allocator.count - before) allocations")
        }
        #expect(scene.wait { scene.queue.statistics.framesPresented == number })
        #expect(scene.queue.statistics.dropped(.late) == 0)
        scene.sink.stop()
        scene.tap.stop()
        let findings = scene.tap.findings
        #expect(findings.commits == number && findings.changed == 0 && findings.unchanged == number, "\(findings)")
        #expect(scene.frames.inUse == 0 && scene.failures.isEmpty)
    }
}
