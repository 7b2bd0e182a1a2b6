import Media
import Testing

@testable import SurfacePool

@Suite struct FenceDeadlineTests {
    @Test func `a fence that does not signal is reported once, when the patience is over`() {
        func moment(_ milliseconds: Int64) -> HostTime { HostTime(nanoseconds: 5_000_000_000 + milliseconds * 1_000_000) }
        func span(_ milliseconds: Int64) -> HostSpan { .milliseconds(milliseconds) }
        /// Looks at these moments, in milliseconds after the fence came, and what comes of each.
        let table: [(looks: [Int64], steps: [FenceDeadline.Step])] = [
            ([0], [.wait(until: moment(2000))]),
            ([0, 1, 1999], [.wait(until: moment(2000)), .wait(until: moment(2000)), .wait(until: moment(2000))]),
            ([2000], [.report(span(2000))]),
            ([100, 2001, 2002, 90_000], [.wait(until: moment(2000)), .report(span(2001)), .known, .known]),
            // The first look may come late: the thread was not given the processor.
            ([7300, 7300], [.report(span(7300)), .known]),
            // No clock goes backwards, but nothing comes of it if it does.
            ([-5, 2000], [.wait(until: moment(2000)), .report(span(2000))]),
        ]
        for row in table {
            var deadline = FenceDeadline(begin: moment(0))
            let steps = row.looks.map { deadline.look(at: moment($0), patience: .seconds(2)) }
            #expect(steps == row.steps, "\(row.looks)")
        }
        #expect(FenceDeadline.patience == .seconds(2))
    }
}
