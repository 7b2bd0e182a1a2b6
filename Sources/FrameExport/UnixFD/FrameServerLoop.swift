internal import Media
internal import Sandbox

/// What the server's thread does: it takes clients in, sends each the frames of its film, and reads what it gives back.
///
/// Thread-safety: one thread.
final class FrameServerLoop {
    private final class Client {
        let socket: UnixSocket
        var state: FrameServerClientState<ServedFrame>
        let connected: HostTime
        /// The film whose frames it gets; nil while it may still ask for one.
        var film: ServedFilm?

        init(_ socket: consuming UnixSocket, budget: Int) {
            self.socket = socket
            state = FrameServerClientState(budget: budget)
            connected = MonotonicClock.shared.now()
        }
    }

    /// Where there are several films, how long a client that asks for none is waited for before it gets the first one.
    private static let patience = HostSpan.milliseconds(50)
    private let server: FrameServer
    private var clients: [Client] = []
    private var pause = AcceptPause()
    private var nextID: UInt64 = 1
    private var path: String { server.path }

    init(_ server: FrameServer) { self.server = server }

    func run(_ socket: borrowing UnixSocket) {
        var descriptors: [PollDescriptor] = []
        // When there is something to do although nothing happens: first at once.
        var next: HostTime? = .distantPast
        while true {
            descriptors.removeAll(keepingCapacity: true)
            descriptors.append(PollDescriptor(fd: server.bell.rawValue, interest: .readable))
            descriptors.append(PollDescriptor(fd: socket.rawValue, interest: pause.interest(at: MonotonicClock.shared.now())))
            for client in clients { descriptors.append(PollDescriptor(fd: client.socket.rawValue, interest: .readable)) }
            guard (try? pollDescriptors(&descriptors, until: next)) != nil else { continue }
            for index in clients.indices.reversed() where !descriptors[index + 2].ready.isEmpty {
                if let reason = read(clients[index]) { end(at: index, reason) }
            }
            let (isStopping, films) = server.shared.withLock { ($0.isStopping, $0.films) }
            if isStopping { return }
            if !descriptors[0].ready.isEmpty { server.bell.drain() }
            if !descriptors[1].ready.isEmpty { accept(socket) }
            leave(films)
            let decision = decide(films)
            next = (films.map { serve($0) } + [decision, pause.end]).compactMap(\.self).min()
            noteEnd(films)
        }
    }

    // MARK: Clients

    /// Takes in the next one who waits; `poll` says at once whether somebody else does.
    private func accept(_ socket: borrowing UnixSocket) {
        do throws(SystemError) {
            guard let peer = try socket.accept() else { return }
            pause.finish()
            take(peer)
        } catch {
            if pause.begin(at: MonotonicClock.shared.now()) { server.onNotice("\(path): \(error); the client waits.") }
        }
    }

    private func take(_ peer: consuming UnixSocket) {
        let limit = server.configuration.clientLimit
        guard peer.isPeerTrusted else { return server.onNotice("\(path): refused a client of another user.") }
        if clients.count >= limit { endStuckClient() }
        guard clients.count < limit else { return server.onNotice("\(path): refused a client; \(limit) are connected.") }
        clients.append(Client(peer, budget: server.configuration.clientBudget))
        count { $0.clientsServed += 1 }
    }

    /// Gives clients that ask for no film the first one; when to look again.
    private func decide(_ films: [ServedFilm]) -> HostTime? {
        let limit = MonotonicClock.shared.now() - (films.count > 1 ? Self.patience : .zero)
        for index in clients.indices.reversed() where clients[index].film == nil && clients[index].connected <= limit {
            if !begin(clients[index], films[0]) { end(at: index, "it does not read") }
        }
        return clients.filter { $0.film == nil }.map { $0.connected + Self.patience }.min()
    }

    /// Gives a client a film, and tells it what has been said of it: one that comes late gets the caps at once, and the end when nothing follows.
    /// False: it does not read.
    private func begin(_ client: Client, _ film: ServedFilm) -> Bool {
        client.film = film
        film.hasServed = true
        if let caps = film.caps, !tell(caps, client) { return false }
        if film.hasSaidEnd, !film.isContinued { _ = client.socket.send(UnixFDCommand.message(.endOfStream)) }
        return true
    }

    /// Says that a film has ended which has been taken away.
    private func leave(_ films: [ServedFilm]) {
        for client in clients {
            guard let film = client.film, !film.hasSaidEnd, !films.contains(where: { $0 === film }) else { continue }
            film.setContinues(false)
            sayEnd(film)
        }
    }

    /// Ends the client that has been stuck for the longest time, if there is one.
    private func endStuckClient() {
        let limit = MonotonicClock.shared.now() - server.configuration.stuckAfter
        let stuck = clients.indices.filter { (clients[$0].state.stuckSince ?? .distantFuture) < limit }
        guard let index = stuck.min(by: { clients[$0].state.stuckSince! < clients[$1].state.stuckSince! }) else { return }
        end(at: index, "it has given nothing back for some time, and another one waits")
    }

