internal import DisplaySink
internal import SurfacePool
final class WaylandSink: DisplaySink, Sendable {
    init() throws(SinkError) { throw SinkError(.noDisplay, "No Wayland display can be reached.") }
    var summary: String { "" }
    let name = "wayland"
    let pacing = Pacing.display
    let surfaceHoldCount = 0
    var preferredAllocator: any SurfaceAllocator { MemfdAllocator() }
    func start(_ queue: PresentationQueue, events: @escaping @Sendable (SinkEvent) -> Void) throws(SinkError) {}
    func stop() {}
    var conversion: ConversionReport? { nil }
}
