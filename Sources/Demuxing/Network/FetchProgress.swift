internal import Media
internal import Synchronization

/// What is here of a film on a web server, from where it is being read, without a hole.
package struct FetchedAhead: Sendable, Hashable {
    /// Bytes in memory or on disk.
    package var bytes: Int64 = 0
    /// The share of what is to be fetched ahead, 0 to 100; 100 also where all is here up to the film's end.
    package var percent = 0
    /// Seconds of film; nil where only its length tells.
    package var seconds: Double?

    package init(bytes: Int64 = 0, percent: Int = 0, seconds: Double? = nil) { (self.bytes, self.percent, self.seconds) = (bytes, percent, seconds) }
}

/// How much of a film on a web server has come, and what its viewer is to know of that, for those who show it.
///
/// Thread-safety: all of it.
package final class FetchProgress: Sendable {
    private struct State: Sendable {
        var ahead = FetchedAhead()
        var byteCount: Int64?
        var rate = FetchRate()
        /// The tenth that was told last.
        var told: Int?
        var onTenth: (@Sendable () -> Void)?
    }
    private let fetched = Atomic<Int64>(0), state = Monitor(State())

    package init() {}

    /// Bytes of the film that have come, those included that came twice; 0 for a film that is not on a web server.
    package var bytesFetched: Int64 { fetched.load(ordering: .relaxed) }
    /// What is here from where the film is being read.
    package var ahead: FetchedAhead { state.withLock { $0.ahead } }
    /// The length of a film of one file; nil where it is not known.
    package var byteCount: Int64? { state.withLock { $0.byteCount } }
    /// How fast it comes.
    package var bytesPerSecond: Int64 {
        let now = MonotonicClock.shared.now()
        return state.withLock { $0.rate.bytesPerSecond(at: now) }
    }

    /// `handler` is called whenever another tenth of what is to be fetched ahead is here, and at once where anything is; on whatever thread.
    package func onTenth(_ handler: @escaping @Sendable () -> Void) {
        let isKnown = state.withLock { state in
            state.onTenth = handler
            return state.told != nil
        }
        if isKnown { handler() }
    }

    private let chosen = Atomic(-1), changes = Atomic(0)

    /// The variant of an adaptive film that is being fetched, by its place in the list; nil for other films.
    package var variant: Int? { chosen.load(ordering: .relaxed) >= 0 ? chosen.load(ordering: .relaxed) : nil }
    /// How often it has changed.
    package var variantSwitches: Int { changes.load(ordering: .relaxed) }

    func setVariant(_ variant: Int, switches: Int) {
        chosen.store(variant, ordering: .relaxed)
        changes.store(switches, ordering: .relaxed)
    }

    private struct Notices {
        var waiting: [String] = []
        var handler: (@Sendable (String) -> Void)?
    }
    private let notices = Monitor(Notices())

    /// Sentences for the viewer go to `handler`, those of before at once; on whatever thread.
    package func follow(_ handler: @escaping @Sendable (String) -> Void) {
        let waiting = notices.withLock { notices in
            defer { notices = Notices(handler: handler) }
            return notices.waiting
        }
        for sentence in waiting { handler(sentence) }
    }

    func tell(_ sentence: String) {
        let handler = notices.withLock { notices in
            if notices.handler == nil { notices.waiting.append(sentence) }
            return notices.handler
        }
        handler?(sentence)
    }

    func add(_ bytes: Int) {
        fetched.add(Int64(bytes), ordering: .relaxed)
        let now = MonotonicClock.shared.now()
        state.withLock { $0.rate.add(bytes, at: now) }
    }

    func setByteCount(_ byteCount: Int64) { state.withLock { $0.byteCount = byteCount } }

    func setAhead(_ ahead: FetchedAhead) {
        let handler = state.withLock { state -> (@Sendable () -> Void)? in
            state.ahead = ahead
            if state.told == ahead.percent / 10 { return nil }
            state.told = ahead.percent / 10
            return state.onTenth
        }
        handler?()
    }
}
