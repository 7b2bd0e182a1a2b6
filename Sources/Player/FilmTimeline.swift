package import Media

/// The times of films that follow each other without a gap, on one line: each film, and each turn of one that loops, lies where the one before
/// ends.
package struct FilmTimeline: Sendable {
    /// The beginning of a film on the line.
    package struct Join: Sendable, Hashable {
        /// Where it begins.
        package var start: MediaTime
        /// What was added to its times.
        package var shift: MediaTime

        package init(start: MediaTime, shift: MediaTime) { (self.start, self.shift) = (start, shift) }
    }

    /// Those that lie ahead, and the one before them; in order.
    package private(set) var joins: [Join] = []

    package init() {}

    /// The film goes on elsewhere, at its own times.
    package mutating func restart() { joins = [] }

    /// Another film follows. Forgets what was over at `now`.
    package mutating func append(_ join: Join, now: MediaTime) {
        joins.append(join)
        while joins.count > 1, joins[1].start <= now { joins.removeFirst() }
    }

    /// How many joins lie ahead of `now`.
    package func count(after now: MediaTime) -> Int { joins.count { $0.start > now } }

    /// The time of the film that is on the line at `time`.
    package func filmTime(at time: MediaTime) -> MediaTime {
        guard time.isNumeric, let join = joins.last(where: { $0.start <= time }) else { return time }
        return time - join.shift
    }
}
