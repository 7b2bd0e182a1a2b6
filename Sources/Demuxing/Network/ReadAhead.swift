internal import CAV
internal import Glibc
internal import Media

/// A film on a web server that is fetched ahead of its reader, on a thread of its own, into a cache.
///
/// What is in the cache costs no request, and goes on being read while the connection is down. How long a broken connection is tried again counts
/// from when the reader has nothing left.
///
/// Thread-safety: one thread at a time reads; the cancellation may come from any.
final class ReadAhead {
    private let shared: Shared
    private let source: HTTPSource
    private let outer: AssetCancellation
    private let inner: AssetCancellation
    private var thread: LoopThread?

    /// Connects. Blocks, and throws as `HTTPSource.init`.
    init(_ address: String, _ options: AssetReaderOptions) throws(AssetError) {
        outer = options.cancellation
        inner = AssetCancellation(following: outer)
        let shared = Shared(options.network.cache, options.progress)
        self.shared = shared
        var own = options
        own.cancellation = inner
        source = try HTTPSource(address, own) { shared.state.withLock { $0.waitsSince } }
    }

    deinit {
        inner.cancel()
        shared.state.change { $0.isStopped = true }
        thread?.join()
    }

    var isSeekable: Bool { source.isSeekable }
    var byteCount: Int64? { source.byteCount }
    /// Where the film came from, after redirects.
    var location: String { source.location }
    /// Why no more bytes come, in words that follow "ends at 0:04 of 0:20: "; nil as long as they do.
    var loss: String? { shared.state.withLock { $0.loss } }

    /// Reads some bytes from `offset`, at least one. Blocks while they are not here, until `NetworkOptions.timeout` has passed without a byte.
    /// - Returns: How many; 0 at the end; below 0 an error as libavformat numbers them.
    func read(into target: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int {
        if thread == nil { thread = LoopThread(name: "network") { [source, shared] in shared.run(source) } }
        shared.move(to: offset)
        defer { shared.state.withLock { $0.waitsSince = nil } }
        while !outer.isCancelled {
            let now = MonotonicClock.shared.now()
            let count = shared.state.wait(until: now + .milliseconds(20)) { state -> Int? in
                let here = unsafe state.cache.copy(to: target, from: offset)
                if here > 0 { return here }
                if let end = state.end, offset >= end { return 0 }
                if let status = state.failure { return status }
                if state.waitsSince == nil { state.waitsSince = now }
                return nil
            }
            if let count { return count }
        }
        return Int(cav_error_exit)
    }

    /// What the reader's thread and the network's share.
    private final class Shared: Sendable {
        let state: Monitor<State>
        private let progress: FetchProgress?

        init(_ limits: ByteCache.Limits, _ progress: FetchProgress?) {
            state = Monitor(State(cache: ByteCache(limits)))
            self.progress = progress
        }

        /// The reader goes on at `offset`.
        func move(to offset: Int64) {
            let ahead = state.change { state in
                if offset != state.cache.position { state.cache.move(to: offset) }
                return state.cache.ahead
            }
            progress?.setAhead(ahead)
        }

        /// Fetches until the reader has gone.
        func run(_ source: HTTPSource) {
            state.withLock { $0.end = source.byteCount }
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: ByteCache.blockSize, alignment: 16)
            defer { unsafe buffer.deallocate() }
            while let offset = state.wait({ $0.next() }), let offset {
                let count = unsafe source.read(into: buffer, at: offset)
                let ahead = state.change { state in
                    if count > 0 {
                        unsafe state.cache.insert(UnsafeRawBufferPointer(rebasing: buffer[..<count]), at: offset)
                    } else if count == 0 {
                        state.end = offset
                    } else {
                        (state.failure, state.loss) = (count, source.loss)
                    }
                    return state.cache.ahead
                }
                progress?.add(max(count, 0))
                progress?.setAhead(ahead)
            }
        }
    }

    private struct State: Sendable {
        var cache: ByteCache
        /// The film's length, from the server's answer or from where its bytes ended; nil as long as it is unknown.
        var end: Int64?
        /// When the reader began to wait for a byte; nil when it does not.
        var waitsSince: HostTime?
        /// An error as libavformat numbers them, after which nothing more is fetched.
        var failure: Int?
        var loss: String?
        var isStopped = false

        /// Where the network goes on; nil while there is nothing to do; the inner nil when the thread ends.
        mutating func next() -> Int64?? {
            if isStopped { return .some(nil) }
            if failure != nil { return nil }
            guard case .fetch(let offset) = cache.step(end: end) else { return nil }
            return offset
        }
    }
}
