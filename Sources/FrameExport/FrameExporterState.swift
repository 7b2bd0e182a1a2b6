internal import Media
internal import SurfacePool

/// An exporter's frames and decisions, without lock or clock. No use ends in here, since ending one calls others.
struct FrameExporterState: ~Copyable, Sendable {
    /// What came of a look at the waiting frames.
    enum Advance: ~Copyable, Sendable {
        /// A later frame has taken this one's place; let it go and look again.
        case passed(VideoFrame)
        /// Nothing more is due. `next`: when to look again; nil: when something changes.
        case settled(next: HostTime?)
        /// A flush has begun another epoch since the clock was read: by its time then, the frames of another place in the film would be due.
        case outdated
    }

    enum Handout: Sendable, Equatable {
        case nothing
        case frame(isNew: Bool)
        /// The client holds all it may.
        case overBudget
    }

    private struct Hold: Sendable {
        var identity: SurfaceIdentity
        var handles: Int
    }

    let configuration: FrameExporterConfiguration
    private var waiting: Ring<VideoFrame>
    /// The newest due frame, which is handed out as long as no newer one is.
    private(set) var current: VideoFrame?
    /// How many frames were put in before it.
    private(set) var currentNumber: UInt64 = 0
    /// Which part of the film the frames belong to.
    private(set) var stream = ExportedStream()
    /// The seek that `current` follows.
    private(set) var currentSerial: UInt64 = 0
    /// `current` is the first frame since the start or a flush.
    private var isCurrentFirst = false
    /// The film without a clock stands still: what waits is withheld.
    private var hold: UntimedHold?
    /// When `current`, which has left the queue, begins and ends in media time; nil before the first frame since the start or a flush.
    private var reachedSpan: (time: MediaTime, end: MediaTime)?
    /// `current` has been handed out, or refused and counted.
    private var isCurrentSpent = false
    private var holds: [Hold] = []
    private(set) var statistics = FrameExporterStatistics()
    private(set) var epoch = 0
    private(set) var isCancelled = false
    private(set) var isEnding = false
    /// Grows with everything that may change an answer, so that waiters notice.
    private(set) var revision = 0

    init(_ configuration: FrameExporterConfiguration) {
        self.configuration = configuration
        waiting = Ring(capacity: configuration.bound)
        holds.reserveCapacity(configuration.budget * 2)
    }

    var isFull: Bool { waiting.isFull }
    var waitingCount: Int { waiting.count }
    /// Different frames in the client's hands.
    var heldCount: Int { holds.count }

    // MARK: The decoder's side

    /// Puts a frame at the end. Returns the one that it displaces.
    mutating func append(_ frame: consuming VideoFrame) -> VideoFrame? {
        statistics.offered += 1
        isEnding = false
        revision += 1
        var displaced: VideoFrame?
        if waiting.isFull {
            displaced = waiting.popFirst()
            statistics.late += 1
        }
        waiting.append(frame)
        return displaced
    }

    /// Takes out a waiting frame whose successor is due already: nobody will ask for it any more.
    mutating func popOutdated(at time: HostTime, _ mapping: TimebaseMapping) -> VideoFrame? {
        guard configuration.policy == .dropOldest, configuration.delivery == .whenDue, waiting.count > 1, isDue(1, at: time, mapping),
            !waiting[0].flags.contains(.displayImmediately)
        else { return nil }
        statistics.late += 1
        return waiting.popFirst()
    }

    mutating func markEndOfStream() {
        isEnding = true
        revision += 1
    }

    /// Takes everything that waits out, for the caller to end. The frame last handed out stays.
    mutating func flush() -> Ring<VideoFrame> {
        statistics.flushed += waiting.count
        var old = Ring<VideoFrame>(capacity: configuration.bound)
        swap(&old, &waiting)
        epoch += 1
        isEnding = false
        revision += 1
        hold?.steps = 0
        reachedSpan = nil
        return old
    }

    /// Changes what is known of the film's parts.
    mutating func changeStream<R>(_ body: (inout ExportedStream) -> R) -> R {
        revision += 1
        return body(&stream)
    }

    /// The film has stayed where it was: what is there follows the seek `serial` too.
    mutating func adopt(_ serial: UInt64) {
        if currentSerial == stream.serial { currentSerial = max(currentSerial, serial) }
        stream.serial = max(stream.serial, serial)
        revision += 1
    }

    /// None follows those that wait, and none waits.
    var isAtEnd: Bool { isEnding && waiting.isEmpty && !stream.isStale && !owesCurrent }

    /// The client gets every frame, and has not had this one because it holds too many.
    private var owesCurrent: Bool {
        configuration.policy == .makeDecoderWait && current != nil && !isCurrentSpent && currentSerial >= stream.awaited
    }

    mutating func setCancelled(_ isCancelled: Bool) {
        self.isCancelled = isCancelled
        revision += 1
    }

    mutating func timebaseChanged() { revision += 1 }

    mutating func takeCurrent() -> VideoFrame? { current.take() }

    // MARK: The client's side

