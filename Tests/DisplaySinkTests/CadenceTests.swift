import DisplaySink
import Media
import SinkConformance
import TestSupport
import Testing

/// A minute of film of each usual rate on displays of each usual rate, without a clock of the world.
@Suite("A minute of film") struct CadenceTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var film, display: Ratio
        var testDescription: String { "\(film) on \(display)" }
        /// Refreshes a frame.
        var ideal: Double { display.doubleValue / film.doubleValue }
    }

    static let films = [
        Ratio(24000, 1001), Ratio(24, 1), Ratio(25, 1), Ratio(30000, 1001), Ratio(30, 1), Ratio(50, 1), Ratio(60000, 1001), Ratio(60, 1),
    ]
    static let displays = [
        Ratio(60, 1), Ratio(60000, 1001), Ratio(50, 1), Ratio(24, 1), Ratio(24000, 1001), Ratio(75, 1), Ratio(120, 1),
    ]
    static let cases = displays.flatMap { display in films.map { Case(film: $0, display: display) } }

    /// What the log says: the numbers shown, for how many refreshes each but the last, and the count of drops.
    private static func play(_ row: Case) throws -> (numbers: [Int], refreshes: [Int], drops: Int, count: Int) {
        let clock = ManualClock(HostTime(nanoseconds: 1_000_000_000)), timebase = Timebase(clock: clock), frames = TestFrames()
        let log = PresentationLog(), sink = HeadlessSink(refreshRate: row.display, clock: clock, probe: log)
        let queue = PresentationQueue(capacity: 8, timebase: timebase)
        try sink.start(queue) { _ in }
        let count = Int(60 * row.film.doubleValue)
        // A little after a refresh, where none of the films' times meets a border between two.
        timebase.setRate(1, time: .zero, atHostTime: clock.now() + HostSpan.seconds(6.3 / row.display.doubleValue))
        var next = 0
        while next < count || queue.count > 0 {
            while next < count, queue.count < 7 {
                let step = Int64(row.film.denominator)
                queue.enqueue(
                    try frames.frame(
                        next, at: MediaTime(value: Int64(next) * step, timescale: row.film.numerator),
                        duration: MediaTime(value: step, timescale: row.film.numerator)))
                next += 1
            }
            clock.advance(by: .milliseconds(20))
        }
        clock.advance(by: .milliseconds(200))
        sink.stop()
        #expect(frames.inUse == 0)
        let shown = log.lines.map { $0.split(separator: " ") }.filter { $0[1] == "show" }
        // One refresh is not worth a word.
        let refreshes = shown.dropFirst().map { words in words.last == "refreshes" ? Int(words[words.count - 2]) ?? 0 : 1 }
        return (shown.compactMap { Int($0[2]) }, refreshes, queue.statistics.droppedTotal, count)
    }

    @Test("repeats and drops are those that the two rates ask for, evenly spread", arguments: TestExtent.cases(cases, sanitizedStep: 9)) func minute(
        _ row: Case
    ) throws {
        let (numbers, all, drops, count) = try Self.play(row)
        // The first frame stands until the film begins.
        let refreshes = all.dropFirst()
        #expect(numbers == numbers.sorted() && Set(numbers).count == numbers.count)
        guard row.ideal > 0.9999 else {
            // A display slower than the film shows a frame at each refresh, and no more are dropped than there are refreshes too few.
            #expect(abs(numbers.count - Int(60 * row.display.doubleValue)) <= 2, "\(numbers.count) shown")
            #expect(drops == count - numbers.count)
            return
        }
        #expect(drops == 0 && numbers.count == count, "\(drops) dropped")
        let fewest = Int(row.ideal.rounded(.down)), most = Int(row.ideal.rounded(.up))
        #expect(refreshes.allSatisfy { (fewest...most).contains($0) }, "\(Set(refreshes)) refreshes instead of \(fewest) to \(most)")
        // Nowhere is the display more than one refresh ahead or behind.
        var seen = 0, worst = 0.0
        for (index, value) in refreshes.enumerated() {
            seen += value
            worst = max(worst, abs(Double(seen) - Double(index + 1) * row.ideal))
        }
        #expect(worst <= 1.2)
    }
}
