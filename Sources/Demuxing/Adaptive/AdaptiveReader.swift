internal import CAV
internal import Media
internal import SampleQueue
internal import Sandbox

/// Reads an HLS film that is offered in several variants, or a DASH film, and changes the variant between parts as the network becomes faster and
/// slower.
///
/// The parts are fetched ahead (`PartFetcher`). Those of one variant that follow each other are one stream for a demuxer; where another variant
/// begins, another demuxer goes on. Variants share one time line (RFC 8216, 6.2.4), so the frames of one follow those of the other by their times.
/// Sound with lists of its own is read beside the frames and goes on, and so are subtitles.
///
/// Thread-safety: as `AssetReader`.
final class AdaptiveReader: AssetReading, @unchecked Sendable {
    let location: String
    let tracks: [AssetTrack]
    let duration: MediaTime
    let preferredStart: MediaTime?
    let programDates: ProgramDateLine
    var containerName: String { fetcher.lists.manifest == nil ? "hls" : "dash" }
    var title: String? { nil }
    var metadata: [String: String] { [:] }
    var chapters: [AssetChapter] { [] }
    var isSeekable: Bool { duration.isNumeric }
    var offer: VariantOffer? {
        if variants.isEmpty { return nil }
        let chosen = fetcher.state.withLock { $0.variant }
        return VariantOffer(variants: variants, chosen: chosen)
    }
    var timeRange = MediaTimeRange(start: .zero, end: .positiveInfinity) { didSet { applyTimeRange() } }
    /// One sentence for the viewer when the film is not read in the process that was asked for.
    var notice: String? { lists.lazy.compactMap(\.notice).first }

    private let variants: [StreamVariant]
    private let fetcher: PartFetcher
    private let lists: [AdaptiveTrack]
    private let texts: [TextLane]
    private let cancellation: AssetCancellation
    private var line: AdaptiveTimeline
    private var selected: Set<Int>
    /// For each list, samples that have been read and not been handed out, in film time.
    private var ready: [ArraySlice<SampleBuffer>]
    private var hasEnded: [Bool]
    private var finishedTracks: Set<Int> = []
    private var showFrom = MediaTime.negativeInfinity
    private var lastEnd = MediaTime.negativeInfinity
    private var hasToldLoss = false
    private var pendingError: AssetError?

    /// Samples that are looked at for the beginning of each track, and for a sync sample behind a seek.
    private static let longestLook = 500

    /// Opens the film. Blocks. nil where it is none of those that can be read so.
    init?(_ location: String, _ bytes: AssetBytes, _ options: AssetReaderOptions, _ sandbox: SandboxOptions, decide: PartFetcher.Decide? = nil)
        throws(AssetError)
    {
        guard let (lists, switching, sounds, texts, duration) = bytes.adaptiveLists() else { return nil }
        self.location = location
        variants = bytes.offer?.variants ?? []
        preferredStart = bytes.preferredStart
        cancellation = options.cancellation
        fetcher = PartFetcher(lists, switching, options, decide: decide)
        programDates = lists.known[switching.current].map { $0.isEnded ? $0.dates : ProgramDateLine() } ?? ProgramDateLine()
        self.duration = duration.map { MediaTime(value: $0, timescale: 1_000_000) } ?? .indefinite
        fetcher.start()
        var tracks: [AssetTrack] = [], readers: [AdaptiveTrack] = []
        for lane in 0...sounds.count {
            let list = AdaptiveTrack(fetcher, lane: lane, firstID: tracks.count, location, options, sandbox)
            let isOpen: Bool
            do throws(AssetError) { isOpen = try list.open() } catch {
                fetcher.stop()
                if options.cancellation.isCancelled { throw error }
                return nil
            }
            guard isOpen else {
                fetcher.stop()
                return nil
            }
            tracks += list.tracks.map { lane > 0 ? $0.named(by: sounds[lane - 1]) : $0 }
            readers.append(list)
        }
        var lanes: [TextLane] = []
        for (index, text) in texts.enumerated() {
            lanes.append(TextLane(fetcher, lane: readers.count + index, id: tracks.count + index, text, duration: self.duration))
        }
        tracks += lanes.map(\.track)
        self.tracks = tracks
        self.lists = readers
        self.texts = lanes
        selected = AssetTrack.usual(tracks)
        line = AdaptiveTimeline(lanes: readers.count)
        ready = Array(repeating: [], count: readers.count)
        hasEnded = Array(repeating: false, count: readers.count)
    }

    deinit { fetcher.stop() }

    func cancel() { cancellation.cancel() }

    func select(_ trackIDs: Set<Int>) {
        let wanted = trackIDs.intersection(tracks.map(\.id))
        // Subtitles count from the beginning of the frames and the sound, also where these are not read.
        if !wanted.isEmpty, wanted.isSubset(of: texts.map(\.track.id)) {
            do { try findBeginning() } catch { pendingError = error }
        }
        selected = wanted
        for list in lists { list.select(selected) }
        fetcher.select(Set(lists.indices.filter(isRead) + wantedTexts.map(\.lane)))
        for index in ready.indices { ready[index] = ready[index].filter { selected.contains($0.trackID) }[...] }
    }

    private var wantedTexts: [TextLane] { texts.filter { selected.contains($0.track.id) } }

    /// Whether tracks of a list are selected.
    private func isRead(_ list: Int) -> Bool { lists[list].tracks.contains { selected.contains($0.id) } }

    // MARK: Samples

