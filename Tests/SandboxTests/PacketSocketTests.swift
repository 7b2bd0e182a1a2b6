import Glibc
import Media
import Sandbox
import TestSupport
import Testing

/// Messages arrive whole, with their descriptors, or not at all.
@Suite struct PacketSocketTests {
    private static func message(_ numbers: UInt32...) -> WireWriter {
        var writer = WireWriter()
        for number in numbers { writer.put(number) }
        return writer
    }

    @Test func `messages keep their borders`() throws {
        let (one, other) = try PacketSocket.pair()
        try one.send(Self.message(1))
        try one.send(Self.message(2, 3))
        guard case .message(let first, _) = try other.receive(), case .message(let second, _) = try other.receive() else {
            Issue.record("a message is missing")
            return
        }
        #expect(first == [1, 0, 0, 0] && second == [2, 0, 0, 0, 3, 0, 0, 0])
        guard case .nothing = try other.receive() else { Issue.record("a third message"); return }
        one.shutDown()
        guard case .end = try other.receive() else { Issue.record("no end"); return }
    }

    @Test func `descriptors come with their message, and those not taken are closed`() throws {
        let (one, other) = try PacketSocket.pair()
        var ends: [Int32] = [0, 0]
        try #require(unsafe pipe(&ends) == 0)
        try one.send(Self.message(7), descriptors: [ends[1], ends[1]])
        close(ends[1])
        guard case .message(_, var descriptors) = try other.receive() else { Issue.record("no message"); return }
        if descriptors.takeSecond() == nil { Issue.record("the second descriptor is missing") }
        _ = consume descriptors
        // The last writing end is closed.
        var byte: UInt8 = 0
        #expect(unsafe read(ends[0], &byte, 1) == 0)
        close(ends[0])
    }

    @Test func `more descriptors than a message may have end the connection's use, and are closed`() throws {
        let (one, other) = try PacketSocket.pair()
        var ends: [Int32] = [0, 0]
        try #require(unsafe pipe(&ends) == 0)
        try one.send(Self.message(7), descriptors: [Int32](repeating: ends[1], count: 5))
        close(ends[1])
        #expect { _ = try other.receive() } throws: { ($0 as? SystemError)?.code == EMSGSIZE }
        var byte: UInt8 = 0
        #expect(unsafe read(ends[0], &byte, 1) == 0)
        close(ends[0])
    }

    @Test func `descriptors that come without bytes are closed`() throws {
        let (one, other) = try PacketSocket.pair()
        var ends: [Int32] = [0, 0]
        try #require(unsafe pipe(&ends) == 0)
        try one.send(WireWriter(), descriptors: [Int32](repeating: ends[1], count: 4))
        close(ends[1])
        // An empty message looks like the end of the connection; no process sends one.
        guard case .end = try other.receive() else { Issue.record("no end"); return }
        var byte: UInt8 = 0
        #expect(unsafe read(ends[0], &byte, 1) == 0)
        close(ends[0])
    }

    @Test func `a receiver that is behind is an error, unless the sender waits`() throws {
        let (one, other) = try PacketSocket.pair()
        #expect { while true { try one.send(Self.message(1)) } } throws: { ($0 as? SystemError)?.code == EAGAIN }
        withExtendedLifetime(other) {}
    }
}
