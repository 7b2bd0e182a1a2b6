internal import Dispatch
internal import Glibc
public import Media
internal import Sandbox
internal import SurfacePool

/// Receives frames that another process serves: a `FrameServer` of this library, or GStreamer's `unixfdsink`.
///
///     let source = try RemoteFrameSource(path: "/run/user/1000/film")
///     while let frame = source.waitForFrame() { … frame.plane(0) … }        // into a renderer, or
///     while let frame = source.waitForFrame() { queue.enqueue(frame.videoFrame()) }     // into any sink
///
/// The server lends only so many frames at once, so each has to be given back; letting it go does that. Memory that the server sends again
/// keeps its identity.
///
/// Thread-safety: one thread waits at a time; frames may be used and released on any.
public final class RemoteFrameSource: Sendable {
    private let connection: RemoteConnection
    private let bell: EventFD
    private let path: String
    private let state: Monitor<State>

    private struct State: Sendable {
        /// 4 MiB: GStreamer sends a buffer's metadata along, whatever that is.
        var parser = UnixFDParser(payloadLimit: 4 << 20)
        /// Descriptors that arrived before their buffer; the receiver closes them.
        var descriptors: [Int32] = []
        var caps: VideoCaps?
        var memory = RemoteMemory()
        var error: ExportError?
        var isAtEnd = false
    }

    /// Connects to the server at `path`.
    /// - Parameter film: The name of one of its films (`FrameServer.addFilm`); nil: the first one. With a name it blocks until the server has
    ///   answered, for at most five seconds.
    public init(path: String, film: String? = nil) throws(ExportError) {
        self.path = path
        let connection = try Self.connect(path)
        if let film { try RemoteFilmChoice(path: path, connection: connection).choose(film) }
        self.connection = connection
        do { bell = try EventFD() } catch { throw ExportError(.socket, "\(path): \(error.description).") }
        state = Monitor(State())
    }

    /// The names of the films of the server at `path`; the first one has none. Blocks until it has answered, for at most five seconds.
    public static func films(at path: String) throws(ExportError) -> [String] {
        try RemoteFilmChoice(path: path, connection: connect(path)).names()
    }

    private static func connect(_ path: String) throws(ExportError) -> RemoteConnection {
        do throws(SystemError) { return RemoteConnection(try UnixSocket.connected(path)) } catch {
            throw ExportError(.socket, "\(path): cannot connect: \(error.reason).")
        }
    }

    deinit {
        var memory = takeMemory()
        memory.forgetAll()
        for fd in state.withLock({ $0.descriptors }) { close(fd) }
    }

    /// Why there are no more frames; nil at a proper end and while there are some.
    public var error: ExportError? { state.withLock { $0.error } }

    /// Whether nothing more will come: the stream has ended properly, or `error` says otherwise.
    public var isOver: Bool { state.withLock { $0.isAtEnd || $0.error != nil } }

    /// Waits for a frame; nil at `deadline` (CLOCK_MONOTONIC; nil: none), at the end of the stream, and when the connection has failed (`error`
    /// tells why).
    public func waitForFrame(until deadline: HostTime? = nil) -> ExportedFrame? { waitForFrame(until: deadline) { false } }

    /// As `waitForFrame`, for asynchronous code.
    public func next() async -> ExportedFrame? { await nextHeldFrame()?.take() }

    /// The frames as a sequence of objects.
    public var frames: ExportedFrames { ExportedFrames(self) }
}

extension RemoteFrameSource: AsynchronousFrameSource {
    private static let queue = DispatchQueue(label: "player.export", attributes: .concurrent)

