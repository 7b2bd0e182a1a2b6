internal import Media

/// How fast bytes come: the mean of the last three seconds. A pure value.
struct FetchRate: Sendable {
    /// Bytes that came in a stretch of time, by its number.
    private var stretches: [(number: Int64, bytes: Int64)] = []
    private var begin: HostTime?

    /// 250 ms, of which twelve count.
    private static let stretch: Int64 = 250_000_000, counted: Int64 = 12

    /// So many bytes have come.
    mutating func add(_ bytes: Int, at time: HostTime) {
        begin = begin ?? time
        let number = time.nanoseconds / Self.stretch
        if stretches.last?.number == number {
            stretches[stretches.count - 1].bytes += Int64(bytes)
        } else {
            stretches.append((number, Int64(bytes)))
        }
        stretches.removeAll { $0.number <= number - Self.counted }
    }

    /// Bytes a second; 0 where none came for three seconds.
    func bytesPerSecond(at now: HostTime) -> Int64 {
        guard let begin else { return 0 }
        let number = now.nanoseconds / Self.stretch
        let bytes = stretches.reduce(Int64(0)) { $1.number > number - Self.counted ? $0 + $1.bytes : $0 }
        // What has just begun comes no faster than in one stretch.
        let span = min(max((now - begin).nanoseconds, Self.stretch), Self.counted * Self.stretch)
        return Int64(Double(bytes) / Double(span) * 1e9)
    }
}
