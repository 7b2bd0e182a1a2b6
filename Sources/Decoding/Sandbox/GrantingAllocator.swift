internal import Glibc
internal import Media
internal import Sandbox
internal import SurfacePool

/// In the decoder process: frame memory that the player's pool owns, asked for over the memory socket and mapped here.
///
/// Thread-safety: all of it.
final class GrantingAllocator: SurfaceAllocator {
    private let socket: PacketSocket
    private let replies = Monitor(Replies())

    private struct Replies: ~Copyable {
        /// One request at a time, so that answers need no number.
        var isAsking = false
        var reply: Reply?
    }

    private enum Reply: ~Copyable {
        case memory(slot: UInt32, SurfaceMemory.Kind, OwnedFD, backing: OwnedFD?)
        case denied(String)
    }

    private let onWait: @Sendable () -> Void

    /// - Parameter onWait: called on the thread that is about to wait for an answer.
    init(socket: PacketSocket, onWait: @escaping @Sendable () -> Void) {
        self.socket = socket
        self.onWait = onWait
    }

    var name: String { "lent" }

    func allocate(_ layout: SurfaceLayout) throws(SurfaceError) -> SurfaceMemory {
        replies.wait { replies -> Void? in
            if replies.isAsking { return nil }
            replies.isAsking = true
            return ()
        }
        defer { replies.change { $0.isAsking = false } }
        onWait()
        var writer = WireWriter()
        writer.put(.want(layout))
        do throws(SystemError) { try socket.send(writer, waits: true) } catch { throw SurfaceError(.unavailable, error.description) }
        guard let reply = replies.wait({ $0.reply.take() }) else { throw SurfaceError(.unavailable, "the player does not answer") }
        switch consume reply {
        case .denied(let sentence): throw SurfaceError(.noMemory, sentence)
        case .memory(let slot, let kind, let descriptor, let backing):
            let socket = socket
            return try SurfaceMemory(
                lent: kind, descriptor: descriptor, backing: backing, byteCount: layout.byteCount, number: slot
            ) { number in
                var writer = WireWriter()
                writer.put(.gone(slot: number))
                try? socket.send(writer, waits: true)
            }
        }
    }

    /// The player's answer; called by the thread that reads the socket.
    func granted(slot: UInt32, kind: SurfaceMemory.Kind, _ descriptor: consuming OwnedFD, backing: consuming OwnedFD?) {
        var reply = Optional(Reply.memory(slot: slot, kind, descriptor, backing: backing))
        replies.change { $0.reply = reply.take() }
    }

    func denied(_ sentence: String) { replies.change { $0.reply = .denied(sentence) } }
}
