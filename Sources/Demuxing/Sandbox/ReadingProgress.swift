internal import Media
internal import SampleQueue

/// How far a film has been read, so that another demuxer process can go on with the next sample.
///
/// No container-independent value identifies a position in a film: times repeat or are missing, and byte offsets have no common meaning. The
/// place is therefore found by reading: from a little earlier, or from where reading began, until the samples handed out last come again.
///
/// A pure value.
struct ReadingProgress {
    /// What a sample is recognised by.
    struct Mark: Hashable {
        var trackID: Int
        var times: [MediaTime]
        var flags: SampleFlags
        var byteCount: Int
        /// Of some of the bytes.
        var checksum: UInt64
    }

    /// A way to the sample after the last one: where to begin, and what to pass over.
    struct Route: Hashable {
        /// Where to seek to; nil begins where the film begins.
        var start: MediaTime?
        /// Pass over exactly so many samples; nil passes over samples until the marks come.
        var count: Int?
        /// Samples after which the marks will not come any more.
        var limit: Int
    }

    private struct Checkpoint {
        var time: MediaTime
        var index: Int
    }

    /// The time of the last seek; nil for the film's beginning.
    private var origin: MediaTime?
    /// Samples handed out since.
    private var count = 0
    /// The same samples would come in the same order from `origin` on.
    private var isCountable = true
    /// The samples handed out last, oldest first.
    private var marks: [Mark] = []
    /// Samples that decoding can begin with, oldest first.
    private var checkpoints: [Checkpoint] = []

    /// So many samples in a row are not met a second time elsewhere in a film.
    static let markCount = 32
    /// Seeking begins so many samples before the last one at least: twice the marks, so that no frame that is shown before the checkpoint but
    /// decoded after it is still to come.
    static let distance = 64

    /// Reading goes on at `time`; nil at the film's beginning.
    mutating func begin(at time: MediaTime?) {
        self = ReadingProgress()
        origin = time
    }

    /// Other samples will follow than those that came from `origin` on so far.
    mutating func selectionChanged() {
        guard count > 0 else { return }
        (isCountable, marks, checkpoints) = (false, [], [])
    }

    /// - Parameter isEntry: Decoding can begin with the sample, and a seek to its time leads to it.
    mutating func note(_ mark: Mark, isEntry: Bool) {
        if isEntry, let time = mark.times.first, time.isNumeric, time > origin ?? .negativeInfinity {
            checkpoints.append(Checkpoint(time: time, index: count))
        }
        count += 1
        marks.append(mark)
        if marks.count > Self.markCount { marks.removeFirst() }
        while checkpoints.count > 1, checkpoints[1].index <= count - Self.distance { checkpoints.removeFirst() }
    }

    /// What to try, in this order.
    var routes: [Route] {
        var routes: [Route] = []
        if let near = checkpoints.first, near.index <= count - Self.distance, marks.count == Self.markCount {
            routes.append(Route(start: near.time, limit: 2 * (count - near.index) + Self.detour))
        }
        if isCountable { routes.append(Route(start: origin, count: count, limit: count)) }
        return routes
    }

    /// 10,000 samples, some forty seconds: how much earlier than asked for a seek may lead.
    private static let detour = 10_000

    /// Passes over samples until the last one comes again.
    struct Search {
        enum Outcome { case found, notYet, lost }

        private let route: Route
        private let marks: [Mark]
        private var last: [Mark] = []
        private var passed = 0

        fileprivate init(_ route: Route, _ marks: [Mark]) {
            self.route = route
            self.marks = marks
        }

        /// Nothing has to be passed over.
        var isOver: Bool { route.count == 0 }

        mutating func pass(_ mark: Mark) -> Outcome {
            passed += 1
            last.append(mark)
            if last.count > marks.count { last.removeFirst() }
            if route.count ?? passed == passed, last == marks { return .found }
            return passed < route.limit ? .notYet : .lost
        }
    }

    func search(_ route: Route) -> Search { Search(route, marks) }
}

extension ReadingProgress.Mark {
    init?(_ sample: SampleBuffer) {
        guard case .compressed(let block, _) = sample.content else { return nil }
        self.init(
            trackID: sample.trackID, times: [sample.presentationTime, sample.decodeTime, sample.duration], flags: sample.flags,
            byteCount: block.count, checksum: unsafe block.withUnsafeBytes { unsafe Self.checksum($0) })
    }

    /// FNV-1a of 64 bytes spread over the sample.
    private static func checksum(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        let step = max(bytes.count / 64, 1)
        return stride(from: 0, to: bytes.count, by: step).reduce(0xcbf2_9ce4_8422_2325) { sum, index in
            unsafe (sum ^ UInt64(bytes[index])) &* 0x0000_0100_0000_01b3
        }
    }
}
