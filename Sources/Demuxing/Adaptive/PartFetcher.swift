internal import CAV
internal import Media

/// Fetches the parts of an adaptive film ahead of its reader, on a thread of its own: the one that is needed first, one after the other, so that what
/// the network brings can be told from how long a part takes. Before each part it is decided which variant it is taken of.
///
/// Broken connections are taken up again as `HTTPSource` does.
///
/// Thread-safety: one thread at a time reads; `stop` may come from any.
final class PartFetcher: Sendable {
    /// What there is to fetch.
    struct Lists: Sendable {
        /// The addresses of the lists, by their numbers: the variants in their order, then the renditions.
        var addresses: [String]
        /// Those that have been read already.
        var known: [Int: MediaPlaylist]
        /// For each lane behind the first, which the variants share, its list.
        var renditions: [Int]
        /// How many of the last renditions are subtitles.
        var textCount = 0
        /// What says where the parts are in place of the lists; the addresses are its own.
        var manifest: Manifest?
        /// Where they ask players to begin.
        var start: PlaylistStart?

        /// Whether a lane is of subtitles, without whose parts the film is whole.
        func isText(_ lane: Int) -> Bool { lane > renditions.count - textCount }
    }

    struct State: Sendable {
        var lanes: [PartLane]
        /// When the reader began to wait for a byte; nil when it does not.
        var waitsSince: HostTime?
        /// The variant of the part that was planned last.
        var variant: Int
        var switches = 0
        var lacksPart = false
        var isStopped = false
        /// When a list that grows is asked for again, for each lane.
        var reloadsAt: [HostTime?]
        /// Ends what is being fetched for the first lane or another.
        var fetch: (lane: Int, generation: Int, cancellation: AssetCancellation)?

        /// Bytes that are here and not read, of the lanes that are read.
        var bytesAhead: Int64 { lanes.reduce(0) { $1.isIdle ? $0 : $0 + $1.bytesAhead } }

        /// What is here, of what is to be fetched ahead.
        /// - Parameter limit: in bytes.
        func fetchedAhead(limit: Int64) -> FetchedAhead {
            let read = lanes.filter { !$0.isIdle }, bytes = bytesAhead, time = read.map(\.timeAhead).min() ?? 0
            let share = max(Double(bytes) / Double(max(limit, 1)), Double(time) / Double(PartFetcher.longestAhead))
            let isWhole = !read.isEmpty && read.allSatisfy { $0.isEnded && $0.parts.allSatisfy { $0.progress != .coming } }
            return FetchedAhead(bytes: bytes, percent: isWhole ? 100 : Int(min(share, 1) * 100), seconds: Double(time) / 1e6)
        }
    }

    typealias Decide = @Sendable (_ buffer: VariantSwitching.Buffer, _ part: Int) -> Int?

    let state: Monitor<State>
    let options: AssetReaderOptions
    let lists: Lists
    private let inner: AssetCancellation
    private let first: VariantSwitching
    /// Decides instead of `VariantSwitching`, for tests; by how many parts were planned before.
    private let decide: Decide?
    private let thread = Monitor<LoopThread?>(nil)

    /// A minute is enough for most outages, and what was fetched of too small a variant is not played for longer.
    static let longestAhead: Int64 = 60_000_000
    /// 20 ms between looks at the cancellation, which wakes nobody: soon enough for a person.
    private static let patience = HostSpan.milliseconds(20)

    init(_ lists: Lists, _ switching: VariantSwitching, _ options: AssetReaderOptions, decide: Decide? = nil) {
        self.lists = lists
        self.decide = decide
        first = switching
        inner = AssetCancellation(following: options.cancellation)
        var own = options
        own.cancellation = inner
        self.options = own
        let count = 1 + lists.renditions.count
        var lanes = Array(repeating: PartLane(), count: count)
        // Until they are asked for.
        for index in lanes.indices { lanes[index].isIdle = lists.isText(index) }
        state = Monitor(
            State(lanes: lanes, variant: switching.current, reloadsAt: Array(repeating: nil, count: count)))
    }

    func start() {
        let thread = LoopThread(name: "network") { [weak self, first] in
            var worker = PartWorker(switching: first)
            while let self, self.step(&worker) {}
        }
        self.thread.withLock { $0 = thread }
    }

    /// Ends the thread.
    func stop() {
        inner.cancel()
        state.change { state in
            state.isStopped = true
            state.fetch?.cancellation.cancel()
        }
        thread.withLock { $0.take() }?.join()
    }

    // MARK: The reader

    /// The reader goes on at `time`, in microseconds of the list.
    func seek(to time: Int64) {
        state.change { state in
            for index in state.lanes.indices {
                state.lanes[index].seek(to: time)
                state.reloadsAt[index] = nil
            }
            if let fetch = state.fetch, state.lanes[fetch.lane].generation != fetch.generation { fetch.cancellation.cancel() }
        }
        report()
    }

