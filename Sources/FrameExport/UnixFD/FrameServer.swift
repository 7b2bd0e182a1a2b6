internal import Glibc
public import Media
internal import Sandbox
internal import SurfacePool

/// Serves decoded frames to other processes over a Unix socket, in the wire format of GStreamer's `unixfdsink`: any pipeline on the
/// machine can be a client,
///
///     gst-launch-1.0 unixfdsrc socket-path=/run/user/1000/film ! videoconvert ! autovideosink
///
/// and so can a `RemoteFrameSource`. Clients read the memory that the decoder wrote. A client's hold on a frame ends when it releases the
/// frame or when its connection closes, however it died. A client that has used up its budget misses frames; the others do not. One that has
/// taken and given back nothing for five seconds while it was owed frames makes room for a new one.
///
/// The socket belongs to this user only (mode 0600, and the peer's user is checked). Clients get memfds that they can only read; the kernel has no
/// such descriptors for DMA-BUFs, so clients are trusted not to *write* those.
///
/// Thread-safety: all members may be called from any thread. It owns one thread, named `export`.
public final class FrameServer: Sendable {
    /// How many clients a server has, and what they may hold.
    public struct Configuration: Sendable, Hashable {
        /// Connections served at once; further ones are closed, unless a client is stuck.
        public var clientLimit: Int
        /// Frames that one client may hold at once.
        public var clientBudget: Int
        /// Sends every frame: waits for the first client, and makes the decoder wait for slow ones.
        public var isLossless: Bool
        /// What the frames are to be, since clients cannot say it themselves. Empty: as the decoder makes them.
        public var wishes = FrameWishes()
        /// 5 s: no client that shows frames keeps all that it may hold for so long while new ones come.
        package var stuckAfter = HostSpan.seconds(5)

        /// Makes a configuration; both numbers are at least 1. The decoder's pool has room for `clientLimit * clientBudget` frames.
        public init(clientLimit: Int = 4, clientBudget: Int = 4, isLossless: Bool = false) {
            precondition(clientLimit > 0 && clientBudget > 0)
            self.clientLimit = clientLimit
            self.clientBudget = clientBudget
            self.isLossless = isLossless
        }
    }

    /// What a server has done since it was made.
    public struct Statistics: Sendable, Hashable {
        /// Connections now.
        public var clients = 0
        /// Connections so far, without refused ones.
        public var clientsServed = 0
        /// Frames sent, counted for each client.
        public var framesSent = 0
        /// Frames that a client over its budget, or not reading, did not get.
        public var framesSkipped = 0
        /// Frames in a format that the protocol cannot describe.
        public var framesUnsupported = 0
    }

    /// The exporter that takes the frames: give it to the player or `DisplayQueue`.
    public let exporter: FrameExporter
    /// The socket's path in the file system.
    public let path: String
    private let configuration: Configuration
    private let place: SocketPath
    private let bell: EventFD
    private let shared = Monitor(Shared())
    private let onNotice: @Sendable (String) -> Void
    private let onFailure: @Sendable (ExportError) -> Void

    private struct Shared: Sendable {
        var isStopping = false
        var isFinished = false
        var continues = false
        var thread: LoopThread?
        var statistics = Statistics()
        var failure: ExportError?
    }

    /// Opens the socket and begins to serve. A socket that nobody listens on is replaced.
    ///
    /// - Parameters:
    ///   - path: Of the socket, which `stop` removes, unless another socket has taken the path meanwhile.
    ///   - configuration: What clients may hold.
    ///   - onNotice: Called on the server's thread with a sentence when a client is refused, or disconnected for what it did.
    ///   - onFailure: Called on the server's thread, once, when a frame cannot be served because the protocol has no name for its format.
    /// - Throws: `.socket` when the socket cannot be made.
    public init(
        path: String, configuration: Configuration = Configuration(), onNotice: @escaping @Sendable (String) -> Void = { _ in },
        onFailure: @escaping @Sendable (ExportError) -> Void = { _ in }
    ) throws(ExportError) {
        self.path = path
        self.configuration = configuration
        self.onNotice = onNotice
        self.onFailure = onFailure
        var exporting = FrameExporterConfiguration(
            budget: configuration.clientLimit * configuration.clientBudget, bound: configuration.isLossless ? 2 : 8,
            policy: configuration.isLossless ? .makeDecoderWait : .dropOldest, delivery: configuration.isLossless ? .whenDecoded : .whenDue)
        exporting.wishes = configuration.wishes
        exporter = FrameExporter(exporting)
        do { bell = try EventFD() } catch { throw ExportError(.socket, "\(path): \(error.description).") }
        let listener: Monitor<UnixSocket?>
        do throws(SystemError) { listener = Monitor(try UnixSocket.listening(path)) } catch {
            throw ExportError(.socket, "\(path): cannot serve frames here: \(error.reason).")
        }
        place = SocketPath(path)
        exporter.onFrameAvailable { [bell] in bell.signal() }
        let thread = LoopThread(name: "export") { [self] in
            if let socket = listener.withLock({ $0.take() }) { run(socket) }
        }
        shared.withLock { $0.thread = thread }
    }

