import Media
import SampleQueue
import TestSupport
import Testing

@testable import Demuxing

@Suite struct TimelineTests {
    private static let broadcast = Ratio(1, 90_000)

    private func track(
        _ timeBase: Ratio = broadcast, isVideo: Bool = true, rate: Ratio = .unknown, depth: Int32 = 0, start: Int64? = nil, wrapBits: Int32 = 64
    ) -> Timeline.Track {
        Timeline.Track(
            timeBase: timeBase, isVideo: isVideo,
            estimator: TimestampEstimator(timeBase: timeBase, frameRate: rate, averageFrameRate: rate, reorderDepth: depth), start: start,
            wrapBits: wrapBits)
    }

    private func places(_ timeline: inout Timeline, _ stamps: [Int64?], duration: Int64 = 3600, track: Int = 0) -> [Int64?] {
        stamps.map { timeline.place(Timeline.Times(presentation: nil, decode: $0), duration: duration, track: track).decode }
    }

    @Test(arguments: [(0 as Int32, 0 as Int64), (1, -3600), (2, -7200)])
    func `a stream without times counts durations, early enough for its reordering`(depth: Int32, first: Int64) {
        var timeline = Timeline(tracks: [track(rate: Ratio(25, 1), depth: depth)], start: nil, mayJump: false)
        #expect(places(&timeline, [nil, nil, nil]) == [first, first + 3600, first + 7200])
    }

    @Test func `a known time corrects the count`() {
        var timeline = Timeline(tracks: [track(rate: Ratio(25, 1))], start: nil, mayJump: false)
        #expect(places(&timeline, [nil, nil, 9000, nil, nil]) == [0, 3600, 9000, 12600, 16200])
    }

    @Test func `without a duration the rate counts`() {
        var timeline = Timeline(tracks: [track(rate: Ratio(30, 1))], start: nil, mayJump: false)
        #expect(places(&timeline, [nil, nil, nil], duration: 0) == [0, 3000, 6000])
    }

    @Test func `the start of the film is taken away, in each track's own units`() {
        var timeline = Timeline(tracks: [track(), track(Ratio(1, 48_000), isVideo: false)], start: 2_000_000, mayJump: false)
        #expect(places(&timeline, [183_600]) == [3600])
        let sound = timeline.place(Timeline.Times(presentation: 96_000, decode: 96_000), duration: 1024, track: 1)
        #expect(sound == Timeline.Times(presentation: 0, decode: 0))
    }

    @Test(arguments: [([0], 0), ([0, 1], 45_000), ([1], 45_000)] as [(Set<Int>, Int64)])
    func `a broadcast begins with the first track that is read`(chosen: Set<Int>, first: Int64) {
        var timeline = Timeline(
            tracks: [track(start: 225_000, wrapBits: 33), track(isVideo: false, start: 180_000, wrapBits: 33)], start: 2_000_000, mayJump: true)
        timeline.select(chosen)
        #expect(places(&timeline, [225_000]) == [first])
    }

    @Test func `a jump forwards or backwards joins on, in all tracks at once`() {
        var timeline = Timeline(tracks: [track(), track(isVideo: false)], start: 0, mayJump: true)
        #expect(places(&timeline, [0, 3600, 7200, 9_000_000, 9_003_600]) == [0, 3600, 7200, 10800, 14400])
        let sound = timeline.place(Timeline.Times(presentation: 9_000_000, decode: 9_000_000), duration: 1000, track: 1)
        #expect(sound.presentation == 10800)
        #expect(places(&timeline, [100_000]) == [18000])
    }

    @Test func `a container that does not jump is believed`() {
        var timeline = Timeline(tracks: [track()], start: 0, mayJump: false)
        #expect(places(&timeline, [0, 9_000_000, 3600]) == [0, 9_000_000, 3600])
    }