    func nextSample() throws(AssetError) -> SampleBuffer? {
        if let error = pendingError {
            pendingError = nil
            throw error
        }
        try findBeginning()
        while true {
            for index in lists.indices where ready[index].isEmpty && !hasEnded[index] && isRead(index) { try fill(index) }
            let next = lists.indices.filter { !ready[$0].isEmpty }.min { order(ready[$0].first!) < order(ready[$1].first!) }
            // Behind the last of the others there are none.
            let place = lists.indices.contains(where: isRead) ? next.map { order(ready[$0].first!) } ?? lastEnd : nil
            if let text = try nextText(until: place, isLast: next == nil) { return marked(text) }
            guard let next, let sample = ready[next].popFirst() else { break }
            if finishedTracks.contains(sample.trackID) { continue }
            if order(sample) >= timeRange.end {
                finishedTracks.insert(sample.trackID)
                if finishedTracks.isSuperset(of: selected.subtracting(texts.map(\.track.id))) { return nil }
                continue
            }
            let begin = sample.shownTime
            if begin.isNumeric { lastEnd = max(lastEnd, sample.duration.isNumeric ? begin + sample.duration : begin) }
            return marked(sample)
        }
        guard fetcher.state.withLock({ $0.lacksPart }), !hasToldLoss else { return nil }
        hasToldLoss = true
        throw AssetError.ending(location, at: lastEnd, of: duration, "a part of it did not come")
    }

    /// The next of the subtitles at `time` or before; nil: there is none.
    /// - Parameter time: nil where nothing else is read.
    private func nextText(until time: MediaTime?, isLast: Bool) throws(AssetError) -> SampleBuffer? {
        var first: (text: TextLane, begin: MediaTime)?
        for text in wantedTexts {
            guard let begin = try text.next(until: time, on: line, isLast: isLast), begin <= timeRange.end, begin < first?.begin ?? .positiveInfinity
            else { continue }
            first = (text, begin)
        }
        return first?.text.pop()
    }

    /// What samples of different lists follow each other by.
    private func order(_ sample: SampleBuffer) -> MediaTime {
        let time = sample.decodeTime.isNumeric ? sample.decodeTime : sample.presentationTime
        return time.isNumeric ? time : .negativeInfinity
    }

    /// Reads a sample of a list.
    private func fill(_ index: Int) throws(AssetError) {
        guard let sample = try lists[index].nextSample(), let part = lists[index].part else {
            hasEnded[index] = true
            return
        }
        let isVideo = tracks[sample.trackID].kind == .video
        ready[index].append(line.place(sample, lane: index, run: lists[index].runCount, part: part.part, isVideo: isVideo))
    }

    /// Reads until it is known when each track begins: the first of them is the film's beginning.
    private func findBeginning() throws(AssetError) {
        guard !line.hasBeginning else { return }
        for index in lists.indices where isRead(index) {
            let wanted = Set(lists[index].tracks.filter { selected.contains($0.id) && $0.kind != .subtitle }.map(\.id))
            while !hasEnded[index], ready[index].count < Self.longestLook, !wanted.isSubset(of: ready[index].map(\.trackID)) { try fill(index) }
        }
        line.begin(ready.joined().filter { tracks[$0.trackID].kind != .subtitle }.map { $0.shownTime }.filter(\.isNumeric).min() ?? .zero)
        for index in ready.indices { ready[index] = ArraySlice(ready[index].map { line.moved($0) }) }
    }

    private func marked(_ sample: SampleBuffer) -> SampleBuffer {
        let begin = sample.shownTime
        guard begin.isNumeric else { return sample }
        let end = sample.duration.isNumeric ? begin + sample.duration : begin
        guard (showFrom > .zero && end <= showFrom && begin < showFrom) || begin >= timeRange.end else { return sample }
        var sample = sample
        sample.flags.insert(.doNotDisplay)
        return sample
    }

    // MARK: Seeking

    func seek(to time: MediaTime) throws(AssetError) {
        let target = max(time, .zero)
        guard target.isNumeric, isSeekable else { throw AssetError.notSeekable(location) }
        try findBeginning()
        var place = Int64(min(target.seconds, 1e9) * 1e6)
        for _ in 0..<3 {
            fetcher.seek(to: place)
            restart()
            showFrom = target > .zero ? target : .negativeInfinity
            guard place > 0, let first = try firstSync(), first > target, let part = lists[0].part else { return }
            // Lists round the lengths of parts.
            place = max(part.part.start - 1, 0)
        }
    }

    private func restart() {
        for list in lists { list.restart() }
        for text in texts { text.restart() }
        for index in lists.indices { (ready[index], hasEnded[index]) = ([], false) }
        (finishedTracks, pendingError) = ([], nil)
        line.restart()
    }

    /// The time of the first sync sample of the frames; nil where there are none.
    private func firstSync() throws(AssetError) -> MediaTime? {
        guard isRead(0), tracks.contains(where: { $0.kind == .video && selected.contains($0.id) }) else { return nil }
        while !hasEnded[0], ready[0].count < Self.longestLook {
            if let last = ready[0].last, tracks[last.trackID].kind == .video, last.flags.contains(.sync) { return last.shownTime }
            try fill(0)
        }
        return nil
    }

    private func applyTimeRange() {
        guard timeRange.start > .zero else { return }
        do { try seek(to: timeRange.start) } catch { pendingError = error }
    }
}

extension AssetTrack {
    /// With what a list says of its sound.
    fileprivate func named(by rendition: MasterPlaylist.Rendition) -> AssetTrack {
        var track = self
        track.language = rendition.code ?? language
        track.title = rendition.title ?? title
        track.isDefault = rendition.isDefault
        return track
    }
}
