import FilmReference
import Foundation
import FrameExport
import Media
import SurfacePool
import TestSupport
import Testing

/// Real DMA-BUFs and real fences, which the lab's virtual machine has.
@Suite(
    "Exported DMA-BUFs", .serialized, .enabled(if: LabLibraries.areHere, "udmabuf, DMA heaps and vgem are in the virtual machine: scripts/lab suite"))
struct GuestTests {
    private static let findings = SurfaceAllocators.findings().filter { $0.allocator != nil && $0.name != "memfd" }
    static let allocators = LabLibraries.areHere ? findings.map(\.name) : ["udmabuf"]
    static let films = ["plain.mp4", "hevc-10bit.mp4", "odd-size.webm", "odd-size-444.mp4", "crop.mp4", "size-change.h264"]

    private static func allocator(_ name: String) throws -> any SurfaceAllocator { try #require(findings.first { $0.name == name }?.allocator) }
    private static var limit: HostTime { MonotonicClock.shared.now() + .seconds(120) }

    /// What a client sees of a frame.
    private struct Sight: Equatable {
        var sequence: UInt64
        var size: PixelSize
        /// Which DMA-BUF it is, for every process.
        var inode: UInt64
        var memory: String
        /// Of the visible pixels.
        var image: String

        init(_ frame: borrowing ExportedFrame) {
            let facts = frame.description
            sequence = facts.sequence
            size = facts.visible.size
            var status = stat()
            inode = unsafe fstat(frame.fd, &status) == 0 ? UInt64(status.st_ino) : 0
            memory = unsafe frame.withUnsafeBytes { unsafe Checksum.md5([UInt8]($0)) } ?? "unreadable"
            image =
                unsafe frame.withUnsafeBytes { unsafe FrameBytes(layout: facts.layout, visible: facts.visible, memory: $0).md5 } ?? "unreadable"
        }
    }

    @Test("films reach another process as the decoder made them", arguments: allocators, films)
    func film(allocator: String, name: String) throws {
        let server = try FrameServer(path: ExportStage.socketPath(), configuration: .init(isLossless: true))
        defer { server.stop() }
        let film = ExportedFilm(TestAssets.path(name), exporter: server.exporter, allocator: try Self.allocator(allocator))
        let source = try RemoteFrameSource(path: server.path)
        try film.begin()
        var images: [String] = []
        while let frame = source.waitForFrame(until: Self.limit) {
            #expect(frame.description.isDMABuf)
            images.append(Sight(frame).image)
        }
        #expect(source.error == nil && film.bytesCopied == 0)
        let reference = try FilmReference.sums(TestAssets.path(name))
        #expect(!images.isEmpty && images == reference)
    }

    @Test("GStreamer takes DMA-BUFs and gives them on", arguments: films)
    func relay(name: String) throws { try relay(name, of: "udmabuf", through: .lab) }

    @Test("so does that of Debian 13, of either kind", arguments: allocators, ["plain.mp4", "hevc-10bit.mp4"])
    func olderRelay(allocator: String, name: String) throws { try relay(name, of: allocator, through: .trixie) }

    /// A pipeline of GStreamer's takes the DMA-BUFs by their caps and hands them on to a client of ours, which must see the same memory.
    private func relay(_ name: String, of allocator: String, through gstreamer: Relay.GStreamer) throws {
        let server = try FrameServer(path: ExportStage.socketPath(), configuration: .init(isLossless: true))
        defer { server.stop() }
        let film = ExportedFilm(TestAssets.path(name), exporter: server.exporter, allocator: try Self.allocator(allocator))
        let pipeline = try Relay(gstreamer, from: server.path)
        defer { pipeline.end() }
        _ = Polling.until { server.statistics.clients >= 1 || !pipeline.isRunning }
        let direct = try RemoteFrameSource(path: server.path), relayed = try pipeline.source()
        _ = Polling.until { server.statistics.clients >= 2 || !pipeline.isRunning }
        try film.begin()
        var images: [String] = []
        while let frame = direct.waitForFrame(until: Self.limit) {
            let here = Sight(frame)
            images.append(here.image)
            switch relayed.waitForFrame(until: Self.limit) {
            case .some(let frame):
                let there = Sight(frame)
                #expect(frame.description.isDMABuf)
                #expect(there.sequence == here.sequence && there.size == here.size && there.inode == here.inode && there.memory == here.memory)
            case .none:
                Issue.record("GStreamer gave nothing on: \(relayed.error?.description ?? "") \(pipeline.errors)")
                return
            }
        }
        let reference = try FilmReference.sums(TestAssets.path(name))
        #expect(!images.isEmpty && images == reference)
    }

    @Test func `a device that hangs costs its slot and one notice, in this process and in another`() throws {
        let node = try PendingFence.load(), server = try FrameServer(path: ExportStage.socketPath(), configuration: .init(clientBudget: 2))
        defer { server.stop() }
        let film = ExportedFilm(TestAssets.path("plain.mp4"), exporter: server.exporter, allocator: try Self.allocator("udmabuf"), loops: true)
        let source = try RemoteFrameSource(path: server.path)
        try film.begin()
        let device = try PendingFence(node: node)
        switch source.waitForFrame(until: Self.limit) {
        // The client's device is told to read; the fence goes into the DMA-BUF, and the client says that it is done.
        case .some(let frame): frame.release(after: try device.fence())
        case .none: Issue.record("no frame came")
        }
        #expect(film.goesOn(30, until: Self.limit), "the decoder waits for the device")
        let notices = film.notices(1, until: Self.limit)
        #expect(notices.count == 1 && notices[0].hasPrefix("Exporter \(server.exporter.number): the fence that slot "), "\(notices)")
        #expect(film.goesOn(30, until: Self.limit) && server.exporter.statistics.lateFences == 1)
        try device.signal()
    }
}