    @Test func `a jump to where the film is not is not believed, and one inside the film is`() {
        // A film of 60 s, in units of 1/90000 s: 9,000,000 are 100 s, 4,500,000 are 50 s.
        let rows: [([Int64?], [Int64?])] = [
            ([0, 9_000_000, 7200], [0, 3600, 7200]), ([0, 9_000_000, 9_003_600], [0, 3600, 7200]), ([0, -9_000_000, 7200], [0, 3600, 7200]),
            ([9_000_000, 3600], [0, 3600]), ([0, 4_500_000, 7200], [0, 4_500_000, 7200]), ([0, 5_500_000], [0, 5_500_000]),
        ]
        for (stamps, expected) in rows {
            var timeline = Timeline(tracks: [track(rate: Ratio(25, 1))], start: 0, mayJump: false, length: 60_000_000)
            #expect(places(&timeline, stamps) == expected, "\(stamps)")
        }
    }

    @Test func `a film longer than its container says goes on, as long as its times do`() {
        var timeline = Timeline(tracks: [track(rate: Ratio(25, 1))], start: 0, mayJump: false, length: 1_000_000)
        let stamps = (0..<1000).map { Int64($0) * 3600 }
        #expect(places(&timeline, stamps) == stamps)
    }

    @Test func `after a seek the first time is believed, and a presentation time alone is checked, too`() {
        var timeline = Timeline(tracks: [track(rate: Ratio(25, 1))], start: 0, mayJump: false, length: 60_000_000)
        timeline.restart(toBeginning: false)
        #expect(places(&timeline, [4_500_000]) == [4_500_000])
        let damaged = timeline.place(Timeline.Times(presentation: 90_000_000, decode: nil), duration: 3600, track: 0)
        #expect(damaged.presentation == nil)
    }

    @Test func `no sample lasts longer than the film`() {
        let timeline = Timeline(tracks: [track()], start: 0, mayJump: false, length: 60_000_000)
        #expect(timeline.credible(3600, track: 0) == 3600 && timeline.credible(90_000_000, track: 0) == 0 && timeline.credible(-1, track: 0) == 0)
    }

    @Test func `times that wrapped before the start are brought back`() {
        let top: Int64 = 1 << 33
        var timeline = Timeline(tracks: [track(start: 0, wrapBits: 33)], start: 0, mayJump: true)
        #expect(places(&timeline, [top - 3600, 0, 3600]) == [-3600, 0, 3600])
    }

    @Test func `after a restart elsewhere the next known time counts`() {
        var timeline = Timeline(tracks: [track(rate: Ratio(25, 1))], start: 0, mayJump: true)
        _ = places(&timeline, [0, 3600])
        timeline.restart(toBeginning: false)
        #expect(places(&timeline, [nil, 9_000_000, nil]) == [nil, 9_000_000, 9_003_600])
        timeline.restart(toBeginning: true)
        #expect(places(&timeline, [nil, nil]) == [0, 3600])
    }

    @Test(arguments: 1...30 as ClosedRange<UInt64>)
    func `numbers of any size do no harm`(seed: UInt64) {
        var dice = Dice(seed: seed)
        let edges: [Int64] = [.min, .min + 1, .max, .max - 1, 0, -1, 1 << 33, 1 << 62]
        func number() -> Int64 { Bool.random(using: &dice) ? edges.randomElement(using: &dice)! : Int64.random(in: .min ... .max, using: &dice) }
        let tracks = (0..<3).map { _ in
            track(
                Ratio(Int32.random(in: 1 ... .max, using: &dice), Int32.random(in: 1 ... .max, using: &dice)), isVideo: Bool.random(using: &dice),
                rate: Ratio(Int32.random(in: 0 ... .max, using: &dice), Int32.random(in: 0...2, using: &dice)),
                depth: Int32.random(in: .min ... .max, using: &dice), start: number(), wrapBits: Int32.random(in: 0...64, using: &dice))
        }
        var timeline = Timeline(
            tracks: tracks, start: number(), mayJump: Bool.random(using: &dice), length: Bool.random(using: &dice) ? nil : number())
        timeline.select([0, 2])
        for _ in 0..<300 {
            _ = timeline.place(
                Timeline.Times(presentation: Bool.random(using: &dice) ? number() : nil, decode: Bool.random(using: &dice) ? number() : nil),
                duration: max(0, number()), track: Int.random(in: 0..<3, using: &dice))
        }
    }
}
