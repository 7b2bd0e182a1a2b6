import Media
import Sandbox
import Testing

/// How many deaths are survived.
@Suite struct RestartPolicyTests {
    struct Row: Sendable {
        var limit: RestartLimit
        /// Seconds of each death, and whether another process may follow.
        var deaths: [(Double, Bool)]
    }

    @Test(arguments: [
        Row(limit: RestartLimit(count: 0), deaths: [(0, false), (100, false)]),
        Row(
            limit: RestartLimit(count: 2, window: .seconds(10)),
            deaths: [(0, true), (1, true), (2, false), (9.9, false), (10, true), (10.5, false), (11, true)]),
        Row(limit: RestartLimit(count: 1, window: .seconds(1)), deaths: [(5, true), (6, true), (7, true), (7.5, false), (8, true)]),
        Row(limit: RestartLimit(), deaths: [(0, true), (0, true), (0, true), (0, true), (0, true), (0, false), (11, true)]),
    ])
    func `a window survives so many deaths`(row: Row) {
        var policy = RestartPolicy(limit: row.limit)
        for (second, expected) in row.deaths {
            #expect(policy.mayRestart(afterDeathAt: HostTime(nanoseconds: 0) + .seconds(second)) == expected, "death at \(second) s")
        }
    }
}
