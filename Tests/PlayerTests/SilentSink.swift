import DisplaySink
import PixelConversion
import SurfacePool

/// A display that never asks for a frame.
final class SilentSink: DisplaySink {
    let name = "silent"
    let pacing = Pacing.display
    let surfaceHoldCount = 1
    var preferredAllocator: any SurfaceAllocator { MemfdAllocator() }
    var conversion: ConversionReport? { nil }
    func start(_ queue: PresentationQueue, events: @escaping @Sendable (SinkEvent) -> Void) throws(SinkError) {}
    func stop() {}
}