    /// Only these lanes are read from now on.
    func select(_ lanes: Set<Int>) {
        state.change { state in for index in state.lanes.indices { state.lanes[index].isIdle = !lanes.contains(index) } }
    }

    /// The part that is read next in a lane, once its first bytes are here; nil at the end of the film. Blocks.
    func nextPart(_ lane: Int, bytes: Int = 1) throws(AssetError) -> PartLane.Part? {
        defer { state.withLock { $0.waitsSince = nil } }
        while !inner.isCancelled {
            let now = MonotonicClock.shared.now()
            let part = state.wait(until: now + Self.patience) { state -> PartLane.Part?? in
                if let part = state.lanes[lane].readPart, part.bytes.count >= bytes || part.progress != .coming { return part }
                if state.lanes[lane].readPart == nil, state.lanes[lane].isEnded { return .some(nil) }
                if state.waitsSince == nil { state.waitsSince = now }
                return nil
            }
            if let part { return part }
        }
        throw AssetError(.cancelled, "reading was cancelled.")
    }

    /// The part that is read next in a lane, if it is here, or is known not to come. Does not wait.
    func wholePart(_ lane: Int) -> PartLane.Part? {
        let part = state.withLock { $0.lanes[lane].readPart }
        return part.flatMap { $0.progress == .coming ? nil : $0 }
    }

    /// Copies what comes next of the parts of a lane that belong together. Blocks while it is not here.
    /// - Returns: How many bytes; 0 at the end of these parts; below 0 an error as libavformat numbers them. The date is that of the part that begins
    ///   with them, where its list says one.
    func read(_ lane: Int, isFirst: Bool, into target: UnsafeMutableRawBufferPointer) -> (count: Int, date: ProgramDate?) {
        defer {
            state.withLock { $0.waitsSince = nil }
            report()
        }
        while !inner.isCancelled {
            let now = MonotonicClock.shared.now()
            let found = state.wait(until: now + Self.patience) { state -> (count: Int, date: ProgramDate?)? in
                let next = state.lanes[lane].read(isFirst) { bytes in
                    let count = min(bytes.count, target.count)
                    unsafe target.copyBytes(from: bytes.prefix(count))
                    return count
                }
                switch next {
                case .bytes(let count): return (count, state.lanes[lane].offset == count ? state.lanes[lane].readPart?.part.date : nil)
                case .end: return (0, nil)
                case .wait:
                    if state.waitsSince == nil { state.waitsSince = now }
                    return nil
                }
            }
            if let found {
                state.wakeWaiters()
                return found
            }
        }
        return (Int(cav_error_exit), nil)
    }

    /// What is here, for those who show it.
    func report() {
        guard let progress = options.progress else { return }
        let limit = options.network.cache.ahead
        let (ahead, variant, switches) = state.withLock { ($0.fetchedAhead(limit: limit), $0.variant, $0.switches) }
        progress.setAhead(ahead)
        progress.setVariant(variant, switches: switches)
    }

    // MARK: What is fetched next

    private enum Job { case stop, fetch(Int) }

    /// One part, or one list. False when the thread ends.
    private func step(_ worker: inout PartWorker) -> Bool {
        let limits = options.network.cache
        let now = MonotonicClock.shared.now()
        let deadline = state.withLock { $0.reloadsAt.compactMap(\.self).filter { $0 > now }.min() }
        let job = state.wait(until: deadline) { state -> Job? in
            if state.isStopped { return .stop }
            for index in state.lanes.indices { state.lanes[index].forget(behind: limits.behind / Int64(state.lanes.count)) }
            let bytes = state.bytesAhead
            let now = MonotonicClock.shared.now()
            let open = state.lanes.indices.filter { index in
                let lane = state.lanes[index]
                guard !lane.isIdle, !lane.isEnded, state.reloadsAt[index].map({ $0 <= now }) ?? true else { return false }
                // A reader that waits for a part gets it, however little room there is.
                return lane.readPart == nil || (bytes < limits.ahead && lane.timeAhead < Self.longestAhead)
            }
            return open.min { state.lanes[$0].timeAhead < state.lanes[$1].timeAhead }.map(Job.fetch)
        }
        switch job {
        case .stop: return false
        case nil: return true
        case .fetch(let lane):
            worker.work(lane, self)
            return true
        }
    }

    /// A part is about to be planned: the variant that it is taken of.
    func variant(_ worker: inout PartWorker, _ lane: PartLane, duration: Int64) -> Int {
        let bytes = state.withLock { $0.bytesAhead }
        let isFull = worker.isAtEdge || bytes > options.network.cache.ahead / 2
        let buffer = VariantSwitching.Buffer(ahead: lane.timeAhead, isFull: isFull)
        worker.planned += 1
        return decide?(buffer, worker.planned - 1) ?? worker.switching.next(buffer, duration: duration)
    }
}
