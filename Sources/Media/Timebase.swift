internal import Synchronization

/// The clock of a film: media time that runs at a chosen rate over a host clock or over another timebase, and can be set,
/// stopped and reversed at any moment.
///
/// A player owns one; its display and its sound read it. The counterpart of Core Media's `CMTimebase`. A new
/// timebase stands at zero with rate 0.
///
/// Thread-safety: all of it. A reading copies a small value under a lock that writers hold no longer than that, then asks
/// the source's clock. Observers and timers are called without any lock held.
public final class Timebase: Sendable {
    enum Source {
        case clock(any HostClock)
        case timebase(Timebase)
    }

    struct State {
        var source: Source
        /// The line from the source's reading to this timebase's time. Over a timebase the "host" times are the parent's media nanoseconds.
        var line: TimebaseMapping
        /// The number of the last change, from one counter for the process: the highest in a chain of timebases identifies the chain's state.
        var stamp: UInt64
        var children: [WeakTimebase] = []
        var nextID: UInt64 = 0
        var observers: [(id: UInt64, body: @Sendable (TimebaseChange) -> Void)] = []
        var timers = TimebaseTimers()
    }

    struct WeakTimebase { weak var timebase: Timebase? }

    let state: Monitor<State>
    /// Held while the source is replaced and the parents' lists follow; never while anybody is called.
    private let replacing = Monitor(())

    /// A stopped timebase at zero over a clock.
    public convenience init(clock: any HostClock = MonotonicClock.shared) { self.init(.clock(clock)) }

    /// A stopped timebase at zero over another. It follows the other's jumps and stops, and multiplies its rate by its own.
    public convenience init(source: Timebase) {
        self.init(.timebase(source))
        source.adopt(self)
    }

    private init(_ source: Source) {
        let line = TimebaseMapping(hostAnchor: Self.reading(of: source), mediaAnchor: .zero, rate: 0)
        state = Monitor(State(source: source, line: line, stamp: Self.nextStamp()))
    }

    // MARK: Reading

    /// The media time now: in nanoseconds while running, exactly the time that was set while stopped.
    public var time: MediaTime {
        let (source, line) = snapshot()
        return line.mediaTime(at: Self.reading(of: source))
    }

    /// The media time at a moment of `CLOCK_MONOTONIC`, past or coming, if nothing is changed.
    public func time(at monotonic: HostTime) -> MediaTime { mapping.mediaTime(at: monotonic) }

    /// This timebase's own rate: media seconds in a second of its source; 0 is stopped, negative plays backwards.
    public var rate: Double { state.withLock { $0.line.rate } }

    /// The product of the rates from this timebase to its clock: 0 when any is stopped.
    public var effectiveRate: Double { root().line.rate }

    /// A snapshot of how media time follows from `CLOCK_MONOTONIC`.
    public var mapping: TimebaseMapping {
        let root = root()
        let relation = root.clock.relation
        var mapping = root.line
        if relation.rate == 1 || mapping.rate == 0 {
            mapping.hostAnchor = relation.toReference(mapping.hostAnchor)
        } else {
            // Anchored where the relation was measured, so that its rate is not extrapolated back to the start of play.
            mapping.mediaAnchor = mapping.mediaTime(at: relation.anchor)
            mapping.hostAnchor = relation.referenceAnchor
            mapping.rate /= relation.rate
        }
        return mapping
    }

    /// The clock that drives this timebase, through its source timebases if it has any.
    public var clock: any HostClock { root().clock }

    /// The timebase this one runs over; nil when it runs over a clock.
    public var sourceTimebase: Timebase? {
        if case .timebase(let parent) = snapshot().source { parent } else { nil }
    }

    // MARK: Changing

    /// Jumps to `time` and goes on at the same rate.
    public func setTime(_ time: MediaTime) {
        change { now, line in
            line.hostAnchor = now
            line.mediaAnchor = time
            return [.jump(to: time)]
        }
    }

    /// Goes on from the present time at another rate.
    public func setRate(_ rate: Double) {
        precondition(rate.isFinite, "a rate is a finite number")
        change { now, line in
            let old = line.rate
            guard rate != old else { return [] }
            line.mediaAnchor = line.mediaTime(at: now)
            line.hostAnchor = now
            line.rate = rate
            return [.rate(old: old, new: rate)]
        }
    }

    /// Sets rate and time together: media time is `time` when the source reads `hostTime` (its clock's reading; for a
    /// timebase over another, the other's media nanoseconds). The moment may lie ahead: until then media time runs up to it.
    public func setRate(_ rate: Double, time: MediaTime, atHostTime hostTime: HostTime) {
        precondition(rate.isFinite, "a rate is a finite number")
        change { now, line in
            let old = line.rate
            line = TimebaseMapping(hostAnchor: hostTime, mediaAnchor: time, rate: rate)
            return (rate == old ? [] : [.rate(old: old, new: rate)]) + [.jump(to: line.mediaTime(at: now))]
        }
    }

