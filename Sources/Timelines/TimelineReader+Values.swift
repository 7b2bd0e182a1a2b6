internal import JSON
internal import Media

/// Times and ranges as time lines write them.
extension TimelineReader {
    func broken(_ words: String) -> TimelineError { TimelineError(words) }

    /// The type of a value, without its version.
    static func schema(_ tree: JSONValue?) -> String {
        let name = String(tree?.member("OTIO_SCHEMA")?.characters?.prefix { $0 != "." } ?? "")
        return formerNames[name] ?? name
    }

    /// What files of the first versions call them.
    private static let formerNames = ["Sequence": "Track", "Filler": "Gap"]

    /// An exact frame rate: 23.976 stands for 24000/1001.
    func rate(_ number: Double) throws(TimelineError) -> (numerator: Int32, denominator: Int32) {
        guard number.isFinite, number >= 0.001, number <= 1_000_000 else { throw broken("a rate of \(number) is not possible") }
        if number.rounded() == number { return (Int32(number), 1) }
        let thousands = (number * 1.001).rounded()
        if thousands >= 1, abs(thousands / 1.001 - number) < 0.001 { return (Int32(thousands) * 1000, 1001) }
        return (Int32((number * 1000).rounded()), 1000)
    }

    func time(_ tree: JSONValue?) throws(TimelineError) -> MediaTime? {
        guard let tree else { return nil }
        guard Self.schema(tree) == "RationalTime", let value = tree.member("value")?.amount, let number = tree.member("rate")?.amount else {
            throw broken("a time is no RationalTime with a value and a rate")
        }
        let rate = try rate(number)
        let time: MediaTime
        if let whole = Int64(exactly: value), whole.magnitude < 1 << 53 {
            time = MediaTime(value: whole, timescale: 1).multiplied(by: rate.denominator, over: rate.numerator)
        } else {
            time = MediaTime(seconds: value * Double(rate.denominator) / Double(rate.numerator))
        }
        guard time.isNumeric, time.magnitude.seconds < 1e9 else { throw broken("a time of \(value) at a rate of \(number) is not possible") }
        return time
    }

    func range(_ tree: JSONValue?) throws(TimelineError) -> MediaTimeRange? {
        guard let tree else { return nil }
        guard let start = try time(tree.member("start_time")), let duration = try time(tree.member("duration")) else {
            throw broken("a range has no start or no duration")
        }
        guard duration >= .zero, duration <= TimelineDescription.longest else { throw broken("a duration of \(duration) is not possible") }
        return MediaTimeRange(start: start, duration: duration)
    }
}
