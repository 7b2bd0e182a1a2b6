import Foundation
import FrameExport
import Glibc
import Media
import SurfacePool
import TestSupport
import Testing

/// Points of a real device's timeline, virtio-gpu's, with real DMA-BUFs and fences: the lab's virtual machine has them.
@Suite(.serialized, .enabled(if: LabLibraries.areHere, "a device with timelines is in the virtual machine: scripts/lab suite"))
struct GuestTimelineTests {
    private static var limit: HostTime { MonotonicClock.shared.now() + .seconds(120) }

    private static func open(_ path: String) throws -> OwnedFD {
        let fd = unsafe Glibc.open(path, O_RDWR | O_CLOEXEC)
        guard fd >= 0 else { throw SystemError(errno, "open \(path)") }
        return OwnedFD(adopting: fd)
    }

    /// The first device that has timelines.
    private static func timeline(_ syncobj: Int32? = nil) throws -> SyncTimeline {
        for name in try FileManager.default.contentsOfDirectory(atPath: "/dev/dri").sorted() where name.hasPrefix("card") {
            let device = try open("/dev/dri/" + name)
            if let timeline = try? SyncTimeline(device: device.rawValue, syncobj: syncobj) { return timeline }
        }
        throw SystemError(ENODEV, "find a device with timelines")
    }

    private static func exporter(budget: Int = 2) throws -> (FrameExporter, ExportedFilm) {
        let exporter = FrameExporter(FrameExporterConfiguration(budget: budget))
        let found = SurfaceAllocators.findings().first { $0.name == "udmabuf" }?.allocator
        let film = try ExportedFilm(TestAssets.path("plain.mp4"), exporter: exporter, allocator: #require(found), loops: true)
        try film.begin()
        return (exporter, film)
    }

    private static func setAcquirePoint(_ point: UInt64, of timeline: SyncTimeline, for held: HeldFrame) throws {
        let error = held.withFrame { frame -> SystemError? in
            do throws(SystemError) { try frame.setAcquirePoint(point, of: timeline) } catch { return error }
            return nil
        }
        if let error = error ?? nil { throw error }
    }

    private static func hasFrame(_ exporter: FrameExporter) -> Bool {
        switch exporter.waitForFrame(until: .distantPast) {
        case .some: true
        case .none: false
        }
    }

    @Test func `a device without timelines says so`() throws {
        let node = try PendingFence.load(), device = try Self.open(node)
        let error = #expect(throws: SystemError.self) { try SyncTimeline(device: device.rawValue) }
        #expect(error?.code == EOPNOTSUPP)
    }

    /// Whether the fence at the point signals within the limit, or has by now.
    private static func isReached(_ point: UInt64, of timeline: SyncTimeline, waiting: Bool = false) throws -> Bool {
        let fence = try timeline.fence(at: point)
        return fence.wait(until: waiting ? limit : .distantPast)
    }

    @Test func `points are reached by hand, by fences, and through another's descriptor`() throws {
        let timeline = try Self.timeline(), device = try PendingFence(node: try PendingFence.load())
        #expect(timeline.reached == 0)
        #expect(throws: SystemError.self) { try timeline.signal(0) }
        try timeline.signal(1)
        let isFirstReached = try Self.isReached(1, of: timeline)
        #expect(isFirstReached && timeline.reached == 1)
        try timeline.signal(2, after: try device.fence())
        let descriptor = try timeline.descriptor(), other = try Self.timeline(descriptor.rawValue), number = descriptor.take()
        close(number)
        let isSecondReached = try Self.isReached(2, of: other)
        #expect(!isSecondReached && other.reached == 1)
        try device.signal()
        let isReachedThen = try Self.isReached(2, of: other, waiting: true)
        #expect(isReachedThen && other.reached == 2)
        // Nobody has said yet what reaches this one.
        let third = try timeline.fence(at: 3), isThirdReached = third.isSignalled
        #expect(!isThirdReached)
        try other.signal(3)
        let isReachedAtLast = third.wait(until: Self.limit)
        #expect(isReachedAtLast && timeline.reached == 3)
    }

    @Test func `a frame that a device still writes may be read at its acquire point`() throws {
        let (exporter, film) = try Self.exporter(), timeline = try Self.timeline(), device = try PendingFence(node: try PendingFence.load())
        let finished = try exporter.nextFrame(until: Self.limit)
        try Self.setAcquirePoint(1, of: timeline, for: finished)
        #expect(timeline.reached == 1)
        try device.guardReaders(of: #require(finished.withFrame { $0.fd }))
        try Self.setAcquirePoint(2, of: timeline, for: finished)
        #expect(timeline.reached == 1)
        try device.signal()
        let isReached = try Self.isReached(2, of: timeline, waiting: true)
        #expect(isReached && timeline.reached == 2)
        _ = film
    }

    @Test(arguments: [true, false]) func `a frame is written again when its release point is reached`(_ isSubmittedBefore: Bool) throws {
        let (exporter, film) = try Self.exporter(budget: 1), timeline = try Self.timeline()
        let device = try PendingFence(node: try PendingFence.load())
        let frame = try exporter.nextFrame(until: Self.limit)
        if isSubmittedBefore { try timeline.signal(1, after: try device.fence()) }
        let fence = try timeline.fence(at: 1)
        frame.take()?.release(after: fence)
        // The whole budget waits for the point; the film waits for the client.
        #expect(Polling.holds(for: .milliseconds(50)) { !Self.hasFrame(exporter) })
        if isSubmittedBefore { try device.signal() } else { try timeline.signal(1) }
        _ = try exporter.nextFrame(until: Self.limit)
        _ = film
    }
}
