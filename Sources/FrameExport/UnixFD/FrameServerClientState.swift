internal import Media
internal import Sandbox

/// What the server knows of one client: what it holds, and what its bytes mean. `Token` is what ends with the client's hold.
///
/// Whatever a client sends, the worst result is that its connection and its holds end.
struct FrameServerClientState<Token: Sendable>: Sendable {
    enum Event: Sendable {
        /// The client has let go of this.
        case released(Token)
        /// It wants the frames of the film with this name.
        case wants(String)
        /// It asks which films there are.
        case asks
        /// The client must be ended, for this reason.
        case end(String)
    }

    /// Buffers that the client may hold at once.
    let budget: Int
    private var held: [(id: UInt64, token: Token)] = []
    /// A client's messages have eight bytes; a longer one, up to a page, may be an extension.
    private var parser = UnixFDParser(payloadLimit: 4096)
    /// The caps that the client was told last.
    var caps: VideoCaps?
    private(set) var framesSent = 0
    private(set) var framesSkipped = 0
    /// Since when it could not be sent a frame, or holds all that it may, without having given anything back; nil while it can be sent one.
    private(set) var stuckSince: HostTime?

    init(budget: Int) { self.budget = budget }

    var heldCount: Int { held.count }
    var hasRoom: Bool { held.count < budget }

    mutating func sent(_ id: UInt64, _ token: Token, at now: HostTime) {
        precondition(hasRoom, "a client holds no more than its budget")
        held.append((id, token))
        framesSent += 1
        stuckSince = hasRoom ? nil : stuckSince ?? now
    }

    mutating func skipped(at now: HostTime) {
        framesSkipped += 1
        stuckSince = stuckSince ?? now
    }

    /// Reads bytes from the client and returns what follows from them.
    mutating func receive(_ bytes: some Sequence<UInt8>) -> [Event] {
        parser.append(bytes)
        var events: [Event] = []
        do {
            while let message = try parser.next() {
                switch message.command {
                case .releaseBuffer:
                    var reader = WireReader(message.payload[...])
                    let id = try reader.take(UInt64.self)
                    guard let index = held.firstIndex(where: { $0.id == id }) else {
                        return events + [.end("it gave back buffer \(id), which it does not hold")]
                    }
                    events.append(.released(held.remove(at: index).token))
                    stuckSince = nil
                case .film:
                    guard message.payload.count <= UnixFDCommand.nameLimit, let name = String(validating: message.payload, as: UTF8.self) else {
                        return events + [.end("it asked for a film by what is no name")]
                    }
                    caps = nil
                    events.append(.wants(name))
                case .films: events.append(.asks)
                case .newBuffer, .caps: return events + [.end("it sent a message that only a server sends")]
                case .endOfStream, nil: break
                }
            }
        } catch { return events + [.end("\(error)")] }
        return events
    }
}
