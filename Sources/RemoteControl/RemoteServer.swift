internal import Glibc
public import Media
internal import Sandbox

/// The socket of a remote control: connections and lines of text, without what they mean.
///
/// The socket belongs to this user only (mode 0600, and the peer's user is checked). A client that sends lines faster than they are answered is
/// read no further meanwhile; one that does not read what it is sent, or sends a line without an end, is disconnected.
///
/// Thread-safety: all members may be called from any thread. It owns one thread, named `remote`.
public final class RemoteServer: Sendable {
    /// What clients do. Clients are numbered from 1; no number is used again.
    public enum Message: Sendable, Hashable {
        /// Somebody has connected.
        case joined(client: Int)
        /// A line has come, without its end. `answered` is to be called for it.
        case line(client: Int, [UInt8])
        /// The connection has ended.
        case left(client: Int)
    }

    /// More connections are refused.
    static let clientLimit = 32
    /// The longest line.
    static let lineLimit = 1 << 16
    /// A client with so many lines that are not answered yet is not read.
    static let pendingLimit = 16
    /// What one client may leave unread.
    static let outputLimit = 1 << 20

    /// The socket's path in the file system.
    public let path: String
    private let place: SocketPath
    private let bell: EventFD
    private let shared = Monitor(Shared())
    private let onMessage: @Sendable (Message) -> Void
    private let onNotice: @Sendable (String) -> Void

    private struct Shared: Sendable {
        var isStopping = false
        var thread: LoopThread?
        /// What is to be sent and how many lines are not answered, by client.
        var mail: [Int: Mail] = [:]
    }

    private struct Mail: Sendable {
        var output: [UInt8] = []
        var pending = 0
    }

    private final class Client {
        let socket: UnixSocket
        let number: Int
        var input: [UInt8] = []
        /// It sends nothing more, and waits for its answers.
        var hasEnded = false

        init(_ socket: consuming UnixSocket, _ number: Int) {
            self.socket = socket
            self.number = number
        }
    }

    /// Opens the socket and begins to serve. A socket that nobody listens on is replaced.
    ///
    /// - Parameters:
    ///   - path: Of the socket, which `stop` removes, unless another socket has taken the path meanwhile.
    ///   - onNotice: Called on the server's thread with a sentence when a client is refused, or disconnected for what it did.
    ///   - onMessage: Called on the server's thread.
    /// - Throws: When the socket cannot be made.
    public init(
        path: String, onNotice: @escaping @Sendable (String) -> Void = { _ in }, onMessage: @escaping @Sendable (Message) -> Void
    ) throws(SystemError) {
        self.path = path
        self.onNotice = onNotice
        self.onMessage = onMessage
        bell = try EventFD()
        let listener = Monitor(Optional(try UnixSocket.listening(path)))
        place = SocketPath(path)
        let thread = LoopThread(name: "remote") { [self] in
            if let socket = listener.withLock({ $0.take() }) { run(socket) }
        }
        shared.withLock { $0.thread = thread }
    }

    /// Sends a line to one client, if it is still there.
    public func send(_ line: String, to client: Int) {
        shared.withLock { shared in
            guard shared.mail[client] != nil else { return }
            shared.mail[client]?.output += Array(line.utf8) + [UInt8(ascii: "\n")]
        }
        bell.signal()
    }

    /// One of the client's lines has been dealt with, and its answer sent.
    public func answered(_ client: Int) {
        shared.withLock { $0.mail[client]?.pending -= 1 }
        bell.signal()
    }

    /// Sends what there is room for, ends every connection and the thread, and removes the socket. Idempotent.
    public func stop() {
        let thread = shared.change { shared in
            shared.isStopping = true
            return shared.thread.take()
        }
        bell.signal()
        thread?.join()
        if thread != nil { place.remove() }
    }

    // MARK: The thread

