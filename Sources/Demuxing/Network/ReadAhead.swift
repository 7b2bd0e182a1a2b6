internal import CAV
internal import Glibc
internal import Media

/// A film on a web server that is fetched ahead of its reader, on a thread of its own, into a cache.
///
/// What is in the cache costs no request, and goes on being read while the connection is down. How long a broken connection is tried again counts
/// from when the reader has nothing left. What does not fit in memory may go to a file (`NetworkOptions.cacheFolder`).
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
        let shared = Shared(address, options.network, options.progress)
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
            let found = shared.state.wait(until: now + .milliseconds(20)) { state -> Found? in
                let here = unsafe state.cache.copy(to: target, from: offset)
                if here > 0 { return .here(here) }
                let stored = state.cache.storedCount(from: offset)
                if stored > 0, let file = state.file { return .stored(Int(min(stored, Int64(target.count))), file) }
                if let end = state.end, offset >= end { return .here(0) }
                if let status = state.failure { return .here(status) }
                if state.waitsSince == nil { state.waitsSince = now }
                return nil
            }
            switch found {
            case .here(let count): return count
            case .stored(let count, let file):
                if let count = unsafe shared.read(file, into: UnsafeMutableRawBufferPointer(rebasing: target[..<count]), at: offset) { return count }
            case nil: break
            }
        }
        return Int(cav_error_exit)
    }

    private enum Found {
        /// So many bytes were copied; what `read` returns.
        case here(Int)
        /// So many are in the file.
        case stored(Int, CacheFile)
    }

    /// What the reader's thread and the network's share.
    private final class Shared: Sendable {
        let state: Monitor<State>
        private let address: String
        private let folder: String?
        private let progress: FetchProgress?

        init(_ address: String, _ network: NetworkOptions, _ progress: FetchProgress?) {
            state = Monitor(State(cache: ByteCache(network.cache)))
            (self.address, folder, self.progress) = (address, network.cacheFolder, progress)
        }

        /// The reader goes on at `offset`.
        func move(to offset: Int64) {
            let ahead = state.change { state in
                if offset != state.cache.position { state.cache.move(to: offset) }
                return state.cache.fetchedAhead(end: state.end)
            }
            progress?.setAhead(ahead)
        }

        /// Fetches until the reader has gone.
        func run(_ source: HTTPSource) {
            state.withLock { $0.end = source.byteCount }
            if let byteCount = source.byteCount {
                progress?.setByteCount(byteCount)
                createFile(for: byteCount)
            }
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: ByteCache.blockSize, alignment: 16)
            defer { unsafe buffer.deallocate() }
            while let offset = state.wait({ $0.next() }), let offset {
                let count = unsafe source.read(into: buffer, at: offset)
                // First, because whoever reads them tells how much has come.
                progress?.add(max(count, 0))
                let bytes = unsafe UnsafeRawBufferPointer(rebasing: buffer[..<max(count, 0)]), isStored = unsafe store(bytes, at: offset)
                let ahead = state.change { state in
                    if count > 0 {
                        unsafe state.cache.insert(bytes, at: offset, isStored: isStored)
                    } else if count == 0 {
                        state.end = offset
                    } else {
                        (state.failure, state.loss) = (count, source.loss)
                    }
                    return state.cache.fetchedAhead(end: state.end)
                }
                progress?.setAhead(ahead)
            }
        }

        // MARK: The file

        /// Of a film that does not fit in memory, and whose length is known: another one may never end.
        private func createFile(for byteCount: Int64) {
            guard let folder, byteCount > state.withLock({ $0.cache.limits.ahead }) else { return }
            do throws(SystemError) {
                let file = try CacheFile(in: folder)
                state.change { state in
                    state.file = file
                    state.cache.isStoring = true
                }
            } catch { tell(error) }
        }

        /// Whether the file has these bytes now.
        private func store(_ bytes: UnsafeRawBufferPointer, at offset: Int64) -> Bool {
            guard bytes.count > 0, let file = state.withLock({ $0.cache.isStoring ? $0.file : nil }) else { return false }
            do throws(SystemError) {
                try unsafe file.write(bytes, at: offset)
                return true
            } catch {
                // What it has stays readable.
                state.withLock { $0.cache.isStoring = false }
                tell(error)
                return false
            }
        }

        /// Bytes that the file has; nil when it cannot be read, and does not count any more.
        func read(_ file: CacheFile, into target: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int? {
            do throws(SystemError) { return try unsafe file.read(into: target, at: offset) } catch {
                state.change { state in
                    state.file = nil
                    state.cache.forgetStored()
                }
                tell(error)
                return nil
            }
        }

        private func tell(_ error: SystemError) {
            progress?.tell("\(address.withoutPasswords): \(error). It goes on from memory and the network.")
        }
    }

    private struct State: Sendable {
        var cache: ByteCache
        /// What does not fit in memory.
        var file: CacheFile?
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
