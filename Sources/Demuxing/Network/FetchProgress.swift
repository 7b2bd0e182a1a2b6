internal import Synchronization

/// How much of a film on a web server has come, for those who show it.
///
/// Thread-safety: all of it.
package final class FetchProgress: Sendable {
    private let fetched = Atomic<Int64>(0), ahead = Atomic<Int64>(0)

    package init() {}

    /// Bytes of the film that have come, those included that came twice; 0 for a film that is not on a web server.
    package var bytesFetched: Int64 { fetched.load(ordering: .relaxed) }
    /// Bytes that are in memory from where the film is being read, without a hole.
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

    func add(_ bytes: Int) { fetched.add(Int64(bytes), ordering: .relaxed) }
    func setAhead(_ bytes: Int64) { ahead.store(bytes, ordering: .relaxed) }
}
