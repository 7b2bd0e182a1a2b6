internal import Media
internal import SurfacePool

/// What the presentation queue knows and decides, without lock or clock.
struct PresentationQueueState: ~Copyable {
    var frames: Ring<VideoFrame>
    var scheduler = FrameScheduler()
    var statistics = PresentationStatistics()
    let pacing: Pacing

    private(set) var isCancelled = false
    /// No frame will follow until a flush.
    private(set) var isEnding = false
    private var hasReportedEnd = false
    /// The display is to be blanked.
    private var removesImage = false
    /// Frames to show out of turn, one for each step the viewer asked for.
    private var steps = 0
    /// The next frame handed out is the first since the start or a flush.
    private var isFirst = true
    /// When the last frame handed out has had its time, in media time.
    private var endOfLast = MediaTime.invalid
    /// Frames handed to the display whose feedback is awaited: sequence and ideal time.
    private var awaiting: [(sequence: UInt64, ideal: HostTime?)] = []

    init(capacity: Int, pacing: Pacing) {
        frames = Ring(capacity: capacity)
        self.pacing = pacing
        awaiting.reserveCapacity(16)
    }

    mutating func cancel() {
        isCancelled = true
        frames.removeAll()
    }

    mutating func end() { isEnding = true }

    mutating func step() { steps += 1 }

    /// Drops what waits; the number of frames dropped.
    mutating func flush(removeImage: Bool) {
        statistics.count(.flushed, frames.count)
        frames.removeAll()
        scheduler.reset()
        isEnding = false
        hasReportedEnd = false
        isFirst = true
        steps = 0
        endOfLast = .invalid
        if removeImage { removesImage = true }
    }

    mutating func next(for interval: DisplayInterval, mapping: TimebaseMapping) -> PresentationDecision {
        if removesImage {
            removesImage = false
            return .removeImage
        }
        if pacing == .untimed {
            return frames.isEmpty ? rest(mapping: mapping, at: interval.deadline) : take(mapping: mapping)
        }
        if steps > 0, !frames.isEmpty {
            steps -= 1
            return take(mapping: mapping)
        }
        let count = frames.count
        let decision = scheduler.decide(
            count: count,
            candidate: { index in
                FrameScheduler.Candidate(
                    presentationTime: frames[index].presentationTime, duration: frames[index].duration,
                    isImmediate: frames[index].flags.contains(.displayImmediately))
            },
            mapping: mapping, interval: interval)
        switch decision {
        case .keep(let until): return count == 0 ? rest(mapping: mapping, at: interval.deadline) : .keep(until: until)
        case .show(let late):
            for _ in 0..<late { _ = frames.popFirst() }
            statistics.count(.late, late)
            return take(mapping: mapping)
        }
    }

    /// Nothing waits: is the film over?
    private mutating func rest(mapping: TimebaseMapping, at now: HostTime) -> PresentationDecision {
        guard isEnding, !hasReportedEnd else { return .keep(until: nil) }
        if pacing == .display, endOfLast.isNumeric {
            guard let end = mapping.hostTime(of: endOfLast) else { return .keep(until: nil) }
            if end > now { return .keep(until: end) }
        }
        hasReportedEnd = true
        return .finished
    }

    private mutating func take(mapping: TimebaseMapping) -> PresentationDecision {
        guard let frame = frames.popFirst() else { return .keep(until: nil) }
        let first = isFirst
        isFirst = false
        endOfLast = frame.duration.isNumeric ? frame.presentationTime + frame.duration : frame.presentationTime
        let isPaced = pacing == .display && !frame.flags.contains(.displayImmediately) && mapping.isMoving
        if awaiting.count == 16 { awaiting.removeFirst() }
        awaiting.append((frame.sequence, isPaced && frame.presentationTime.isNumeric ? mapping.hostTime(of: frame.presentationTime) : nil))
        return .show(frame, isFirst: first)
    }

    /// The display says when a frame lit up.
    mutating func presented(_ sequence: UInt64, at time: HostTime) {
        statistics.presented()
        guard let index = awaiting.firstIndex(where: { $0.sequence == sequence }) else { return }
        let ideal = awaiting.remove(at: index).ideal
        if let ideal { statistics.record(error: time - ideal) }
    }

    /// The display says that a frame never lit up.
    mutating func discarded(_ sequence: UInt64) {
        awaiting.removeAll { $0.sequence == sequence }
        statistics.count(.late, 1)
    }
}
