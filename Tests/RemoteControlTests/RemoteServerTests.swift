import Foundation
import Media
import Sandbox
import TestSupport
import Testing

@testable import RemoteControl

/// The real socket, with clients that behave and clients that do not.
@Suite struct RemoteServerTests {
    private final class Log: Sendable {
        let messages = Monitor([RemoteServer.Message]())
        let notices = Monitor([String]())

        func server(_ path: String) throws -> RemoteServer {
            try RemoteServer(path: path) { [notices] text in
                notices.change { $0.append(text) }
            } onMessage: { [messages] message in
                messages.change { $0.append(message) }
            }
        }

        func lines() -> [String] {
            messages.withLock { messages in
                messages.compactMap { if case .line(_, let bytes) = $0 { String(decoding: bytes, as: UTF8.self) } else { nil } }
            }
        }

        /// Waits for so many messages.
        func messages(_ count: Int) -> [RemoteServer.Message] {
            messages.wait(until: MonotonicClock.shared.now() + .seconds(60)) { $0.count >= count ? $0 : nil } ?? []
        }
    }

    private static func path() -> String { "/tmp/remote-\(getpid())-\(UUID().uuidString.prefix(8)).sock" }

    private static func send(_ bytes: [UInt8], _ socket: borrowing UnixSocket) {
        let sent = socket.send(bytes)
        #expect(sent == .whole)
    }

    private static func receive(_ socket: borrowing UnixSocket, until end: String) -> String {
        var text: [UInt8] = []
        _ = Polling.until {
            if case .bytes(let bytes, _) = socket.receive(4096, descriptorLimit: 0) { text += bytes }
            return String(decoding: text, as: UTF8.self).hasSuffix(end)
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Whether the server has closed the connection.
    private static func isClosed(_ socket: borrowing UnixSocket) -> Bool {
        Polling.until {
            while true {
                switch socket.receive(1 << 16, descriptorLimit: 0) {
                case .bytes: continue
                case .nothing: return false
                case .closed: return true
                }
            }
        }
    }

    @Test func `lines come one by one, however they were cut, and answers go back`() throws {
        let log = Log(), server = try log.server(Self.path())
        defer { server.stop() }
        let socket = try UnixSocket.connected(server.path)
        for piece in ["pau", "se\n\n{\"a\": 1}\r\nmu", "te\n"] { Self.send(Array(piece.utf8), socket) }
        #expect(log.messages(4).count == 4)
        #expect(log.messages(4).first == .joined(client: 1) && log.lines() == ["pause", "{\"a\": 1}", "mute"])
        server.send("first", to: 1)
        server.send("second", to: 1)
        server.send("nobody", to: 2)
        let received = Self.receive(socket, until: "second\n")
        #expect(received == "first\nsecond\n")
    }

    @Test func `a client that sends nothing more gets its answers first`() throws {
        let log = Log(), server = try log.server(Self.path())
        defer { server.stop() }
        let socket = try UnixSocket.connected(server.path)
        Self.send(Array("one\ntwo".utf8), socket)
        shutdown(socket.rawValue, Int32(SHUT_WR))
        #expect(log.messages(3).count == 3 && log.lines() == ["one", "two"])
        for line in ["1", "2"] {
            server.send(line, to: 1)
            server.answered(1)
        }
        let received = Self.receive(socket, until: "2\n")
        #expect(received == "1\n2\n")
        let isEnded = Self.isClosed(socket)
        #expect(isEnded && log.messages(4).last == .left(client: 1))
    }

    @Test func `a line without an end, and a client that does not read, are ended`() throws {
        let log = Log(), server = try log.server(Self.path())
        defer { server.stop() }
        let endless = try UnixSocket.connected(server.path), piece = [UInt8](repeating: 0x61, count: 4096)
        var sent = 0
        #expect(
            Polling.until {
                switch endless.send(piece) {
                case .whole: sent += piece.count
                case .full: break
                case .broken: return true
                }
                return sent > 4 * RemoteServer.lineLimit
            })
        let isEnded = Self.isClosed(endless)
        #expect(isEnded)
        let deaf = try UnixSocket.connected(server.path)
        #expect(log.messages(3).last == .joined(client: 2))
        let line = String(repeating: "x", count: 1 << 16)
        for _ in 0..<40 { server.send(line, to: 2) }
        #expect(log.messages(4).last == .left(client: 2))
        #expect(
            log.notices.withLock { $0.map { $0.dropFirst(server.path.count) } } == [
                ": a remote control was ended: its line is too long.", ": a remote control was ended: it does not read.",
            ])
        withExtendedLifetime(deaf.rawValue) {}
    }

    /// In a process of its own, like every test that takes descriptors.
    @Test func `a client that comes when no descriptors are left waits until there are some`() async {
        await #expect(processExitsWith: .success) {
            let log = Log(), server = try log.server(RemoteServerTests.path())
            defer { server.stop() }
            var fillers = Shortage.takeDescriptors()
            // The first client gets the last descriptors: nobody waits, and nothing is said.
            for _ in 0..<2 { close(fillers.removeLast()) }
            let first = try UnixSocket.connected(server.path)
            try #require(log.messages(1) == [.joined(client: 1)])
            close(fillers.removeLast())
            let second = try UnixSocket.connected(server.path)
            try #require(Polling.until { log.notices.withLock { !$0.isEmpty } })
            // The socket is not looked at over and over, and nothing is said twice.
            let (again, load) = Shortage.load {
                log.notices.wait(until: MonotonicClock.shared.now() + .milliseconds(500)) { $0.count > 1 ? $0 : nil }
            }
            try #require(again == nil && load < 0.25, "\(load)")
            for filler in fillers { close(filler) }
            RemoteServerTests.send(Array("pause\n".utf8), second)
            try #require(log.messages(3).last == .line(client: 2, Array("pause".utf8)))
            withExtendedLifetime(first.rawValue) {}
            let said = log.notices.withLock { $0.map { $0.dropFirst(server.path.count) } }
            try #require(said == [": cannot accept a connection: Too many open files; the remote control waits."])
        }
    }

    @Test func `a client that is not answered is not read`() throws {
        let log = Log(), server = try log.server(Self.path())
        defer { server.stop() }
        let socket = try UnixSocket.connected(server.path), count = 4 * RemoteServer.pendingLimit
        for number in 0..<count { Self.send(Array("\(number) \(String(repeating: "y", count: 200))\n".utf8), socket) }
        let first = log.messages(1 + RemoteServer.pendingLimit).count
        #expect(first < count)
        var answered = 0
        #expect(
            Polling.until {
                while answered < log.lines().count {
                    server.answered(1)
                    answered += 1
                }
                return answered == count
            })
        #expect(log.lines().map { Int($0.split(separator: " ")[0]) } == Array(0..<count))
    }

    @Test func `the socket is this user's, replaces a dead one, and goes with the server`() throws {
        let path = Self.path(), log = Log()
        // Bound, and nobody listens any more.
        do { _ = try UnixSocket.listening(path).rawValue }
        let server = try log.server(path)
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect((attributes[.posixPermissions] as? Int) == 0o600)
        #expect(throws: SystemError.self) { _ = try log.server(path) }
        server.stop()
        server.stop()
        #expect(!FileManager.default.fileExists(atPath: path))
    }
}