    private func tell(_ caps: VideoCaps, _ client: Client) -> Bool {
        guard client.state.caps != caps else { return true }
        guard client.socket.send(UnixFDCommand.caps(caps.text)) == .whole else { return false }
        client.state.caps = caps
        return true
    }

    /// Reads the client's messages. Returns why it must be disconnected, empty when it has disconnected itself; nil while it stays.
    private func read(_ client: Client) -> String? {
        switch client.socket.receive(4096, descriptorLimit: 0) {
        case .nothing: return nil
        case .closed: return ""
        case .bytes(let bytes, _):
            for event in client.state.receive(bytes) {
                switch event {
                case .released: continue
                case .wants(let name): if !change(client, to: name) { return "it does not read" }
                case .asks: if !list(client) { return "it does not read" }
                case .end(let reason): return reason
                }
            }
            return nil
        }
    }

    /// Gives a client the film that it asks for; where there is none, the names of those that there are. False: it does not read.
    private func change(_ client: Client, to name: String) -> Bool {
        guard let film = server.shared.withLock({ shared in shared.films.first { $0.name == name } }) else { return list(client) }
        guard client.socket.send(UnixFDCommand.film(name)) == .whole else { return false }
        // What has waited for a client may go.
        server.bell.signal()
        return begin(client, film)
    }

    private func list(_ client: Client) -> Bool { client.socket.send(UnixFDCommand.films(server.films)) == .whole }

    /// Closes the connection; its holds go with it.
    private func end(at index: Int, _ reason: String?) {
        clients.remove(at: index)
        if let reason, !reason.isEmpty { server.onNotice("\(path): a client was ended: \(reason).") }
        count { _ in }
    }

    // MARK: Frames

    /// Sends what is due; when to look again (nil: when something happens).
    private func serve(_ film: ServedFilm) -> HostTime? {
        let isLossless = server.configuration.isLossless
        while true {
            if isLossless, !film.hasServed || clients.contains(where: { $0.film === film && !$0.state.hasRoom }) { return nil }
            let next = film.exporter.advance(to: MonotonicClock.shared.now(), onlyOne: isLossless)
            switch film.exporter.handOut(again: false) {
            case .some(let frame):
                film.hasBegun = true
                if film.hasSaidEnd {
                    // Another stream has begun.
                    film.hasSaidEnd = false
                    server.shared.withLock { $0.isFinished = false }
                }
                send(ServedFrame(frame), film)
            case .none:
                if film.exporter.isAtEnd, !film.hasSaidEnd { sayEnd(film) }
                return next
            }
        }
    }

    private func send(_ frame: ServedFrame, _ film: ServedFilm) {
        guard let caps = VideoCaps(frame.description) else {
            count { $0.framesUnsupported += 1 }
            return refuse(frame.description, film)
        }
        film.caps = caps
        let id = nextID
        nextID += 1
        let now = MonotonicClock.shared.now()
        let time = film.stamps.next(frame.description, isPaced: film.exporter.reading.isPaced, now: now)
        let message = UnixFDBuffer(frame.description, id: id, at: time).message
        var sent = 0, skipped = 0
        for index in clients.indices.reversed() where clients[index].film === film {
            let client = clients[index]
            guard client.state.hasRoom else {
                client.state.skipped(at: now)
                skipped += 1
                continue
            }
            guard tell(caps, client) else {
                end(at: index, "it does not read")
                continue
            }
            switch client.socket.send(message, descriptor: frame.descriptor) {
            case .whole:
                client.state.sent(id, frame, at: now)
                sent += 1
            case .full:
                client.state.skipped(at: now)
                skipped += 1
            case .broken: end(at: index, nil)
            }
        }
        count { statistics in
            statistics.framesSent += sent
            statistics.framesSkipped += skipped
        }
    }

    /// Says once that clients miss frames because the protocol has no name for their format.
    private func refuse(_ frame: FrameDescription, _ film: ServedFilm) {
        guard !film.hasRefused else { return }
        film.hasRefused = true
        let place = frame.isDMABuf ? "in a DMA-BUF " : ""
        let error = ExportError(
            .unsupported, "\(path): frames in the format \(frame.pixelFormat.rawValue) \(place)cannot be served: GStreamer has no name for it.")
        server.shared.withLock { $0.failure = error }
        server.onFailure(error)
    }

    private func sayEnd(_ film: ServedFilm) {
        (film.hasSaidEnd, film.hasBegun) = (true, true)
        if film.isContinued { return }
        for client in clients where client.film === film { _ = client.socket.send(UnixFDCommand.message(.endOfStream)) }
    }

    /// All is finished when the end of each film that has begun has been sent and no client holds a frame.
    private func noteEnd(_ films: [ServedFilm]) {
        let begun = films.filter(\.hasBegun)
        guard !begun.isEmpty, begun.allSatisfy(\.hasSaidEnd), clients.allSatisfy({ $0.state.heldCount == 0 }) else { return }
        server.shared.change { $0.isFinished = true }
    }

    private func count(_ change: (inout FrameServer.Statistics) -> Void) {
        server.shared.withLock { shared in
            change(&shared.statistics)
            shared.statistics.clients = clients.count
        }
    }
}
