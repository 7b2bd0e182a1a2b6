internal import CAV
internal import Media

/// What the thread that fetches parts knows: the lists, and what the network brings.
///
/// Thread-safety: the thread's own.
struct PartWorker {
    var switching: VariantSwitching
    /// Parts that were planned for the first lane.
    var planned = 0
    /// The newest part of a film that grows is here.
    var isAtEdge = false
    private var lists: [Int: MediaPlaylist] = [:]
    private var resources = PartResources()
    /// The newest.
    private var manifest: Manifest?

    init(switching: VariantSwitching) { self.switching = switching }

    /// Plans and fetches the next part of a lane, or learns that there is none.
    mutating func work(_ index: Int, _ fetcher: PartFetcher) {
        let lane = fetcher.state.withLock { $0.lanes[index] }
        let last = lane.parts.last
        var number = index > 0 ? fetcher.lists.renditions[index - 1] : switching.current
        if index == 0, let list = list(number, fetcher) {
            number = fetcher.variant(&self, lane, duration: last?.part.duration ?? list.targetDuration)
        }
        guard let list = list(number, fetcher) else { return without(number, index, fetcher) }
        let found = Self.next(list, lane, fetcher.lists.start, isSame: last?.list == number)
        guard let next = found else { return atEnd(of: list, number, index, fetcher) }
        let part = list.parts[next]
        let cancellation = AssetCancellation(following: fetcher.options.cancellation)
        let isWanted = fetcher.state.change { state in
            guard state.lanes[index].generation == lane.generation else { return false }
            if index == 0, state.variant != number {
                state.variant = number
                if last != nil { state.switches += 1 }
            }
            state.reloadsAt[index] = nil
            state.fetch = (index, lane.generation, cancellation)
            return true
        }
        guard isWanted else { return }
        defer { fetcher.state.withLock { $0.fetch = nil } }
        var options = fetcher.options
        options.cancellation = cancellation
        fetch(part, number, index, lane.generation, fetcher, options)
        fetcher.report()
    }

    private static func next(_ list: MediaPlaylist, _ lane: PartLane, _ start: PlaylistStart?, isSame: Bool) -> Int? {
        if let last = lane.parts.last { return list.index(after: last.part, isSame: isSame) }
        return lane.start.map { list.index(at: $0) } ?? list.beginning(start)
    }

    // MARK: Lists

    /// nil where it cannot be had.
    private mutating func list(_ number: Int, _ fetcher: PartFetcher) -> MediaPlaylist? {
        if let known = lists[number] ?? fetcher.lists.known[number] {
            lists[number] = known
            return known
        }
        if let manifest = manifest ?? fetcher.lists.manifest { return listed(number, manifest, fetcher) }
        return load(number, fetcher)
    }

    /// A list as the server has it now.
    private mutating func load(_ number: Int, _ fetcher: PartFetcher) -> MediaPlaylist? {
        let address = fetcher.lists.addresses[number]
        guard let source = resources.connect(address, fetcher, fetcher.options).source, let bytes = source.bytes(limit: AssetBytes.largestList) else {
            return nil
        }
        let text = String(decoding: bytes, as: UTF8.self)
        guard fetcher.lists.manifest == nil else {
            guard let fresh = Manifest(text, from: source.location) else { return nil }
            (manifest, lists) = (fresh, [:])
            return listed(number, fresh, fetcher)
        }
        let list = MediaPlaylist(text, from: source.location)
        lists[number] = list
        return list
    }

    /// The list that a manifest makes of what it says; nil where an index that it names cannot be had.
    private mutating func listed(_ number: Int, _ manifest: Manifest, _ fetcher: PartFetcher) -> MediaPlaylist? {
        // Numbers are those of the manifest that was read first.
        let own = fetcher.lists.manifest?.number(of: number, in: manifest)
        lists[number] = own.flatMap { manifest.list($0) { resources.index($0, fetcher) } }
        return lists[number]
    }

    /// The list has no further part: it ends, or is asked for again after a while (RFC 8216, 6.3.4).
    private mutating func atEnd(of list: MediaPlaylist, _ number: Int, _ index: Int, _ fetcher: PartFetcher) {
        if index == 0 { isAtEdge = !list.isEnded }
        if list.isEnded { return fetcher.state.change { $0.lanes[index].isEnded = true } }
        let before = list.parts.last?.sequence, now = MonotonicClock.shared.now()
        guard let fresh = load(number, fetcher) else {
            // Another one of the same, until the reader has waited for too long.
            lists[number] = list
            return fetcher.state.change { state in
                let hasWaited = state.waitsSince.map { now - $0 > fetcher.options.network.timeout } ?? false
                if hasWaited { (state.lanes[index].isEnded, state.lacksPart) = (true, state.lacksPart || !fetcher.lists.isText(index)) }
                state.reloadsAt[index] = now + .microseconds(list.targetDuration / 2)
            }
        }
        if fresh.parts.last?.sequence != before || fresh.isEnded { return }
        fetcher.state.change { $0.reloadsAt[index] = now + .microseconds(fresh.targetDuration / 2) }
    }

    /// The list cannot be had: another variant takes its place, or the lane has ended.
    private mutating func without(_ number: Int, _ index: Int, _ fetcher: PartFetcher) {
        if fetcher.options.cancellation.isCancelled { return }
        if index == 0, switching.lost(number) { return }
        fetcher.state.change { state in (state.lanes[index].isEnded, state.lacksPart) = (true, state.lacksPart || !fetcher.lists.isText(index)) }
    }

    // MARK: Parts

