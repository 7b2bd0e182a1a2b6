package import Media
internal import Synchronization
package import Web

/// How a film is to be opened, beyond its name.
public struct AssetReaderOptions: Sendable {
    /// libavformat's name of the container (`h264`, `mpegts`) where it is known and cannot be recognised; nil finds out.
    public var containerName: String?
    /// Options of libavformat's demuxers and protocols, by their names: `probesize`, `rtsp_transport` … What web servers are told is `network`'s.
    public var libraryOptions: [String: String]
    /// Decodes the first frames even when the container's head says all that playback needs: for programs that report what a film is.
    public var isThorough: Bool
    /// How long the network is waited for, and what it is told.
    public var network: NetworkOptions
    /// Ends a wait for the network from another thread, also while the film is being opened.
    public var cancellation: AssetCancellation
    /// Where the bytes come from if libavformat is to open nothing by itself.
    package var source: (any FilmBytes)?
    /// What `source` refuses to open libavformat may open itself.
    var libraryOpensOthers = false
    /// The size in which the film is shown at most; nil when that is unknown.
    package var shownSize: PixelSize?
    /// The film at the location, which has been opened already.
    var opened: AssetBytes?
    /// Times are left as the container says them, and what the head says of the film's length does not count: for a part of a film.
    var keepsTimes = false
    /// How lists of parts on web servers are read.
    package var lists = ListReading.byLibrary
    /// What asks web servers, and keeps the connections to them from one part of the film to the next.
    package var web = HTTPClient()
    /// Told what comes from a web server.
    package var progress: FetchProgress?

    /// By default the container is recognised, no option is set, and opening reads no more than playback needs.
    public init(
        containerName: String? = nil, libraryOptions: [String: String] = [:], isThorough: Bool = false,
        network: NetworkOptions = NetworkOptions(), cancellation: AssetCancellation = AssetCancellation()
    ) {
        self.containerName = containerName
        self.libraryOptions = libraryOptions
        self.isThorough = isThorough
        self.network = network
        self.cancellation = cancellation
    }
}

/// How HLS lists on web servers are read. DASH manifests are read part by part wherever they can be.
package enum ListReading: Sendable, Hashable {
    /// By libavformat, in one variant, which leaves out what lies beside the frames but sound.
    case byLibrary
    /// Part by part in one variant, where it has subtitles or dates.
    case inOneVariant
    /// The variant may change between parts.
    case adaptively
}

/// A switch that makes an `AssetReader` give up: whatever it waits for, and every later call, fails soon with `cancelled`.
///
/// Thread-safety: all of it. It cannot be switched back.
public final class AssetCancellation: Sendable {
    private let flag = Atomic(false)
    private let leader: AssetCancellation?
    private let handlers = Monitor<[@Sendable () -> Void]>([])

    /// A switch that is off. One may serve several readers, which then give up together.
    public init() { leader = nil }

    /// A switch that is also on when `leader` is.
    package init(following leader: AssetCancellation) { self.leader = leader }

    /// Switches it on, from any thread; idempotent.
    public func cancel() {
        flag.store(true, ordering: .relaxed)
        let called = handlers.withLock { handlers in
            defer { handlers = [] }
            return handlers
        }
        for handler in called { handler() }
    }
    /// Whether `cancel` was called.
    public var isCancelled: Bool { flag.load(ordering: .relaxed) || leader?.isCancelled ?? false }

    /// Calls `handler` once, on the thread that calls `cancel`; at once when it is on already.
    package func onCancel(_ handler: @escaping @Sendable () -> Void) {
        let isOn = handlers.withLock { handlers in
            if isCancelled { return true }
            handlers.append(handler)
            return false
        }
        if isOn { handler() }
    }
}
