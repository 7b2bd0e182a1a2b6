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
        /// Its number, greater than those of films before it; turns of a film have the same.
        package var film: Int

        package init(start: MediaTime, shift: MediaTime, film: Int = 0) { (self.start, self.shift, self.film) = (start, shift, film) }
    }

    /// Those that lie ahead, and the one before them; in order.
    package private(set) var joins: [Join] = []
    /// The film before the first of them.
    private var first = 0

    package init() {}

    /// The film `film` goes on elsewhere, at its own times.
    package mutating func restart(film: Int = 0) { (joins, first) = ([], film) }

    /// Another film follows. Forgets what was over at `now`.
    package mutating func append(_ join: Join, now: MediaTime) {
        joins.append(join)
        while joins.count > 1, joins[1].start <= now { joins.removeFirst() }
    }

    /// How many joins lie ahead of `now`.
    package func count(after now: MediaTime) -> Int { joins.count { $0.start > now } }

    /// How many turns of the film `film` lie ahead of `now`.
    package func turns(of film: Int, after now: MediaTime) -> Int {
        let begins = joins.indices.filter { joins[$0].film == film && joins[$0].start > now }
        // One that begins where another film ends is no further turn.
        return begins.count { $0 > 0 ? joins[$0 - 1].film == film : film == first }
    }

    /// The film that is on the line at `time`.
    package func film(at time: MediaTime) -> Int { joins.last { $0.start <= time }?.film ?? first }

    /// The own time of the film `film` at `time` on the line: its first moment where it has not begun there, and its last where another follows.
    package func filmTime(at time: MediaTime, of film: Int, turn: MediaTimeRange? = nil) -> MediaTime {
        guard time.isNumeric else { return time }
        var (part, own) = (FilmTimeline(), time)
        part.joins = joins.filter { $0.film == film }
        if let end = joins.first(where: { $0.film > film })?.start { own = min(own, end) }
        if film != first, let begin = part.joins.first?.start { own = max(own, begin) }
        return part.filmTime(at: own, turn: turn)
    }

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