    /// One step towards the frame for `time`: the newest that is due then, or, when every frame counts, the next one.
    ///
    /// - Parameters:
    ///   - mapping: The film's clock, read in `readingEpoch`.
    ///   - isPaced: Frames wait for their times.
    ///   - onlyOne: No frame takes the place of one that has not been handed out.
    ///   - keepsFirst: None takes the place of the first frame since the start or a flush that has not been handed out.
    mutating func advance(
        to time: HostTime, _ mapping: TimebaseMapping, in readingEpoch: Int, isPaced: Bool, onlyOne: Bool = false, keepsFirst: Bool = false
    ) -> Advance {
        guard readingEpoch == epoch else { return .outdated }
        guard !waiting.isEmpty, !isWithheld, !stream.isStale else { return .settled(next: nil) }
        let isKept = onlyOne || (keepsFirst && isCurrentFirst)
        if isKept, current != nil, !isCurrentSpent, currentSerial >= stream.awaited { return .settled(next: nil) }
        guard !isPaced || isDue(0, at: time, mapping) else {
            return .settled(next: waiting[0].presentationTime.isNumeric ? mapping.hostTime(of: waiting[0].presentationTime) : nil)
        }
        if current != nil, !isCurrentSpent { statistics.late += 1 }
        let old = current.take()
        let begin = waiting[0].presentationTime, duration = waiting[0].duration
        if begin.isNumeric { reachedSpan = (begin, duration.isNumeric ? begin + duration : begin) }
        isCurrentFirst = waiting[0].flags.contains(.displayImmediately)
        if !isCurrentFirst { hold?.takeStep() }
        currentSerial = stream.serial
        current = waiting.popFirst()
        currentNumber = UInt64(statistics.offered - waiting.count - 1)
        isCurrentSpent = false
        if let old { return .passed(old) }
        return onlyOne ? .settled(next: nil) : advance(to: time, mapping, in: epoch, isPaced: isPaced, keepsFirst: keepsFirst)
    }

    /// Whether `current` may be handed out, and counts the handle.
    ///
    /// - Parameter again: A frame that was handed out before counts as an answer.
    mutating func handOut(again: Bool) -> Handout {
        guard let identity = current?.surface.identity, again || !isCurrentSpent, currentSerial >= stream.awaited else { return .nothing }
        let isNew = !isCurrentSpent
        if let index = holds.firstIndex(where: { $0.identity == identity }) {
            holds[index].handles += 1
        } else if holds.count < configuration.budget {
            holds.append(Hold(identity: identity, handles: 1))
        } else {
            // Where every frame is delivered, this one waits until another has been given back.
            guard configuration.policy == .dropOldest else { return .nothing }
            isCurrentSpent = true
            if isNew { statistics.overBudget += 1 }
            return .overBudget
        }
        isCurrentSpent = true
        if isNew { statistics.delivered += 1 }
        return .frame(isNew: isNew)
    }

    mutating func endHold(_ identity: SurfaceIdentity) {
        guard let index = holds.firstIndex(where: { $0.identity == identity }) else { preconditionFailure("a hold ends once") }
        holds[index].handles -= 1
        if holds[index].handles == 0 { holds.remove(at: index) }
        revision += 1
    }

    mutating func countLateFence() { statistics.lateFences += 1 }

    mutating func countCopied(_ bytes: Int) { statistics.bytesCopied += bytes }

    /// A copy was delivered in place of a frame over the budget.
    mutating func countReplaced() {
        statistics.delivered += 1
        statistics.overBudget -= 1
    }

    /// When the first waiting frame lights up; nil when only a change makes it due.
    func nextTime(_ mapping: TimebaseMapping, isPaced: Bool) -> HostTime? {
        guard !waiting.isEmpty, !isWithheld, !stream.isStale else { return nil }
        guard isPaced, !isDue(0, at: .distantPast, mapping) else { return .distantPast }
        return mapping.hostTime(of: waiting[0].presentationTime)
    }

    // MARK: A film without a clock

    /// Withholds what waits, except frames that are shown at once.
    mutating func hold(at limit: MediaTime?) {
        hold = UntimedHold(limit: limit)
        revision += 1
    }

    /// Sets the next frame free for a client that gets every frame.
    mutating func step() {
        hold?.steps += 1
        revision += 1
    }

    /// The display has taken another frame.
    mutating func extendHold(to limit: MediaTime) {
        hold?.limit = limit
        revision += 1
    }

    mutating func endHold() {
        hold = nil
        revision += 1
    }

    var progress: FrameExporter.Progress {
        guard configuration.policy == .makeDecoderWait, !isCancelled else { return .irrelevant }
        return .at(reachedSpan.map { isEnding && waiting.isEmpty && isCurrentSpent ? $0.end : $0.time })
    }

    private var isWithheld: Bool {
        guard let hold, !waiting[0].flags.contains(.displayImmediately) else { return false }
        if configuration.policy == .makeDecoderWait { return hold.steps == 0 }
        guard let limit = hold.limit else { return true }
        return waiting[0].presentationTime.isNumeric && waiting[0].presentationTime > limit
    }

    private func isDue(_ index: Int, at time: HostTime, _ mapping: TimebaseMapping) -> Bool {
        if waiting[index].flags.contains(.displayImmediately) || !waiting[index].presentationTime.isNumeric { return true }
        guard mapping.isMoving else { return waiting[index].presentationTime <= mapping.mediaAnchor }
        return mapping.hostTime(of: waiting[index].presentationTime).map { $0 <= time } ?? true
    }
}
