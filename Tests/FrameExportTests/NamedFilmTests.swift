import Foundation
import Media
import Sandbox
import SurfacePool
import TestSupport
import Testing

@testable import FrameExport

/// Several films on one socket.
@Suite(.serialized) struct NamedFilmTests {
    private static let lossless = FrameServer.Configuration(clientLimit: 8, isLossless: true)

    /// Offers frames, each when it is taken, on a thread of its own; ends the stream.
    private static func feed(_ exporter: FrameExporter, from first: UInt64, count: Int) -> LoopThread {
        LoopThread(name: "feed") {
            let stage = ExportStage(first: first)
            exporter.connect(to: stage.timebase, isPaced: false)
            for _ in 0..<count { if let frame = try? stage.nextWhenFree() { exporter.offer(frame.copy()) } }
            exporter.markEndOfStream()
        }
    }

    private static func numbers(_ source: RemoteFrameSource) -> [UInt8?] {
        var numbers: [UInt8?] = []
        while let frame = source.receive() { numbers.append(frame.number) }
        return numbers
    }

    @Test func `each client gets the film that it asks for, whole, and one that asks for none the first`() throws {
        let server = try FrameServer(path: ExportStage.socketPath(), configuration: Self.lossless)
        defer { server.stop() }
        let left = try server.addFilm("left"), right = try server.addFilm("right")
        #expect(server.films == ["left", "right"])
        #expect(try RemoteFrameSource.films(at: server.path) == ["left", "right"])
        let sources = [
            try RemoteFrameSource(path: server.path, film: "right"), try RemoteFrameSource(path: server.path),
            try RemoteFrameSource(path: server.path, film: "left"), try RemoteFrameSource(path: server.path, film: "right"),
        ]
        let feeds = [
            Self.feed(server.exporter, from: 0, count: 50), Self.feed(left, from: 100, count: 40), Self.feed(right, from: 200, count: 30),
        ]
        let found = Monitor<[Int: [UInt8?]]>([:])
        let readers = sources.enumerated().map { index, source in
            LoopThread(name: "reader") {
                let numbers = Self.numbers(source)
                found.withLock { $0[index] = numbers }
            }
        }
        for thread in readers + feeds { thread.join() }
        let all = found.withLock { $0 }
        let expected: [[UInt8?]] = [(200..<230).map { $0 }, (0..<50).map { $0 }, (100..<140).map { $0 }, (200..<230).map { $0 }]
        for index in expected.indices { #expect(all[index] == expected[index], "client \(index)") }
        #expect(sources.allSatisfy { $0.error == nil && $0.isOver })
        #expect(server.waitUntilFinished(until: MonotonicClock.shared.now() + .seconds(60)))
    }

    @Test func `a film that is not there is named with those that are, and names must be names`() throws {
        let server = try FrameServer(path: ExportStage.socketPath())
        defer { server.stop() }
        func refusal(_ name: String) -> String? {
            #expect(throws: ExportError.self) { try RemoteFrameSource(path: server.path, film: name) }?.description
        }
        #expect(refusal("left") == "\(server.path): there is no film \"left\"; it has one without a name.")
        _ = try server.addFilm("one")
        _ = try server.addFilm("two")
        #expect(refusal("left") == "\(server.path): there is no film \"left\"; there is \"one\", \"two\".")
        #expect(throws: ExportError.self) { try server.addFilm("one") }
        #expect(throws: ExportError.self) { try server.addFilm("") }
        #expect(throws: ExportError.self) { try server.addFilm(String(repeating: "x", count: 256)) }
        #expect(throws: ExportError.self) { try server.addFilm("a\0b") }
        #expect(server.films == ["one", "two"])
    }

    @Test func `a film that is taken away ends for its clients alone, who keep what they hold`() throws {
        let server = try FrameServer(path: ExportStage.socketPath(), configuration: Self.lossless), stage = ExportStage(first: 7)
        defer { server.stop() }
        let film = try server.addFilm("film")
        film.connect(to: stage.timebase, isPaced: false)
        let source = try RemoteFrameSource(path: server.path, film: "film"), other = try RemoteFrameSource(path: server.path)
        film.offer(try stage.nextWhenFree().copy())
        let held = try #require(source.receive())
        server.removeFilm("film")
        #expect(source.receive() == nil && source.isOver && source.error == nil && held.number == 7)
        #expect(server.films.isEmpty && (try? RemoteFrameSource(path: server.path, film: "film")) == nil)
        let first = ExportStage(first: 9)
        server.exporter.connect(to: first.timebase, isPaced: false)
        server.exporter.offer(try first.nextWhenFree().copy())
        #expect(other.receive()?.number == 9)
        // The name is free again.
        _ = try server.addFilm("film")
    }

    @Test func `a client changes its film, and goes on with the other one's caps`() throws {
        let server = try FrameServer(path: ExportStage.socketPath(), configuration: Self.lossless)
        defer { server.stop() }
        let stages = [ExportStage(first: 10), ExportStage(first: 20)]
        for (name, stage) in zip(["a", "b"], stages) {
            let exporter = try server.addFilm(name)
            exporter.connect(to: stage.timebase, isPaced: false)
            exporter.offer(try stage.nextWhenFree().copy())
        }
        let socket = try UnixSocket.connected(server.path)
        var parser = UnixFDParser(payloadLimit: 4096)
        func next() throws -> UnixFDParser.Message {
            while true {
                if let message = try parser.next() { return message }
                var descriptors = [PollDescriptor(fd: socket.rawValue, interest: .readable)]
                try #require(try pollDescriptors(&descriptors, until: MonotonicClock.shared.now() + .seconds(60)) > 0)
                guard case .bytes(let bytes, let fds) = socket.receive(parser.wanted) else { throw ExportError(.closed, "it is gone") }
                for descriptor in fds { close(descriptor) }
                parser.append(bytes)
            }
        }
        for name in ["a", "b"] {
            #expect(socket.send(UnixFDCommand.film(name)) == .whole)
            #expect(try next() == UnixFDParser.Message(command: .film, payload: Array(name.utf8)))
            #expect(try next().command == .caps)
            #expect(try next().command == .newBuffer)
        }
        // What is no name ends the client.
        #expect(socket.send(UnixFDCommand.message(.film, payload: [0xff, 0xfe])) == .whole)
        #expect(throws: ExportError.self) { try next() }
    }

    @Test func `of a server without names one says so`() throws {
        let path = ExportStage.socketPath(), socket = try UnixSocket.listening(path), refused = Monitor(0)
        defer { _ = unsafe unlink(path) }
        // It ends who sends what it does not know.
        let thread = LoopThread(name: "server") {
            while refused.withLock({ $0 }) < 2 {
                if let peer = (try? socket.accept()) ?? nil {
                    _ = consume peer
                    refused.withLock { $0 += 1 }
                } else {
                    usleep(10_000)
                }
            }
        }
        let film = #expect(throws: ExportError.self) { try RemoteFrameSource(path: path, film: "left") }
        let films = #expect(throws: ExportError.self) { try RemoteFrameSource.films(at: path) }
        thread.join()
        #expect([film, films].allSatisfy { $0?.code == .unsupported || $0?.code == .closed })
    }

    /// `Examples/Python/remote_frames.py`, which shares nothing with the library but docs/wire.md.
    @Test func `a client that was written by the description gets the same frames`() throws {
        let server = try FrameServer(path: ExportStage.socketPath(), configuration: Self.lossless)
        defer { server.stop() }
        let film = try server.addFilm("left"), script = TestAssets.root + "/Examples/Python/remote_frames.py"
        func take(_ options: [String]) throws -> Tool.Outcome { try Tool.run("python3", [script, server.path] + options) }
        let layout = ExportStage.layout, bytes = layout.format.byteCount(width: 64, height: 16)
        func lines(_ numbers: Range<Int>) -> String {
            numbers.map { number in
                let time = String(format: "%.6f", Double(number) / 25)
                return "\(time) \(Checksum.md5([UInt8](repeating: UInt8(number), count: bytes)))\n"
            }.joined()
        }
        for (options, exporter, first) in [([], server.exporter, 3), (["--film", "left"], film, 120)] {
            let feed = Self.feed(exporter, from: UInt64(first), count: 25), outcome = try take(options)
            feed.join()
            #expect(outcome.code == 0 && outcome.output == lines(first..<first + 25), "\(outcome)")
        }
        #expect(try take(["--films"]).output == "left\n")
        let missing = try take(["--film", "right"])
        #expect(missing.code == 1 && missing.errors == "\(server.path): there is no film of that name\n")
    }
}
