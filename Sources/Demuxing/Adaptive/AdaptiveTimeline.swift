internal import Media
internal import SampleQueue

/// Puts the times of an adaptive film's parts onto one line that begins at 0.
///
/// Variants count alike, so that a change of the variant moves nothing. Where the list says that the times jump, and where they do without that, the
/// parts behind it are moved so that they join on: by the same amount for frames and sound. What a variant repeats of what another one has
/// shown, because it cuts its parts elsewhere, is not shown again. A pure value.
struct AdaptiveTimeline: Sendable {
    private struct Lane: Sendable {
        var run = 0
        var shift = MediaTime.zero
        /// For each track, where what was read ends.
        var ends: [Int: MediaTime] = [:]
        /// For each track, where the run before ended; until its samples are behind that.
        var joints: [Int: MediaTime] = [:]
        /// Nothing has been read since the beginning or a seek.
        var isFresh = true
    }

    private var lanes: [Lane]
    private var beginning: MediaTime?
    /// What is added to the times behind each discontinuity, by its number.
    private var shifts: [Int64: MediaTime] = [:]
    private var firstPeriod: Int64?
    /// Where the first part lies on its list; nil: none has been placed.
    private var firstStart: MediaTime?

    /// Times that are farther from where they are expected have jumped.
    private static let jump = MediaTime(value: 10, timescale: 1)
    /// Times that a list says to jump, and that are nearer to where they join on, have not.
    private static let exact = MediaTime(value: 1, timescale: 10)

    init(lanes: Int) { self.lanes = Array(repeating: Lane(), count: lanes) }

    var hasBeginning: Bool { beginning != nil }

    /// The container's time of the film's beginning.
    mutating func begin(_ time: MediaTime) {
        beginning = time
        for index in lanes.indices {
            lanes[index].ends = lanes[index].ends.mapValues { $0 - time }
        }
    }

    /// Reading goes on elsewhere.
    mutating func restart() {
        for index in lanes.indices { lanes[index] = Lane(run: lanes[index].run) }
    }

    /// A sample in film time; before `begin` in the container's.
    ///
    /// - Parameters:
    ///   - run: changes with every demuxer.
    ///   - part: the first of the run.
    mutating func place(_ sample: SampleBuffer, lane: Int, run: Int, part: MediaPlaylist.Part, isVideo: Bool) -> SampleBuffer {
        let time = sample.shownTime
        let isFirst = lanes[lane].run != run
        firstStart = firstStart ?? MediaTime(value: part.start, timescale: 1_000_000)
        if isFirst, time.isNumeric {
            if !lanes[lane].isFresh { lanes[lane].joints = lanes[lane].ends }
            lanes[lane].shift = shift(of: time - (beginning ?? .zero), lanes[lane], sample.trackID, part)
            (lanes[lane].run, lanes[lane].isFresh) = (run, false)
        }
        var sample = sample.shifted(by: lanes[lane].shift - (beginning ?? .zero))
        let shown = sample.shownTime
        guard shown.isNumeric else { return sample }
        if let joint = lanes[lane].joints[sample.trackID] {
            let half = sample.duration.isNumeric ? sample.duration.multiplied(by: 1, over: 2) : .zero
            // Frames that are decoded later may be shown earlier.
            if shown + half < joint { sample.flags.insert(.doNotDisplay) } else if !isVideo { lanes[lane].joints[sample.trackID] = nil }
        }
        let end = sample.duration.isNumeric ? shown + sample.duration : shown
        lanes[lane].ends[sample.trackID] = max(lanes[lane].ends[sample.trackID] ?? end, end)
        return sample
    }

    /// What is added to the times of a run whose first sample is at `time`.
    private mutating func shift(of time: MediaTime, _ lane: Lane, _ track: Int, _ part: MediaPlaylist.Part) -> MediaTime {
        let period = part.discontinuity
        if beginning == nil || firstPeriod == nil {
            firstPeriod = firstPeriod ?? period
            if period == firstPeriod { return .zero }
        }
        let expected = lane.isFresh ? MediaTime(value: part.start, timescale: 1_000_000) : lane.ends[track] ?? lane.ends.values.max() ?? time
        let known = shifts[period] ?? (period == firstPeriod ? .zero : nil)
        if let known, abs(time + known, expected) <= Self.jump { return known }
        let isExact = known == nil && abs(time, expected) <= Self.exact
        let shift = isExact ? .zero : expected - time
        shifts[period] = shift
        return shift
    }

    /// The time in the film of a place on its list.
    func time(at place: Int64) -> MediaTime { MediaTime(value: place, timescale: 1_000_000) - (firstStart ?? .zero) }

    /// What is added to the times of a part's subtitles.
    ///
    /// Where the file says which time of the containers is which of its own, they move with the frames (RFC 8216, 3.5); else they count from the
    /// beginning of the film, or of the period.
    ///
    /// - Parameters:
    ///   - first: of its cues, in its own time.
    ///   - now: where the frames are, in a film that grows, whose lists forget where they began; nil: the list tells where the part is.
    ///   - countsPeriods: discontinuities are counted by where their periods begin, in microseconds.
    func shift(of map: WebVTTFile.Map?, first: MediaTime, _ part: MediaPlaylist.Part, now: MediaTime? = nil, countsPeriods: Bool) -> MediaTime {
        let plain = countsPeriods ? time(at: part.discontinuity) : .zero
        guard let map else { return plain }
        let start = now ?? time(at: part.start), length = MediaTime(value: part.duration, timescale: 1_000_000)
        let moved = MediaTime(value: map.timestamp, timescale: 90_000) - MediaTime(value: map.local, timescale: 1000)
        let shift = moved + (shifts[part.discontinuity] ?? .zero) - (beginning ?? .zero)
        // Their clock begins again after 26 hours.
        let turns = ((start - first - shift).seconds / Self.turn.seconds).rounded()
        let found = shift + Self.turn.multiplied(by: Int32(max(-1000, min(turns, 1000))), over: 1)
        return now != nil || abs(first + found, start) <= Self.jump + length ? found : plain
    }

    /// Of 33 bits.
    private static let turn = MediaTime(value: 1 << 33, timescale: 90_000)

    private func abs(_ a: MediaTime, _ b: MediaTime) -> MediaTime { a < b ? b - a : a - b }

    /// A sample that was placed before it was known where the film begins.
    func moved(_ sample: SampleBuffer) -> SampleBuffer { sample.shifted(by: .zero - (beginning ?? .zero)) }
}