    /// Runs over another clock from here on, without a jump: the time at this moment is the same on both.
    public func setSource(_ clock: any HostClock) { replaceSource(.clock(clock)) }

    /// Runs over another timebase from here on, without a jump. The other must not itself run over this one.
    public func setSource(_ timebase: Timebase) {
        var ancestor: Timebase? = timebase
        while let one = ancestor {
            precondition(one !== self, "a timebase cannot run over itself")
            ancestor = one.sourceTimebase
        }
        replaceSource(.timebase(timebase))
    }

    // MARK: Inside

    private static let stamps = Atomic<UInt64>(1)
    private static func nextStamp() -> UInt64 { stamps.wrappingAdd(1, ordering: .relaxed).newValue }

    private func snapshot() -> (source: Source, line: TimebaseMapping) { state.withLock { ($0.source, $0.line) } }

    static func reading(of source: Source) -> HostTime {
        switch source {
        case .clock(let clock): clock.now()
        case .timebase(let parent): HostTime(nanoseconds: parent.time.nanoseconds() ?? 0)
        }
    }

    /// The driving clock, the line from its reading to this timebase's time, and the newest stamp on the way.
    func root() -> (clock: any HostClock, line: TimebaseMapping, stamp: UInt64) {
        let (source, line, stamp) = state.withLock { ($0.source, $0.line, $0.stamp) }
        switch source {
        case .clock(let clock): return (clock, line, stamp)
        case .timebase(let parent):
            let below = parent.root()
            let through = HostTime(nanoseconds: below.line.mediaAnchor.nanoseconds() ?? 0)
            let combined = TimebaseMapping(
                hostAnchor: below.line.hostAnchor, mediaAnchor: line.mediaTime(at: through), rate: line.rate * below.line.rate)
            return (below.clock, combined, max(stamp, below.stamp))
        }
    }

    /// Reads the source and computes the new line without the lock, then installs it. Starts again when another change came first.
    private func change(_ body: (_ now: HostTime, _ line: inout TimebaseMapping) -> [TimebaseChange]) {
        while true {
            let (source, before, stamp) = state.withLock { ($0.source, $0.line, $0.stamp) }
            var line = before
            let changes = body(Self.reading(of: source), &line)
            if changes.isEmpty { return }
            let committed = state.withLock { state in
                guard state.stamp == stamp else { return false }
                state.line = line
                state.stamp = Self.nextStamp()
                return true
            }
            if committed { return announce(changes) }
        }
    }

    private func replaceSource(_ new: Source) {
        while true {
            let (old, before, stamp) = state.withLock { ($0.source, $0.line, $0.stamp) }
            var line = before
            (line.hostAnchor, line.mediaAnchor) = Self.handover(from: old, to: new, line: before)
            let committed = replacing.withLock { _ in
                let committed = state.withLock { state in
                    guard state.stamp == stamp else { return false }
                    state.source = new
                    state.line = line
                    state.stamp = Self.nextStamp()
                    return true
                }
                if committed {
                    if case .timebase(let parent) = old { parent.disown(self) }
                    if case .timebase(let parent) = new { parent.adopt(self) }
                }
                return committed
            }
            if committed { return announce([.source]) }
        }
    }

    /// The new source's reading and the media time, both at one moment. The moment is carried from clock to clock by their
    /// relations, so that a pause between two readings does no harm. A manual clock has no relation to another clock.
    private static func handover(from old: Source, to new: Source, line: TimebaseMapping) -> (HostTime, MediaTime) {
        if case .clock(let from) = old, case .clock(let to) = new, !(from is ManualClock), !(to is ManualClock) {
            let reading = from.now()
            return (from.convert(reading, to: to), line.mediaTime(at: reading))
        }
        let media = line.mediaTime(at: reading(of: old))
        return (reading(of: new), media)
    }

    private func adopt(_ child: Timebase) {
        state.withLock { state in
            state.children.removeAll { $0.timebase == nil }
            state.children.append(WeakTimebase(timebase: child))
        }
    }

    private func disown(_ child: Timebase) {
        state.withLock { state in state.children.removeAll { $0.timebase == nil || $0.timebase === child } }
    }

    /// After a change: rearms the timers and calls the observers, then does the same for the timebases that run over this one.
    private func announce(_ changes: [TimebaseChange]) {
        rearmTimers()
        let (observers, children) = state.withLock { ($0.observers, $0.children) }
        for change in changes {
            for observer in observers { observer.body(change) }
        }
        for case let child? in children.map(\.timebase) {
            child.announce(
                changes.map { change in
                    if case .jump = change { .jump(to: child.time) } else { .source }
                })
        }
    }
}
