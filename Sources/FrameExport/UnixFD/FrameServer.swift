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
/// A server has one film, which every client gets. `addFilm` gives it more, by names; a `RemoteFrameSource` that asks for one by its name gets that.
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
    public var exporter: FrameExporter { first.exporter }
    /// The socket's path in the file system.
    public let path: String
    let configuration: Configuration
    let bell: EventFD
    let shared: Monitor<Shared>
    let onNotice: @Sendable (String) -> Void
    let onFailure: @Sendable (ExportError) -> Void
    private let first: ServedFilm
    private let place: SocketPath

    struct Shared: Sendable {
        /// The first one is the one without a name.
        var films: [ServedFilm]
        var isStopping = false
        var isFinished = false
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
        do { bell = try EventFD() } catch { throw ExportError(.socket, "\(path): \(error.description).") }
        let listener: Monitor<UnixSocket?>
        do throws(SystemError) { listener = Monitor(try UnixSocket.listening(path)) } catch {
            throw ExportError(.socket, "\(path): cannot serve frames here: \(error.reason).")
        }
        place = SocketPath(path)
        first = ServedFilm("", configuration, configuration.wishes, bell: bell)
        shared = Monitor(Shared(films: [first]))
        let thread = LoopThread(name: "export", isPrompt: true) { [self] in
            if let socket = listener.withLock({ $0.take() }) { FrameServerLoop(self).run(socket) }
        }
        shared.withLock { $0.thread = thread }
    }

    /// Why frames are missing at every client: the protocol has no name for their format. Nil while it has.
    public var failure: ExportError? { shared.withLock { $0.failure } }

    /// What the server has done so far.
    public var statistics: Statistics { shared.withLock { $0.statistics } }

    /// The names of the films beside the first one, in the order in which they were added.
    public var films: [String] { shared.withLock { $0.films.dropFirst().map(\.name) } }

    /// Gives the server another film: what the exporter takes goes to those clients that ask for it by this name.
    ///
    /// All clients together are at most `clientLimit`, each with its budget; the decoder's pool of each film has room for all of them.
    /// - Parameters:
    ///   - name: 1 to 255 bytes, none of them 0.
    ///   - wishes: What its frames are to be.
    /// - Throws: `.unsupported` for a name that cannot be, or that another film of this server has.
    public func addFilm(_ name: String, wishes: FrameWishes = FrameWishes()) throws(ExportError) -> FrameExporter {
        guard (1...UnixFDCommand.nameLimit).contains(name.utf8.count), !name.utf8.contains(0) else {
            throw ExportError(.unsupported, "\(path): a film's name has 1 to \(UnixFDCommand.nameLimit) bytes.")
        }
        let film = ServedFilm(name, configuration, wishes, bell: bell)
        let isNew = shared.withLock { shared in
            guard !shared.films.contains(where: { $0.name == name }) else { return false }
            shared.films.append(film)
            return true
        }
        guard isNew else { throw ExportError(.unsupported, "\(path): there is a film \"\(name)\" already.") }
        return film.exporter
    }

    /// Takes a film away that was added: its clients hear that it has ended, and keep what they hold. Nothing where there is none of that name.
    public func removeFilm(_ name: String) {
        let gone = shared.withLock { shared -> ServedFilm? in
            shared.films.dropFirst().firstIndex { $0.name == name }.map { shared.films.remove(at: $0) }
        }
        gone?.stop()
        bell.signal()
    }

    /// Waits until every frame and the end of each film that has begun have been sent and the clients have given every frame back or gone, or `stop`
    /// is called. False at `deadline` (CLOCK_MONOTONIC; nil: none).
    public func waitUntilFinished(until deadline: HostTime?) -> Bool {
        shared.wait(until: deadline) { $0.isFinished || $0.isStopping ? true : nil } ?? false
    }

    /// Whether another film follows the one that the exporter serves. Its frames then follow without an end of the stream between, with their own
    /// caps, and their times never go back. To be set before the film ends.
    /// - Parameter film: The name that both have; empty: the first one.
    public func setContinues(_ continues: Bool, film: String = "") {
        shared.withLock { shared in shared.films.first { $0.name == film } }?.setContinues(continues)
    }

    /// Ends every connection and the thread, and removes the socket. Idempotent.
    public func stop() {
        let (thread, films) = shared.change { shared in
            shared.isStopping = true
            return (shared.thread.take(), shared.films)
        }
        for film in films { film.stop() }
        bell.signal()
        thread?.join()
        if thread != nil { place.remove() }
    }
}