    private mutating func fetch(
        _ part: MediaPlaylist.Part, _ list: Int, _ index: Int, _ generation: Int, _ fetcher: PartFetcher, _ options: AssetReaderOptions
    ) {
        var head: [UInt8]? = []
        var decryption: PartDecryption?
        if let resource = part.head { head = resources.head(resource, part, fetcher, options) }
        if let key = part.key { decryption = resources.decryption(key, part.vector(key), fetcher, options) }
        if options.cancellation.isCancelled { return }
        let id = fetcher.state.change { state -> Int? in
            guard state.lanes[index].generation == generation else { return nil }
            return state.lanes[index].add(part, list: list, head: head ?? [])
        }
        guard let id else { return }
        // A part that cannot be understood is as good as none.
        guard head != nil, (decryption == nil) == (part.key == nil), !part.isGap else { return finish(id, index, .lost, !part.isGap, fetcher) }
        let outcome = transfer(part, id, index, decryption, fetcher, options)
        switch outcome {
        case .whole: finish(id, index, .whole, false, fetcher)
        case .missing: finish(id, index, .lost, false, fetcher)
        case .lost: finish(id, index, .lost, true, fetcher)
        case .givenUp: break
        }
    }

    private func finish(_ id: Int, _ index: Int, _ progress: PartLane.Part.Progress, _ isLoss: Bool, _ fetcher: PartFetcher) {
        fetcher.state.change { state in
            state.lanes[index].finish(id, progress)
            if isLoss, !fetcher.lists.isText(index) { state.lacksPart = true }
        }
    }

    /// 16 MiB: a hundred times the subtitles of a film.
    private static let largestText: Int64 = 16 << 20

    private enum Outcome { case whole, missing, lost, givenUp }

    private mutating func transfer(
        _ part: MediaPlaylist.Part, _ id: Int, _ index: Int, _ decryption: PartDecryption?, _ fetcher: PartFetcher, _ options: AssetReaderOptions
    ) -> Outcome {
        let began = MonotonicClock.shared.now()
        let (source, isMissing) = resources.connect(part.resource, fetcher, options)
        guard let source else { return options.cancellation.isCancelled ? takeBack(id, index, fetcher) : isMissing ? .missing : .lost }
        let begin = part.resource.range?.lowerBound ?? 0
        let total = part.resource.range.map { $0.upperBound - $0.lowerBound } ?? source.byteCount
        var count: Int64 = 0
        var prefix = part.head == nil ? PartPrefix() : nil
        var buffer = [UInt8](repeating: 0, count: 65_536)
        // The time until the server answers says nothing of how fast it sends; what has come with the answer says too much.
        let connected = MonotonicClock.shared.now()
        func elapsed() -> Int64 {
            let now = MonotonicClock.shared.now()
            return max((now - connected).nanoseconds, (now - began).nanoseconds / 2, 1000) / 1000
        }
        // Small parts say little of how fast the network is.
        defer { if !fetcher.lists.isText(index) { switching.received(Int(count), elapsed: elapsed()) } }
        while total.map({ count < $0 }) ?? true {
            let wanted = min(Int64(buffer.count), (total ?? .max) - count)
            let got = unsafe buffer.withUnsafeMutableBytes {
                unsafe source.read(into: UnsafeMutableRawBufferPointer(rebasing: $0[..<Int(wanted)]), at: begin + count)
            }
            if got == 0, total == nil { break }
            if got <= 0 { return options.cancellation.isCancelled ? takeBack(id, index, fetcher) : .lost }
            count += Int64(got)
            if fetcher.lists.isText(index), count > Self.largestText { return .lost }
            fetcher.options.progress?.add(got)
            var bytes = decryption?.update(buffer[..<got]) ?? Array(buffer[..<got])
            if prefix != nil { bytes = prefix!.update(bytes) }
            guard deliver(bytes, prefix?.timestamp, id, index, fetcher) else { return .givenUp }
            if index == 0, count < total ?? .max, givesUp(part, id, Int(count), total, elapsed(), fetcher) {
                count = 0
                return .givenUp
            }
        }
        var last = decryption?.finish() ?? []
        if prefix != nil { last = prefix!.update(last) + prefix!.finish() }
        return deliver(last, prefix?.timestamp, id, index, fetcher) ? .whole : .givenUp
    }

    private func deliver(_ bytes: [UInt8], _ timestamp: Int64?, _ id: Int, _ index: Int, _ fetcher: PartFetcher) -> Bool {
        fetcher.state.change { $0.lanes[index].append(bytes, timestamp: timestamp, to: id) }
    }

    /// What was fetched for a place where nobody reads any more.
    private func takeBack(_ id: Int, _ index: Int, _ fetcher: PartFetcher) -> Outcome {
        fetcher.state.change { state in state.lanes[index].takeBack(id) }
        return .givenUp
    }

    private mutating func givesUp(
        _ part: MediaPlaylist.Part, _ id: Int, _ count: Int, _ total: Int64?, _ elapsed: Int64, _ fetcher: PartFetcher
    ) -> Bool {
        let ahead = fetcher.state.withLock { state in state.lanes[0].canTakeBack(id) ? state.lanes[0].timeAhead : nil }
        guard let ahead, switching.givesUp(count, of: total.map { Int($0) }, elapsed: elapsed, duration: part.duration, ahead: ahead) else {
            return false
        }
        return fetcher.state.change { state in
            guard state.lanes[0].canTakeBack(id) else { return false }
            state.lanes[0].takeBack(id)
            return true
        }
    }
}
