internal import Media
internal import Synchronization

/// How much of a film on a web server has come, and what its viewer is to know of that, for those who show it.
///
/// Thread-safety: all of it.
package final class FetchProgress: Sendable {
    private let fetched = Atomic<Int64>(0), ahead = Atomic<Int64>(0)

    package init() {}

    /// Bytes of the film that have come, those included that came twice; 0 for a film that is not on a web server.
    package var bytesFetched: Int64 { fetched.load(ordering: .relaxed) }
    /// Bytes that are in memory or on disk from where the film is being read, without a hole.
    package var bytesAhead: Int64 { ahead.load(ordering: .relaxed) }

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

    func add(_ bytes: Int) { fetched.add(Int64(bytes), ordering: .relaxed) }
    func setAhead(_ bytes: Int64) { ahead.store(bytes, ordering: .relaxed) }
}
