import Media
import SampleQueue
import Testing

@testable import Demuxing

/// Where another process goes on.
@Suite struct ReadingProgressTests {
    private static func mark(_ number: Int) -> ReadingProgress.Mark {
        .init(
            trackID: number % 2, times: [MediaTime(value: Int64(number), timescale: 25), .invalid, .invalid], flags: [], byteCount: number,
            checksum: UInt64(number))
    }

    /// A film whose every twentieth sample is one to begin with.
    private static func progress(_ count: Int, from origin: MediaTime? = nil) -> ReadingProgress {
        var progress = ReadingProgress()
        progress.begin(at: origin)
        for number in 0..<count { progress.note(mark(number), isEntry: number % 20 == 0) }
        return progress
    }

    private static func outcome(_ progress: ReadingProgress, _ route: ReadingProgress.Route, _ samples: some Sequence<Int>) -> (Int?, isLost: Bool) {
        var search = progress.search(route)
        for number in samples {
            switch search.pass(mark(number)) {
            case .found: return (number, false)
            case .lost: return (nil, true)
            case .notYet: continue
            }
        }
        return (nil, false)
    }

    @Test(
        arguments: [
            (0, nil, [(nil, 0)]), (10, nil, [(nil, 10)]), (63, nil, [(nil, 63)]), (64, nil, [(0, nil), (nil, 64)]),
            (100, nil, [(20, nil), (nil, 100)]), (1000, nil, [(920, nil), (nil, 1000)]), (1000, 400, [(920, nil), (400, 1000)]),
            (450, 400, [(400, 450)]),
        ] as [(Int, Int?, [(start: Int?, count: Int?)])])
    func `the way begins at a checkpoint at least 64 samples back, else where reading began`(
        _ count: Int, _ origin: Int?, _ expected: [(start: Int?, count: Int?)]
    ) {
        func time(_ number: Int?) -> MediaTime? { number.map { MediaTime(value: Int64($0), timescale: 25) } }
        let routes = Self.progress(count, from: time(origin)).routes
        #expect(routes.map(\.start) == expected.map { time($0.start) } && routes.map(\.count) == expected.map(\.count))
    }

    @Test func `samples are passed over until the last ones have come again`() {
        let progress = Self.progress(1000)
        let routes = progress.routes
        #expect(Self.outcome(progress, routes[0], 900...) == (999, false))
        #expect(Self.outcome(progress, routes[1], 0...) == (999, false))
        // Less was read than the marks: they have not all come.
        #expect(Self.outcome(progress, routes[0], 990...1200) == (nil, false))
        #expect(Self.outcome(progress, routes[0], 1000...) == (nil, true))
        // From the beginning, one sample is missing.
        #expect(Self.outcome(progress, routes[1], 1...) == (nil, true))
    }

    @Test func `after another choice of tracks only samples that came since are looked for`() {
        var progress = Self.progress(1000)
        progress.selectionChanged()
        #expect(progress.routes.isEmpty)
        for number in 1000..<1200 { progress.note(Self.mark(number), isEntry: number % 20 == 0) }
        #expect(progress.routes.map(\.count) == [nil])
        var fresh = ReadingProgress()
        fresh.selectionChanged()
        #expect(fresh.routes.map(\.count) == [0])
    }
}
