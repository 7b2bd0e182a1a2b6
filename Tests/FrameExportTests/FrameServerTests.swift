import Foundation
import Media
import Sandbox
import SurfacePool
import TestSupport
import Testing

@testable import FrameExport

/// Server and client over a real socket, and clients that behave badly.
@Suite(.serialized) struct FrameServerTests {
    @Test func `frames arrive in order with their facts, in the memory that was written`() throws {
        let stage = ExportStage(), server = try FrameServer(path: ExportStage.socketPath(), configuration: .init(isLossless: true))
        defer { server.stop() }
        server.exporter.connect(to: stage.timebase, isPaced: true)
        let source = try RemoteFrameSource(path: server.path)
        for number in 0..<30 {
            server.exporter.offer(try stage.nextWhenFree().copy())
            let frame = try #require(source.receive())
            let held = frame.description
            #expect(held.sequence == UInt64(number) && held.presentationTime == MediaTime(value: Int64(number), timescale: 25))
            #expect(held.hostTime == stage.moment(number) && held.duration == MediaTime(value: 1, timescale: 25))
            #expect(held.layout.plane(1) == ExportStage.layout.plane(1) && held.pixelFormat == .yuv420p)
            #expect(frame.number == UInt8(number))
        }
        server.exporter.markEndOfStream()
        #expect(source.receive() == nil && source.error == nil)
        #expect(server.statistics.framesSent == 30 && server.statistics.framesSkipped == 0)
    }

    @Test func `one that joins late is told the caps first, and each client has every frame`() throws {
        let stage = ExportStage(), server = try FrameServer(path: ExportStage.socketPath(), configuration: .init(isLossless: true))
        defer { server.stop() }
        server.exporter.connect(to: stage.timebase, isPaced: false)
        var sources: [RemoteFrameSource] = []
        for round in 0..<3 {
            sources.append(try RemoteFrameSource(path: server.path))
            try #require(Polling.until { server.statistics.clients > round })
            for _ in 0..<5 {
                server.exporter.offer(try stage.nextWhenFree().copy())
                var numbers: Set<UInt8?> = []
                for source in sources { numbers.insert(source.receive()?.number) }
                #expect(numbers.count == 1 && !numbers.contains(nil))
            }
        }
        #expect(server.statistics.clientsServed == 3)
    }