    /// Why frames are missing at every client: the protocol has no name for their format. Nil while it has.
    public var failure: ExportError? { shared.withLock { $0.failure } }

    /// What the server has done so far.
    public var statistics: Statistics { shared.withLock { $0.statistics } }

    /// Waits until every frame and the end of the stream have been sent and the clients have given every frame back or gone, or `stop` is called.
    /// False at `deadline` (CLOCK_MONOTONIC; nil: none).
    public func waitUntilFinished(until deadline: HostTime?) -> Bool {
        shared.wait(until: deadline) { $0.isFinished || $0.isStopping ? true : nil } ?? false
    }

    /// Whether another film follows the one that the exporter serves. Its frames then follow without an end of the stream between, with their own
    /// caps, and their times never go back. To be set before the film ends.
    public func setContinues(_ continues: Bool) { shared.withLock { $0.continues = continues } }

    /// Ends every connection and the thread, and removes the socket. Idempotent.
    public func stop() {
        let thread = shared.change { shared in
            shared.isStopping = true
            return shared.thread.take()
        }
        exporter.onFrameAvailable(nil)
        exporter.cancel()
        bell.signal()
        thread?.join()
        if thread != nil { place.remove() }
    }

    // MARK: The thread

    private final class Client {
        let socket: UnixSocket
        var state: FrameServerClientState<ServedFrame>

        init(_ socket: consuming UnixSocket, budget: Int) {
            self.socket = socket
            state = FrameServerClientState(budget: budget)
        }
    }

    /// The state that only the thread touches.
    private struct Worker {
        var clients: [Client] = []
        var nextID: UInt64 = 1
        var caps: VideoCaps?
        var stamps = FrameStamps()
        var hasServed = false
        var hasSaidEnd = false
        var hasRefused = false
        var descriptors: [PollDescriptor] = []
    }

    private func run(_ socket: borrowing UnixSocket) {
        var worker = Worker()
        while !shared.withLock({ $0.isStopping }) {
            bell.drain()
            accept(socket, &worker)
            let next = serve(&worker)
            noteEnd(worker)
            worker.descriptors.removeAll(keepingCapacity: true)
            worker.descriptors.append(PollDescriptor(fd: bell.rawValue, interest: .readable))
            worker.descriptors.append(PollDescriptor(fd: socket.rawValue, interest: .readable))
            for client in worker.clients { worker.descriptors.append(PollDescriptor(fd: client.socket.rawValue, interest: .readable)) }
            guard (try? pollDescriptors(&worker.descriptors, until: next)) != nil else { continue }
            for index in worker.clients.indices.reversed() where !worker.descriptors[index + 2].ready.isEmpty {
                if let reason = read(worker.clients[index]) { end(at: index, reason, &worker) }
            }
        }
    }

    private func accept(_ socket: borrowing UnixSocket, _ worker: inout Worker) {
        while let peer = socket.accept() {
            guard peer.isPeerTrusted else {
                onNotice("\(path): refused a client of another user.")
                continue
            }
            if worker.clients.count >= configuration.clientLimit { endStuckClient(&worker) }
            guard worker.clients.count < configuration.clientLimit else {
                onNotice("\(path): refused a client; \(configuration.clientLimit) are connected.")
                continue
            }
            let client = Client(peer, budget: configuration.clientBudget)
            // A client that connects late gets the caps at once, and the end when nothing follows.
            if let caps = worker.caps, !tell(caps, client) { continue }
            if worker.hasSaidEnd, !shared.withLock({ $0.continues }) { _ = client.socket.send(UnixFDCommand.message(.endOfStream)) }
            worker.clients.append(client)
            worker.hasServed = true
            count(worker) { $0.clientsServed += 1 }
        }
    }

    /// Ends the client that has been stuck for the longest time, if there is one.
    private func endStuckClient(_ worker: inout Worker) {
        let limit = MonotonicClock.shared.now() - configuration.stuckAfter
        let stuck = worker.clients.indices.filter { (worker.clients[$0].state.stuckSince ?? .distantFuture) < limit }
        guard let index = stuck.min(by: { worker.clients[$0].state.stuckSince! < worker.clients[$1].state.stuckSince! }) else { return }
        end(at: index, "it has given nothing back for some time, and another one waits", &worker)
    }

