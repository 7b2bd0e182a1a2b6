import DisplaySink
import Foundation
import Media
import SurfacePool
import TestSupport
import Testing

@testable import FrameExport

/// Frames of another process, and frames in a caller's memory, in sinks and exporters.
@Suite struct RemoteSinkTests {
    /// The checksums that a sink writes of the frames that `offer` gives it.
    private func checksums(_ offer: (PresentationQueue) throws -> Void) throws -> [String] {
        let path = "/tmp/remote-sink-\(UUID().uuidString.prefix(8)).md5"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let sink = try FrameMD5Sink(path: path)
        let queue = PresentationQueue(capacity: 4, timebase: Timebase(), pacing: sink.pacing)
        try sink.start(queue) { _ in }
        try offer(queue)
        queue.markEndOfStream()
        sink.stop()
        return try #require(FrameMD5File(path: path)).lines.map(\.hash)
    }

    @Test func `a remote frame goes into any sink, and back to its server`() throws {
        let stage = ExportStage(slots: 6), server = try FrameServer(path: ExportStage.socketPath(), configuration: .init(isLossless: true))
        defer { server.stop() }
        server.exporter.connect(to: stage.timebase, isPaced: false)
        let source = try RemoteFrameSource(path: server.path)
        var identities: Set<SurfaceIdentity> = []
        let remote = try checksums { queue in
            // Five times as many frames as slots: each must come back.
            for _ in 0..<30 {
                guard let frame = Polling.first(stage.next) else {
                    Issue.record("no slot came back")
                    return
                }
                server.exporter.offer(frame.copy())
                guard let received = source.waitForFrame(until: MonotonicClock.shared.now() + .seconds(60)) else {
                    Issue.record("no frame came")
                    return
                }
                identities.insert(received.description.identity)
                queue.enqueue(received.videoFrame())
            }
        }
        let direct = ExportStage(slots: 6)
        let expected = try checksums { queue in for _ in 0..<30 { queue.enqueue(direct.next()!.copy()) } }
        #expect(remote == expected && Set(remote).count == 30)
        #expect(identities.count <= 6, "memory that comes again is known again")
    }

    @Test func `a frame that waits for a fence goes back when it has signalled`() throws {
        let stage = ExportStage(slots: 2), server = try FrameServer(path: ExportStage.socketPath(), configuration: .init(isLossless: true))
        defer { server.stop() }
        server.exporter.connect(to: stage.timebase, isPaced: false)
        let source = try RemoteFrameSource(path: server.path)
        server.exporter.offer(try stage.nextWhenFree().copy())
        let bell = try EventFD()
        try #require(source.receive()).take()!.release(after: bell.fence())
        // The exporter keeps this one as its current frame; the first one's slot is kept by the fence alone.
        server.exporter.offer(try stage.nextWhenFree().copy())
        let second = try #require(source.receive())
        #expect(stage.next() == nil && second.number == 1)
        bell.signal()
        let frame = Polling.first(stage.next)
        #expect(frame != nil && source.error == nil)
    }

    @Test func `plain memory is copied for a client, and shown as it is`() throws {
        let layout = ExportStage.layout, released = Monitor(0)
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: layout.byteCount, alignment: 64)
        defer { unsafe memory.deallocate() }
        unsafe memory.initializeMemory(as: UInt8.self, repeating: 77)
        do {
            let use = try unsafe SurfaceUse(SurfaceMemory(bytes: memory) { released.withLock { $0 += 1 } }, layout)
            let frame = SharedFrame(VideoFrame(use: use, visible: PixelRect(PixelSize(width: 64, height: 16)), presentationTime: .zero, sequence: 0))
            let exporter = FrameExporter()
            exporter.connect(to: Timebase(), isPaced: false)
            exporter.offer(frame.copy())
            for isNew in [true, false] {
                let held = try #require(exporter.pull(MonotonicClock.shared.now()))
                #expect(held.isCopy && held.isNew == isNew && held.number == 77 && held.fd >= 0 && !held.description.isDMABuf)
            }
            #expect(exporter.statistics.bytesCopied == 2 * layout.byteCount && exporter.statistics.delivered == 1)
            exporter.cancel()
            #expect(try checksums { $0.enqueue(frame.copy()) }.count == 1)
        }
        #expect(released.withLock { $0 } == 1)
    }
}