    func nextHeldFrame() async -> HeldFrame? {
        // By the monitor, not the continuation: ThreadSanitizer sees what that hands over.
        let flag = Monitor(false), answer = Monitor<HeldFrame?>(nil)
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                // The wait sleeps in `poll`, which the cooperative pool's threads must not.
                Self.queue.async { [self] in
                    let frame = waitForFrame(until: nil) { flag.withLock { $0 } }
                    switch consume frame {
                    case .some(let frame):
                        let box = HeldFrame(frame)
                        answer.withLock { $0 = box }
                    case .none: break
                    }
                    continuation.resume()
                }
            }
        } onCancel: {
            flag.withLock { $0 = true }
            bell.signal()
        }
        return answer.withLock { $0.take() }
    }

    private func waitForFrame(until deadline: HostTime?, isCancelled: () -> Bool) -> ExportedFrame? {
        var descriptors = [
            PollDescriptor(fd: connection.socket.rawValue, interest: .readable), PollDescriptor(fd: bell.rawValue, interest: .readable),
        ]
        while !isCancelled(), state.withLock({ $0.error == nil && !$0.isAtEnd }) {
            switch read() {
            case .frame(let frame): return frame
            case .again: continue
            case .empty: break
            }
            guard let count = try? pollDescriptors(&descriptors, until: deadline), count > 0 else { return nil }
            if !descriptors[1].ready.isEmpty { bell.drain() }
        }
        return nil
    }

    private enum Step: ~Copyable { case frame(ExportedFrame), again, empty }

    /// Reads up to the end of one message, as the descriptors belong to the message that they come with.
    private func read() -> Step {
        let wanted = state.withLock { $0.parser.wanted }
        switch connection.socket.receive(max(wanted, 1)) {
        case .nothing: return .empty
        case .closed:
            fail(ExportError(.closed, "\(path): the server is gone."))
            return .again
        case .bytes(let bytes, let fds):
            do {
                let message = try state.withLock { state throws(ExportError) in
                    state.parser.append(bytes)
                    state.descriptors += fds
                    return try state.parser.next()
                }
                guard let message else { return .again }
                return try handle(message)
            } catch {
                fail(error)
                return .again
            }
        }
    }

    private func fail(_ error: ExportError) { state.withLock { $0.error = $0.error ?? error } }

    private func handle(_ message: UnixFDParser.Message) throws(ExportError) -> Step {
        switch message.command {
        case .caps:
            guard message.payload.last == 0 else { throw ExportError(.malformed, "\(path): the server's caps do not end.") }
            let text = String(decoding: message.payload.dropLast(), as: UTF8.self)
            // unixfdsink sends this to a client that connects before its stream has begun.
            if text == "NULL" { return .again }
            let caps = try VideoCaps(text: text)
            guard state.withLock({ $0.caps }) != caps else { break }
            var memory = takeMemory()
            memory.forgetAll()
            state.withLock { state in
                state.memory = memory
                state.caps = caps
            }
        case .newBuffer: return try frame(UnixFDBuffer(payload: message.payload))
        case .endOfStream: state.withLock { $0.isAtEnd = true }
        case .releaseBuffer: throw ExportError(.malformed, "\(path): the server sent what only a client sends.")
        case .film, .films, nil: break
        }
        return .again
    }

    private func frame(_ buffer: UnixFDBuffer) throws(ExportError) -> Step {
        let fds = state.withLock { state in
            defer { state.descriptors = [] }
            return state.descriptors
        }
        guard fds.count == buffer.memories.count else {
            fds.forEach { close($0) }
            throw ExportError(.malformed, "\(path): the server sent \(fds.count) descriptors for \(buffer.memories.count) pieces of memory.")
        }
        guard let fd = fds.first, fds.count == 1 else {
            fds.forEach { close($0) }
            if fds.isEmpty {
                connection.release(buffer.id)
                return .again
            }
            throw ExportError(.unsupported, "\(path): the server sends a frame in \(fds.count) pieces of memory; only one is supported.")
        }
        let descriptor = OwnedFD(adopting: fd)
        guard let caps = state.withLock({ $0.caps }) else { throw ExportError(.malformed, "\(path): the server sent a frame before its caps.") }
        let layout = try buffer.layout(caps)
        var memory = takeMemory()
        defer { state.withLock { $0.memory = memory } }
        let surface: Surface, sequence = memory.count
        do throws(SurfaceError) {
            surface = try memory.surface(descriptor, layout, isDMABuf: buffer.isDMABuf)
        } catch {
            throw ExportError(.malformed, "\(path): the server sent memory that cannot be used: \(error)")
        }
        func time(_ value: UInt64?) -> MediaTime { value.flatMap { Int64(exactly: $0) }.map { MediaTime(nanoseconds: $0) } ?? .invalid }
        let description = FrameDescription(
            layout: layout, visible: PixelRect(caps.size), attributes: FrameAttributes(pixelAspect: caps.pixelAspect, color: caps.color),
            presentationTime: time(buffer.mediaTime), duration: time(buffer.duration),
            hostTime: Int64(exactly: buffer.pts).map { HostTime(nanoseconds: $0) }, identity: surface.identity,
            sequence: buffer.offset == UnixFDBuffer.noTime ? sequence : buffer.offset, isDMABuf: buffer.isDMABuf)
        let use = surface.share { [connection, id = buffer.id] in connection.release(id) }
        return .frame(ExportedFrame(description, remote: use))
    }

    /// Takes the surfaces out of the lock: importers are told about each one that ends, and nobody is called under a lock.
    private func takeMemory() -> RemoteMemory {
        var memory = RemoteMemory()
        state.withLock { swap(&memory, &$0.memory) }
        return memory
    }
}
