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
    ///
    /// - Parameter turn: Where a turn begins and how long it lasts, if that is known: where the clock is ahead of what has been read, the turns that
    ///   are missing are taken to be of this length.
    package func filmTime(at time: MediaTime, turn: MediaTimeRange? = nil) -> MediaTime {
        guard time.isNumeric else { return time }
        let own = joins.last { $0.start <= time }.map { time - $0.shift } ?? time
        guard let turn, turn.duration > .zero, own >= turn.end, !joins.contains(where: { $0.start > time }) else { return own }
        let over = own - turn.start, turns = Int64((over.seconds / turn.duration.seconds).rounded(.down))
        let rest = over - turn.duration.multiplied(by: turns)
        return turn.start + max(rest, .zero)
    }
}
