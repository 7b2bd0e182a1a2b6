/// Which media time of a film is which date, as far as it is known.
///
/// Between two places that are known, time goes on as the film does: what lies between them was not cut out of it. Where a recording was
/// interrupted, the film's time goes on and the date jumps.
///
/// Thread-safety: a value.
public struct ProgramDateLine: Sendable, Hashable {
    private struct Place: Sendable, Hashable {
        /// Nanoseconds.
        var time: Int64, date: Int64
    }

    /// By their times.
    private var places: [Place] = []

    /// 5 ms: what is nearer to where it is expected says nothing new. Senders' reports scatter by so much.
    private static let tolerance: Int64 = 5_000_000
    /// A report every second for an hour; then the oldest are forgotten.
    private static let mostPlaces = 4096

    /// Creates a line on which nothing is known.
    public init() {}

    /// Whether nothing is known.
    public var isEmpty: Bool { places.isEmpty }

    /// The frame at `time` was made at `date`. Times that are not numeric say nothing.
    public mutating func note(_ date: ProgramDate, at time: MediaTime) {
        guard time.isNumeric, let time = time.nanoseconds() else { return }
        let place = Place(time: time, date: date.nanosecondsSince1970)
        // Most come in the order of their times.
        let isLast = places.last.map { $0.time <= time } ?? true
        let next = isLast ? places.count : places.firstIndex { $0.time > time } ?? places.count
        if next > 0 {
            let before = places[next - 1]
            if abs(Double(place.date) - Double(before.date) - (Double(time) - Double(before.time))) <= Double(Self.tolerance) { return }
            if before.time == time {
                places[next - 1] = place
                return
            }
        }
        places.insert(place, at: next)
        if places.count > Self.mostPlaces { places.removeFirst() }
    }

    /// The date of the frame at `time`; before the first known place as if the sender had gone on likewise. nil where nothing is known.
    public func date(at time: MediaTime) -> ProgramDate? {
        guard time.isNumeric, let time = time.nanoseconds(), let place = places.last(where: { $0.time <= time }) ?? places.first else { return nil }
        return ProgramDate(nanosecondsSince1970: place.date &+ (time &- place.time))
    }

    /// The time of the frame that was made at `date`; where none was, that of the next one. Before the first known place and behind the last one the
    /// film is taken to go on likewise. nil where nothing is known.
    public func time(of date: ProgramDate) -> MediaTime? {
        let date = date.nanosecondsSince1970
        guard let first = places.first else { return nil }
        guard let index = places.lastIndex(where: { $0.date <= date }) else {
            // A date between two recordings belongs to none.
            let next = places.min { $0.date < $1.date } ?? first
            return MediaTime(nanoseconds: next.time == first.time ? first.time &- (first.date &- date) : next.time)
        }
        let time = places[index].time &+ (date &- places[index].date)
        return MediaTime(nanoseconds: index + 1 < places.count ? min(time, places[index + 1].time) : time)
    }
}