    private func tell(_ caps: VideoCaps, _ client: Client) -> Bool {
        guard client.state.caps != caps else { return true }
        guard client.socket.send(UnixFDCommand.caps(caps.text)) == .whole else { return false }
        client.state.caps = caps
        return true
    }

    /// Sends what is due; when to look again (nil: when something happens).
    private func serve(_ worker: inout Worker) -> HostTime? {
        while true {
            if configuration.isLossless, !worker.hasServed || worker.clients.contains(where: { !$0.state.hasRoom }) { return nil }
            let next = exporter.advance(to: MonotonicClock.shared.now(), onlyOne: configuration.isLossless)
            switch exporter.handOut(again: false) {
            case .some(let frame):
                if worker.hasSaidEnd {
                    // Another stream has begun.
                    worker.hasSaidEnd = false
                    shared.withLock { $0.isFinished = false }
                }
                send(ServedFrame(frame), &worker)
            case .none:
                if exporter.isAtEnd, !worker.hasSaidEnd { sayEnd(&worker) }
                return next
            }
        }
    }

    private func send(_ frame: ServedFrame, _ worker: inout Worker) {
        guard let caps = VideoCaps(frame.description) else {
            count(worker) { $0.framesUnsupported += 1 }
            return refuse(frame.description, &worker)
        }
        worker.caps = caps
        let id = worker.nextID
        worker.nextID += 1
        let now = MonotonicClock.shared.now()
        let time = worker.stamps.next(frame.description, isPaced: exporter.reading.isPaced, now: now)
        let message = UnixFDBuffer(frame.description, id: id, at: time).message
        ReadOnlyDescriptor.with(frame.descriptor, isDMABuf: frame.description.isDMABuf) { descriptor in
            send(message, id, frame, caps, descriptor, at: now, &worker)
        }
    }

    /// - Parameter descriptor: Of the frame's memory, as clients get it.
    private func send(
        _ message: [UInt8], _ id: UInt64, _ frame: ServedFrame, _ caps: VideoCaps, _ descriptor: Int32, at now: HostTime, _ worker: inout Worker
    ) {
        var sent = 0, skipped = 0
        for index in worker.clients.indices.reversed() {
            let client = worker.clients[index]
            guard client.state.hasRoom else {
                client.state.skipped(at: now)
                skipped += 1
                continue
            }
            guard tell(caps, client) else {
                end(at: index, "it does not read", &worker)
                continue
            }
            switch client.socket.send(message, descriptor: descriptor) {
            case .whole:
                client.state.sent(id, frame, at: now)
                sent += 1
            case .full:
                client.state.skipped(at: now)
                skipped += 1
            case .broken: end(at: index, nil, &worker)
            }
        }
        count(worker) { statistics in
            statistics.framesSent += sent
            statistics.framesSkipped += skipped
        }
    }

    /// Says once that clients miss frames because the protocol has no name for their format.
    private func refuse(_ frame: FrameDescription, _ worker: inout Worker) {
        guard !worker.hasRefused else { return }
        worker.hasRefused = true
        let place = frame.isDMABuf ? "in a DMA-BUF " : ""
        let error = ExportError(
            .unsupported, "\(path): frames in the format \(frame.pixelFormat.rawValue) \(place)cannot be served: GStreamer has no name for it.")
        shared.withLock { $0.failure = error }
        onFailure(error)
    }

    private func sayEnd(_ worker: inout Worker) {
        worker.hasSaidEnd = true
        if shared.withLock({ $0.continues }) { return }
        for client in worker.clients { _ = client.socket.send(UnixFDCommand.message(.endOfStream)) }
    }

    /// The stream is finished when its end has been sent and no client holds a frame.
    private func noteEnd(_ worker: borrowing Worker) {
        guard worker.hasSaidEnd, worker.clients.allSatisfy({ $0.state.heldCount == 0 }) else { return }
        shared.change { $0.isFinished = true }
    }

    /// Reads the client's messages. Returns why it must be disconnected, empty when it has disconnected itself; nil while it stays.
    private func read(_ client: Client) -> String? {
        switch client.socket.receive(4096, descriptorLimit: 0) {
        case .nothing: return nil
        case .closed: return ""
        case .bytes(let bytes, _):
            for case .end(let reason) in client.state.receive(bytes) { return reason }
            return nil
        }
    }

    /// Closes the connection; its holds go with it.
    private func end(at index: Int, _ reason: String?, _ worker: inout Worker) {
        worker.clients.remove(at: index)
        if let reason, !reason.isEmpty { onNotice("\(path): a client was ended: \(reason).") }
        count(worker) { _ in }
    }

    private func count(_ worker: borrowing Worker, _ change: (inout Statistics) -> Void) {
        let clients = worker.clients.count
        shared.withLock { shared in
            change(&shared.statistics)
            shared.statistics.clients = clients
        }
    }
}