    private func run(_ socket: borrowing UnixSocket) {
        var clients: [Client] = [], next = 1, pause = AcceptPause()
        var descriptors: [PollDescriptor] = []
        while true {
            bell.drain()
            let isStopping = shared.withLock { $0.isStopping }
            for index in clients.indices.reversed() where !write(clients[index]) { end(at: index, &clients) }
            if isStopping { return }
            let knocks = pause.interest(at: MonotonicClock.shared.now())
            descriptors = [
                PollDescriptor(fd: bell.rawValue, interest: .readable),
                PollDescriptor(fd: socket.rawValue, interest: clients.count < Self.clientLimit ? knocks : []),
            ]
            descriptors += clients.map { PollDescriptor(fd: $0.socket.rawValue, interest: interest($0)) }
            guard (try? pollDescriptors(&descriptors, until: pause.end)) != nil else { continue }
            for index in clients.indices.reversed() where !descriptors[index + 2].ready.subtracting(.writable).isEmpty {
                if !read(clients[index]) { end(at: index, &clients) }
            }
            if !descriptors[1].ready.isEmpty { accept(socket, &clients, &next, &pause) }
        }
    }

    private func interest(_ client: Client) -> PollEvents {
        let mail = shared.withLock { $0.mail[client.number] } ?? Mail()
        var interest: PollEvents = mail.output.isEmpty ? [] : .writable
        if mail.pending < Self.pendingLimit, !client.hasEnded { interest.insert(.readable) }
        return interest
    }

    /// Takes in the next one who waits; `poll` says at once whether somebody else does.
    private func accept(_ socket: borrowing UnixSocket, _ clients: inout [Client], _ next: inout Int, _ pause: inout AcceptPause) {
        do throws(SystemError) {
            guard let peer = try socket.accept() else { return }
            pause.finish()
            guard peer.isPeerTrusted else { return onNotice("\(path): refused a remote control of another user.") }
            let number = next
            next += 1
            clients.append(Client(peer, number))
            shared.withLock { $0.mail[number] = Mail() }
            onMessage(.joined(client: number))
        } catch {
            if pause.begin(at: MonotonicClock.shared.now()) { onNotice("\(path): \(error); the remote control waits.") }
        }
    }

    private func end(at index: Int, _ clients: inout [Client]) {
        let number = clients.remove(at: index).number
        shared.withLock { $0.mail[number] = nil }
        onMessage(.left(client: number))
    }

    /// Sends what waits; false when the connection is to end.
    private func write(_ client: Client) -> Bool {
        let (waiting, pending) = shared.withLock { ($0.mail[client.number]?.output ?? [], $0.mail[client.number]?.pending ?? 0) }
        guard !waiting.isEmpty else { return !client.hasEnded || pending > 0 }
        guard let count = client.socket.write(waiting) else { return false }
        let left = shared.withLock { shared in
            shared.mail[client.number]?.output.removeFirst(count)
            return shared.mail[client.number]?.output.count ?? 0
        }
        if left > Self.outputLimit { onNotice("\(path): a remote control was ended: it does not read.") }
        return left <= Self.outputLimit && (left > 0 || pending > 0 || !client.hasEnded)
    }

    /// Reads what has come and passes whole lines on; false when the connection is to end.
    private func read(_ client: Client) -> Bool {
        // Now it does not read any more, either.
        if client.hasEnded { return false }
        switch client.socket.receive(4096, descriptorLimit: 0) {
        case .nothing: return true
        case .closed:
            // What has no end of line is a line, too, when nothing follows: `printf pause | socat`.
            client.hasEnded = true
            if !client.input.isEmpty { pass([client.input], of: client) }
            return write(client)
        case .bytes(let bytes, _):
            client.input += bytes
            guard let last = client.input.lastIndex(of: UInt8(ascii: "\n")) else {
                if client.input.count > Self.lineLimit { onNotice("\(path): a remote control was ended: its line is too long.") }
                return client.input.count <= Self.lineLimit
            }
            let lines = client.input[..<last].split(separator: UInt8(ascii: "\n")).map { Array($0) }
            client.input.removeSubrange(...last)
            pass(lines, of: client)
            return true
        }
    }

    private func pass(_ lines: [[UInt8]], of client: Client) {
        shared.withLock { $0.mail[client.number]?.pending += lines.count }
        for line in lines { onMessage(.line(client: client.number, line.last == UInt8(ascii: "\r") ? line.dropLast() : line)) }
    }
}
