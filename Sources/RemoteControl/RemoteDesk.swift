internal import JSON

/// Whom an answer goes to that follows when something is done.
public struct RemoteTicket: Sendable, Hashable {
    let client: Int
    /// Of the request.
    let id: Int64
}

/// All remote controls of a program, and what each of them is to be told.
///
/// A value that sends through `RemoteServer`. Thread-safety: one thread at a time, that on which the program decides what it plays.
public struct RemoteDesk: Sendable {
    private let server: RemoteServer
    private var clients: [Int: RemoteClientState] = [:]

    /// Makes the desk of a server whose messages it is given.
    public init(_ server: RemoteServer) { self.server = server }

    /// Whether a snapshot is of any use between messages.
    public var observes: Bool { clients.values.contains { $0.observes } }

    /// Takes what a client has done, answers it, and returns what is to be carried out.
    ///
    /// - Parameters:
    ///   - now: Microseconds on a clock that does not go back.
    ///   - snapshot: What the program does at this moment.
    public mutating func take(_ message: RemoteServer.Message, now: Int64, _ snapshot: @autoclosure () -> RemoteSnapshot) -> [RemoteAction] {
        switch message {
        case .joined(let client): clients[client] = RemoteClientState(client: client)
        case .left(let client): clients[client] = nil
        case .line(let client, let line):
            defer { server.answered(client) }
            switch RemoteRequest.requests(in: line) {
            case .success(let requests):
                var actions: [RemoteAction] = []
                for request in requests {
                    guard let outcome = clients[client]?.take(request, snapshot(), now: now) else { break }
                    if let reply = outcome.reply { server.send(reply, to: client) }
                    actions += outcome.actions
                }
                return actions
            case .failure(let refusal):
                if let id = refusal.id { server.send(RemoteReply.line(.failure(.invalidParameter), id: id), to: client) }
            }
        }
        return []
    }

    /// Answers what took a while: whether it was carried out. Nobody hears it where the client has gone.
    public func answer(_ ticket: RemoteTicket, isDone: Bool) {
        guard clients[ticket.client] != nil else { return }
        server.send(RemoteReply.line(isDone ? .success(.null) : .failure(.command), id: ticket.id), to: ticket.client)
    }

    /// Tells each client which of the properties that it watches have changed.
    public mutating func tell(_ snapshot: RemoteSnapshot) {
        for client in clients.keys.sorted() { for line in clients[client]?.news(snapshot) ?? [] { server.send(line, to: client) } }
    }

    /// Tells every client what has happened.
    public func tell(_ event: RemoteEvent) {
        for client in clients.keys.sorted() { if let line = clients[client]?.line(event) { server.send(line, to: client) } }
    }
}