    @Test func `a client that gives nothing back loses frames alone, and what it holds does not change`() throws {
        let stage = ExportStage(slots: 12),
            server = try FrameServer(path: ExportStage.socketPath(), configuration: .init(clientLimit: 2, clientBudget: 3))
        defer { server.stop() }
        server.exporter.connect(to: stage.timebase, isPaced: false)
        let greedy = try RemoteFrameSource(path: server.path), modest = try RemoteFrameSource(path: server.path)
        try #require(Polling.until { server.statistics.clients == 2 })
        var held: [HeldFrame] = []
        for number in 0..<60 {
            let frame = try #require(stage.next(), "the pool ran dry at \(number)")
            server.exporter.offer(frame.copy())
            #expect(modest.receive()?.number == UInt8(number))
            if number < 3 { held.append(try #require(greedy.receive())) }
            // What the modest one gave back is back before the next frame: a slow server would skip it, too.
            try #require(Polling.until { stage.pool.statistics.inUse <= held.count + 1 })
        }
        #expect(held.map(\.number) == [0, 1, 2])
        // The server may be with the other client still when the modest one has its last frame.
        #expect(Polling.until { server.statistics.framesSent + server.statistics.framesSkipped >= 120 })
        #expect(server.statistics.framesSkipped == 57)
    }

    @Test func `a socket that has taken the path meanwhile stays`() throws {
        let path = ExportStage.socketPath(), server = try FrameServer(path: path)
        #expect(unsafe unlink(path) == 0)
        let other = try FrameServer(path: path)
        server.stop()
        #expect(unsafe access(path, F_OK) == 0, "the other server's socket")
        other.stop()
        #expect(unsafe access(path, F_OK) != 0)
    }

    @Test func `clients that do nothing make room for one that comes`() throws {
        let stage = ExportStage(slots: 16)
        var configuration = FrameServer.Configuration(clientLimit: 4, clientBudget: 2)
        configuration.stuckAfter = .milliseconds(1)
        let server = try FrameServer(path: ExportStage.socketPath(), configuration: configuration)
        defer { server.stop() }
        server.exporter.connect(to: stage.timebase, isPaced: false)
        let idle = try (0..<4).map { _ in try RemoteFrameSource(path: server.path) }
        try #require(Polling.until { server.statistics.clients == 4 })
        // Each of them keeps two frames, and is passed over for the next. A frame that comes before the server has taken the last replaces it.
        try #require(
            Polling.until(every: .milliseconds(5)) {
                if let frame = stage.next() { server.exporter.offer(frame.copy()) }
                return server.statistics.framesSkipped >= 4
            })
        usleep(5000)
        let modest = try RemoteFrameSource(path: server.path)
        try #require(Polling.until { server.statistics.clientsServed == 5 })
        #expect(server.statistics.clients == 4)
        server.exporter.offer(try #require(stage.next()).copy())
        #expect(modest.receive() != nil)
        withExtendedLifetime(idle) {}
    }

    @Test func `who comes after the end is told the end, and a second stream is not finished before its end`() throws {
        let stage = ExportStage(), server = try FrameServer(path: ExportStage.socketPath(), configuration: .init(isLossless: true))
        defer { server.stop() }
        server.exporter.connect(to: stage.timebase, isPaced: false)
        let source = try RemoteFrameSource(path: server.path)
        server.exporter.offer(try stage.nextWhenFree().copy())
        #expect(source.receive() != nil)
        server.exporter.markEndOfStream()
        #expect(server.waitUntilFinished(until: MonotonicClock.shared.now() + .seconds(60)))
        let late = try RemoteFrameSource(path: server.path)
        #expect(late.receive() == nil && late.error == nil)
        server.exporter.flush()
        server.exporter.offer(try stage.nextWhenFree().copy())
        while server.statistics.framesSent < 2 { usleep(500) }
        #expect(!server.waitUntilFinished(until: MonotonicClock.shared.now()))
    }

    @Test func `a stream is finished when its clients have given every frame back`() throws {
        let stage = ExportStage(), server = try FrameServer(path: ExportStage.socketPath(), configuration: .init(isLossless: true))
        defer { server.stop() }
        server.exporter.connect(to: stage.timebase, isPaced: false)
        let source = try RemoteFrameSource(path: server.path)
        server.exporter.offer(try stage.nextWhenFree().copy())
        let held = try #require(source.receive())
        server.exporter.markEndOfStream()
        #expect(source.receive() == nil && source.error == nil, "the end has come")
        #expect(!server.waitUntilFinished(until: MonotonicClock.shared.now() + .milliseconds(20)))
        held.release()
        #expect(server.waitUntilFinished(until: MonotonicClock.shared.now() + .seconds(60)))
    }

    @Test func `a film without a clock has its own distances in the times that clients get, also where it begins again`() throws {
        let server = try FrameServer(path: ExportStage.socketPath(), configuration: .init(isLossless: true))
        defer { server.stop() }
        let film = ExportedFilm(TestAssets.path("plain.mp4"), exporter: server.exporter, allocator: MemfdAllocator())
        let source = try RemoteFrameSource(path: server.path)
        try film.begin()
        var last: FrameDescription?, count = 0
        while let frame = source.receive() {
            let facts = frame.description
            if let last, let host = facts.hostTime, let before = last.hostTime {
                let span = (facts.presentationTime - last.presentationTime).nanoseconds() ?? 0
                #expect(abs((host - before).nanoseconds - span) <= 1 && span > 0, "times are whole nanoseconds")
            }
            last = facts
            count += 1
        }
        #expect(count > 20 && source.error == nil)
    }

    @Test func `a client cannot write to the frames that it is lent`() throws {
        let stage = ExportStage(slots: 2), server = try FrameServer(path: ExportStage.socketPath(), configuration: .init(isLossless: true))
        defer { server.stop() }
        server.exporter.connect(to: stage.timebase, isPaced: false)
        let source = try RemoteFrameSource(path: server.path)
        for number in 0..<8 {
            server.exporter.offer(try stage.nextWhenFree().copy())
            let held = try #require(source.receive())
            let refusals = held.withFrame { frame in
                var byte: UInt8 = 99
                let written = unsafe pwrite(frame.fd, &byte, 1, 0), error = errno
                let memory = unsafe mmap(nil, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, frame.fd, 0), mapError = errno
                return unsafe written == -1 && error == EBADF && memory == MAP_FAILED && mapError == EACCES
            }
            #expect(refusals == true)
            #expect(held.number == UInt8(number))
        }
    }

    @Test func `a format that the protocol has no name for is told once, and the end comes`() throws {
        let failures = Monitor<[ExportError]>([])
        let server = try FrameServer(path: ExportStage.socketPath(), configuration: .init(isLossless: true)) { _ in
        } onFailure: { error in
            failures.change { $0.append(error) }
        }
        defer { server.stop() }
        let pool = SurfacePool(
            layout: SurfaceLayout(format: .yuv440p, covering: PixelSize(width: 64, height: 16)), allocator: MemfdAllocator(), maximumCount: 4)
        let source = try RemoteFrameSource(path: server.path)
        for number in 0..<3 {
            guard let writer = try pool.acquire() else { throw ExportError(.unsupported, "the pool is empty") }
            server.exporter.offer(
                VideoFrame(
                    use: writer.finish(), visible: PixelRect(PixelSize(width: 64, height: 16)),
                    presentationTime: MediaTime(value: Int64(number), timescale: 25), sequence: UInt64(number)))
        }
        server.exporter.markEndOfStream()
        #expect(source.receive() == nil && source.error == nil, "the end has come")
        let said = failures.withLock { $0 }
        #expect(said.count == 1 && said.first?.code == .unsupported && said.first?.description.contains("yuv440p") == true)
        #expect(server.failure == said.first && server.statistics.framesUnsupported == 3)
    }

    @Test func `bad clients end, the others go on`() throws {
        let stage = ExportStage(), notices = Monitor(0)
        let server = try FrameServer(path: ExportStage.socketPath()) { _ in notices.withLock { $0 += 1 } }
        defer { server.stop() }
        server.exporter.connect(to: stage.timebase, isPaced: false)
        let good = try RemoteFrameSource(path: server.path)
        var dice = Dice(seed: 11)
        for round in 0..<40 {
            let bad = try UnixSocket.connected(server.path)
            try #require(Polling.until { server.statistics.clients == 2 })
            server.exporter.offer(try stage.nextWhenFree().copy())
            #expect(good.receive()?.number == UInt8(round))
            switch round % 3 {
            case 0: _ = bad.send(UnixFDCommand.release(UInt64(Int.random(in: 1000...2000, using: &dice))))
            case 1: _ = bad.send((0..<64).map { _ in UInt8(Int.random(in: 128...255, using: &dice)) })
            default: break
            }
            // Closed here, if the server has not done it.
            _ = consume bad
            try #require(Polling.until { server.statistics.clients == 1 })
        }
        #expect(notices.withLock { $0 } >= 26)
        server.exporter.cancel()
        #expect(Polling.until { stage.pool.statistics.inUse == 0 })
    }

    @Test func `one who comes to GStreamer's sink before its stream begins waits for it`() throws {
        let path = ExportStage.socketPath(), socket = try UnixSocket.listening(path)
        defer { _ = unsafe unlink(path) }
        let source = try RemoteFrameSource(path: path)
        guard let peer = try socket.accept() else {
            Issue.record("nobody came")
            return
        }
        // What gst_caps_to_string makes of no caps, and then a frame as GStreamer lays it out, without metadata.
        #expect(peer.send(UnixFDCommand.caps("NULL")) == .whole)
        #expect(peer.send(UnixFDCommand.caps("video/x-raw, format=(string)I420, width=(int)64, height=(int)16")) == .whole)
        let frame = ExportStage().next()!.copy()
        let size: UInt64 = 64 * 16 * 3 / 2
        let buffer = UnixFDBuffer(id: 7, isDMABuf: false, memories: [.init(size: size, offset: 0)])
        #expect(peer.send(buffer.message, descriptor: frame.use.surface.fd) == .whole)
        let held = try #require(source.receive())
        #expect(held.description.visible.size == PixelSize(width: 64, height: 16) && held.number == 0)
    }

    @Test func `more clients than allowed are turned away`() throws {
        let server = try FrameServer(path: ExportStage.socketPath(), configuration: .init(clientLimit: 1))
        defer { server.stop() }
        let first = try RemoteFrameSource(path: server.path)
        try #require(Polling.until { server.statistics.clients == 1 })
        let second = try RemoteFrameSource(path: server.path)
        #expect(second.receive() == nil && second.error?.code == .closed)
        #expect(first.error == nil)
    }

    /// In a process of its own, like every test that takes descriptors.
    @Test func `a client that comes when no descriptors are left waits until there are some`() async {
        await #expect(processExitsWith: .success) {
            let notices = Monitor([String]())
            let server = try FrameServer(path: ExportStage.socketPath(), onNotice: { text in notices.change { $0.append(text) } })
            defer { server.stop() }
            var fillers = Shortage.takeDescriptors()
            // The first client gets the last descriptors: nobody waits, and nothing is said.
            for _ in 0..<2 { close(fillers.removeLast()) }
            let first = try UnixSocket.connected(server.path)
            try #require(Polling.until { server.statistics.clients == 1 })
            close(fillers.removeLast())
            let second = try UnixSocket.connected(server.path)
            try #require(Polling.until { notices.withLock { !$0.isEmpty } })
            // The socket is not looked at over and over, and nothing is said twice.
            let (again, load) = Shortage.load {
                notices.wait(until: MonotonicClock.shared.now() + .milliseconds(500)) { $0.count > 1 ? $0 : nil }
            }
            try #require(again == nil && load < 0.25, "\(load)")
            for filler in fillers { close(filler) }
            try #require(Polling.until { server.statistics.clients == 2 })
            withExtendedLifetime((first.rawValue, second.rawValue)) {}
            let said = notices.withLock { $0.map { $0.dropFirst(server.path.count) } }
            try #require(said == [": cannot accept a connection: Too many open files; the client waits."])
        }
    }

    @Test func `the socket is this user's alone; one nobody serves is replaced, one that is served is not`() throws {
        let path = ExportStage.socketPath()
        let server = try FrameServer(path: path)
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        #expect(throws: ExportError.self) { try FrameServer(path: path) }
        server.stop()
        #expect(!FileManager.default.fileExists(atPath: path))
        #expect(throws: ExportError.self) { try RemoteFrameSource(path: path) }
        try Data("x".utf8).write(to: URL(fileURLWithPath: path))
        #expect(throws: ExportError.self) { try FrameServer(path: path) }
        #expect(FileManager.default.fileExists(atPath: path), "a file is not a socket")
        try FileManager.default.removeItem(atPath: path)
        let stale = try UnixSocket.listening(path)
        _ = consume stale
        try FrameServer(path: path).stop()
    }

    /// In a process of its own: the descriptors are a process's.
    @Test func `descriptors stay flat over many frames`() async {
        await #expect(processExitsWith: .success) {
            let stage = ExportStage(), server = try FrameServer(path: ExportStage.socketPath(), configuration: .init(isLossless: true))
            defer { server.stop() }
            server.exporter.connect(to: stage.timebase, isPaced: false)
            let source = try RemoteFrameSource(path: server.path)
            func descriptors() -> Int { OpenDescriptors.count }
            var before = 0
            for number in 0..<5000 {
                server.exporter.offer(try stage.nextWhenFree().copy())
                #expect(source.receive()?.description.sequence == UInt64(number))
                if number == 100 { before = descriptors() }
            }
            // Some are on their way at any time; a leak would be one for each frame.
            let isFlat = Polling.until { descriptors() <= before + 16 }
            #expect(isFlat, "\(before) became \(descriptors())")
        }
    }
}
