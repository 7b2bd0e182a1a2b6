import Media
import SurfacePool
import TestSupport
import Testing

@testable import DisplaySink

private let origin = HostTime(nanoseconds: 1_000_000_000_000)

/// A display and a film, both as numbers: which frame is on the glass at each refresh.
private struct Simulation {
    var scheduler = FrameScheduler()
    var frames: [FrameScheduler.Candidate]
    var mapping = TimebaseMapping(hostAnchor: origin, mediaAnchor: .zero, rate: 1)
    /// Nanoseconds.
    var period: Double
    var refresh = 0
    var dropped: [DropReason] = []
    var shown: [(frame: Int, refresh: Int)] = []
    private var next = 0
    /// Frames that the decoder has delivered at a time of the host; all of them, unless a test says otherwise.
    var delivered: (HostTime) -> Int = { _ in .max }
    /// How far each refresh's time is told wrongly.
    var refreshJitter: (Int) -> Double = { _ in 0 }

    init(_ frames: [FrameScheduler.Candidate], hertz: Double) {
        self.frames = frames
        period = 1e9 / hertz
    }

    mutating func run(refreshes: Int) {
        for _ in 0..<refreshes { step() }
    }

    mutating func step() {
        let time = Double(refresh) * period + refreshJitter(refresh)
        let interval = DisplayInterval(
            deadline: origin + HostSpan(nanoseconds: Int64(time)), nextDeadline: origin + HostSpan(nanoseconds: Int64(time + period)),
            period: HostSpan(nanoseconds: Int64(period.rounded())))
        defer { refresh += 1 }
        while true {
            let first = next
            // A queue of four, as the player's.
            let count = max(min(min(frames.count, delivered(interval.deadline)) - first, 4), 0)
            let isEnding = first + count == frames.count
            switch scheduler.decide(count: count, isEnding: isEnding, mapping: mapping, interval: interval, candidate: { frames[first + $0] }) {
            case .drop(let reason):
                dropped.append(reason)
                next += 1
            case .show:
                shown.append((next, refresh))
                next += 1
                return
            case .keep: return
            }
        }
    }

    /// For how many refreshes each frame but the last was seen.
    var rhythm: [Int] { zip(shown, shown.dropFirst()).map { $1.refresh - $0.refresh } }
}

/// `count` frames at a rate of `numerator / denominator` a second.
private func film(_ numerator: Int32, _ denominator: Int32 = 1, count: Int, from start: MediaTime = .zero) -> [FrameScheduler.Candidate] {
    let duration = MediaTime(value: Int64(denominator), timescale: numerator)
    return (0..<count).map { FrameScheduler.Candidate(presentationTime: start + duration.multiplied(by: Int64($0)), duration: duration) }
}

/// A repeatable source of jitter.
@Suite("FrameScheduler")
struct FrameSchedulerTests {
    // MARK: Cadence

    struct Cadence: Sendable, CustomTestStringConvertible {
        var rate: (Int32, Int32)
        var hertz: Double
        /// How many refreshes the frames are seen for, over and over, from some place of the cycle on.
        var cycle: [Int]
        var testDescription: String { "\(rate.0)/\(rate.1) on \(hertz)" }
    }

    static let cadences = [
        Cadence(rate: (24, 1), hertz: 60, cycle: [3, 2]),
        Cadence(rate: (25, 1), hertz: 60, cycle: [2, 3, 2, 3, 2]),
        Cadence(rate: (30, 1), hertz: 60, cycle: [2]),
        Cadence(rate: (50, 1), hertz: 60, cycle: [1, 1, 1, 1, 2]),
        Cadence(rate: (60, 1), hertz: 60, cycle: [1]),
        Cadence(rate: (24000, 1001), hertz: 60000 / 1001, cycle: [3, 2]),
        Cadence(rate: (24, 1), hertz: 24, cycle: [1]),
        Cadence(rate: (25, 1), hertz: 50, cycle: [2]),
        Cadence(rate: (24, 1), hertz: 144, cycle: [6]),
        Cadence(rate: (30, 1), hertz: 144, cycle: [5, 5, 5, 4, 5]),
    ]

    @Test("each film rate has its rhythm on each display, wherever its times fall between the refreshes", arguments: cadences)
    func cadence(_ row: Cadence) throws {
        for phase in stride(from: 0.0, to: 1, by: 0.125) {
            var simulation = Simulation(film(row.rate.0, row.rate.1, count: 200), hertz: row.hertz)
            simulation.mapping.hostAnchor = origin + HostSpan(nanoseconds: Int64(simulation.period * phase))
            simulation.run(refreshes: 180 * row.cycle.reduce(0, +) / row.cycle.count)
            let rhythm = Array(simulation.rhythm.dropFirst(20))
            #expect(simulation.dropped.isEmpty)
            #expect(repeats(rhythm, row.cycle), "phase \(phase): \(rhythm.prefix(12))")
        }
    }

    @Test("times that jitter around the border between two refreshes do not break the rhythm", arguments: cadences.prefix(8))
    func jitter(_ row: Cadence) throws {
        for phase in stride(from: 0.0, to: 1, by: 0.125) {
            var dice = Dice(seed: 7)
            // 60 µs either way: a display's own time stamps; frame times rounded to microseconds.
            let jitters = (0..<2000).map { _ in Double.random(in: -60_000...60_000, using: &dice) }
            var simulation = Simulation(film(row.rate.0, row.rate.1, count: 400), hertz: row.hertz)
            simulation.refreshJitter = { jitters[$0] }
            simulation.mapping.hostAnchor = origin + HostSpan(nanoseconds: Int64(simulation.period * phase))
            simulation.run(refreshes: 380 * row.cycle.reduce(0, +) / row.cycle.count)
            let rhythm = Array(simulation.rhythm.dropFirst(40))
            #expect(simulation.dropped.isEmpty)
            #expect(repeats(rhythm, row.cycle), "phase \(phase): \(rhythm.prefix(24))")
        }
    }

    @Test("a film that drifts against the display changes its rhythm once at a time, not back and forth")
    func drift() throws {
        // 23.976 on 60 Hz: the places move through a refresh in 400 frames, so they meet a border every 200.
        var dice = Dice(seed: 3)
        let jitters = (0..<20_000).map { _ in Double.random(in: -100_000...100_000, using: &dice) }
        var simulation = Simulation(film(24000, 1001, count: 4000), hertz: 60)
        simulation.refreshJitter = { jitters[$0] }
        simulation.run(refreshes: 9900)
        let rhythm = simulation.rhythm.dropFirst(40)
        let breaks = zip(rhythm, rhythm.dropFirst()).count { $0 == $1 }
        #expect(simulation.dropped.isEmpty)
        #expect(breaks >= 15 && breaks <= 25, "\(breaks) breaks")
    }

    @Test("times in whole milliseconds, as Matroska has them, keep the rhythm")
    func milliseconds() {
        let frames = (0..<400).map { index in
            FrameScheduler.Candidate(
                presentationTime: MediaTime(value: Int64((Double(index) * 1000 / 24).rounded()), timescale: 1000),
                duration: MediaTime(value: 41, timescale: 1000))
        }
        for phase in stride(from: 0.0, to: 1, by: 0.125) {
            var simulation = Simulation(frames, hertz: 60)
            simulation.mapping.hostAnchor = origin + HostSpan(nanoseconds: Int64(simulation.period * phase))
            simulation.run(refreshes: 950)
            #expect(repeats(Array(simulation.rhythm.dropFirst(40)), [3, 2]), "phase \(phase)")
        }
    }

    @Test("a display slower than the film shows every other frame, evenly")
    func slowDisplay() {
        for phase in stride(from: 0.0, to: 1, by: 0.125) {
            var simulation = Simulation(film(60, count: 400), hertz: 30)
            simulation.mapping.hostAnchor = origin + HostSpan(nanoseconds: Int64(simulation.period * phase))
            simulation.run(refreshes: 190)
            #expect(simulation.rhythm.dropFirst(4).allSatisfy { $0 == 1 })
            let steps = zip(simulation.shown, simulation.shown.dropFirst()).map { $1.frame - $0.frame }.dropFirst(20)
            #expect(steps.allSatisfy { $0 == 2 }, "phase \(phase): \(steps.prefix(10))")
            #expect(simulation.dropped.allSatisfy { $0 == .late })
        }
    }

    @Test("at another speed the rhythm follows", arguments: [(2.0, [1, 1, 1, 1, 2]), (0.5, [5, 5, 4, 5, 5])])
    func speed(_ rate: Double, _ cycle: [Int]) {
        var simulation = Simulation(film(25, count: 400), hertz: 60)
        simulation.mapping.rate = rate
        simulation.run(refreshes: 400)
        #expect(repeats(Array(simulation.rhythm.dropFirst(20)), cycle))
    }

    @Test("played backwards, each frame is seen while the film is inside it")
    func backwards() {
        var simulation = Simulation(film(30, count: 100).reversed(), hertz: 60)
        simulation.mapping = TimebaseMapping(hostAnchor: origin, mediaAnchor: MediaTime(value: 100, timescale: 30), rate: -1)
        simulation.run(refreshes: 190)
        #expect(simulation.dropped.isEmpty)
        #expect(simulation.shown.first?.refresh == 0)
        #expect(simulation.rhythm.allSatisfy { $0 == 2 })
    }

    // MARK: Single decisions

    struct Situation: Sendable, CustomTestStringConvertible {
        var testDescription: String
        /// Frame times in milliseconds of 40 ms frames, nil for a frame without a time; the first letter of each says more:
        var frames: [FrameScheduler.Candidate]
        var rate = 1.0
        /// The refresh, milliseconds after the moment at which the film is at zero; the film stands at this time at rate 0.
        var refresh: Int64
        /// What has been shown before: its time and its refresh, milliseconds.
        var before: (time: Int64, refresh: Int64)?
        var isEnding = false
        var hasRoom = true
        var period: HostSpan? = .microseconds(16_667)
        var decisions: [FrameScheduler.Decision]
    }

    private static func frame(_ milliseconds: Int64?, duration: Int64? = 40, immediate: Bool = false) -> FrameScheduler.Candidate {
        FrameScheduler.Candidate(
            presentationTime: milliseconds.map { MediaTime(value: $0, timescale: 1000) } ?? .invalid,
            duration: duration.map { MediaTime(value: $0, timescale: 1000) } ?? .invalid, isImmediate: immediate)
    }

    private static func at(_ microseconds: Int64) -> HostTime { origin + .microseconds(microseconds) }

    static let situations = [
        Situation(testDescription: "nothing waits", frames: [], refresh: 0, decisions: [.keep(until: nil)]),
        Situation(
            testDescription: "a frame waits for the refresh nearest to its time", frames: [frame(100)], refresh: 50, before: (60, 40),
            decisions: [.keep(until: origin + .nanoseconds(100_000_000 - 8_333_500))]),
        Situation(
            testDescription: "a frame nearer to this refresh than to the next", frames: [frame(100)], refresh: 92, before: (60, 60),
            decisions: [.show]),
        Situation(
            testDescription: "of three due frames the newest is shown", frames: [frame(0), frame(40), frame(80), frame(120)], refresh: 85,
            before: (-40, 0), decisions: [.drop(.late), .drop(.late), .show]),
        Situation(
            testDescription: "a frame whose whole time is over, shortly after another: it may be the last", frames: [frame(0)], refresh: 100,
            before: (-40, 50), decisions: [.keep(until: at(116_667))]),
        Situation(
            testDescription: "the same, on a display without a period", frames: [frame(0)], refresh: 100, before: (-40, 50), period: nil,
            decisions: [.keep(until: at(110_000))]),
        Situation(
            testDescription: "the same, without room for another", frames: [frame(0)], refresh: 100, before: (-40, 50), hasRoom: false,
            decisions: [.drop(.late), .keep(until: nil)]),
        Situation(
            testDescription: "the same, after 100 ms without a frame", frames: [frame(0)], refresh: 150, before: (-40, 50), decisions: [.show]),
        Situation(
            testDescription: "the same, as the last of the film", frames: [frame(0)], refresh: 100, before: (-40, 50), isEnding: true,
            decisions: [.show]),
        Situation(testDescription: "the same, as the first of all", frames: [frame(0)], refresh: 100, decisions: [.show]),
        Situation(
            testDescription: "a late frame of unknown duration lasts until the next", frames: [frame(0, duration: nil)], refresh: 100,
            before: (-40, 50),
            decisions: [.show]),
        Situation(
            testDescription: "everything is late: the newest is shown each 100 ms", frames: [frame(0), frame(40), frame(80)], refresh: 1000,
            before: (-40, 950), decisions: [.drop(.late), .drop(.late), .keep(until: at(1_016_667))]),
        Situation(
            testDescription: "time turned back: the stale frame goes", frames: [frame(9000), frame(40)], refresh: 40, before: (8960, 20),
            decisions: [.drop(.discontinuity), .show]),
        Situation(
            testDescription: "a frame far ahead waits", frames: [frame(9000), frame(9040)], refresh: 40, before: (0, 20),
            decisions: [.keep(until: origin + .nanoseconds(9_000_000_000 - 8_333_500))]),
        Situation(testDescription: "standing still, the first frame is shown", frames: [frame(40)], rate: 0, refresh: 0, decisions: [.show]),
        Situation(
            testDescription: "standing still, a coming frame waits", frames: [frame(40)], rate: 0, refresh: 0, before: (0, 0),
            decisions: [.keep(until: nil)]),
        Situation(
            testDescription: "standing still, the frame of the time that was set", frames: [frame(40), frame(80), frame(120)], rate: 0, refresh: 100,
            before: (0, 0), decisions: [.drop(.late), .show]),
        Situation(
            testDescription: "standing still, an immediate frame goes before all", frames: [frame(40), frame(5000, immediate: true)], rate: 0,
            refresh: 0,
            before: (0, 0), decisions: [.drop(.late), .show]),
        Situation(
            testDescription: "of immediate frames, as a camera gives them, the newest is shown",
            frames: [frame(0, immediate: true), frame(40, immediate: true), frame(80, immediate: true)], refresh: 100, before: (0, 0),
            decisions: [.drop(.late), .drop(.late), .show]),
        Situation(
            testDescription: "an immediate frame waits for nothing", frames: [frame(5000, immediate: true)], refresh: 0, before: (0, 0),
            decisions: [.show]),
        Situation(
            testDescription: "a frame without a time follows the one before by its duration", frames: [frame(nil)], refresh: 60, before: (40, 40),
            decisions: [.keep(until: origin + .nanoseconds(80_000_000 - 8_333_500))]),
        Situation(testDescription: "without anything to go by, at the next refresh", frames: [frame(nil)], refresh: 0, decisions: [.show]),
        Situation(
            testDescription: "a display without a period shows nothing early", frames: [frame(100)], refresh: 95, before: (60, 60), period: nil,
            decisions: [.keep(until: at(100_000))]),
        Situation(
            testDescription: "at twice the speed a frame is due in half the time", frames: [frame(100)], rate: 2, refresh: 20, before: (60, 0),
            decisions: [.keep(until: origin + .nanoseconds(50_000_000 - 8_333_500))]),
        Situation(
            testDescription: "backwards, a frame is due at its end", frames: [frame(-140)], rate: -1, refresh: 60, before: (-60, 40),
            decisions: [.keep(until: origin + .nanoseconds(100_000_000 - 8_333_500))]),
    ]

    @Test("what is decided", arguments: situations)
    func decides(_ row: Situation) {
        var scheduler = FrameScheduler()
        let deadline = origin + .milliseconds(row.refresh)
        let standing = MediaTime(value: row.refresh, timescale: 1000)
        let mapping = TimebaseMapping(hostAnchor: origin, mediaAnchor: row.rate == 0 ? standing : .zero, rate: row.rate)
        let interval = DisplayInterval(deadline: deadline, nextDeadline: deadline + (row.period ?? .zero), period: row.period)
        if let before = row.before { scheduler.didShow(Self.frame(before.time), at: origin + .milliseconds(before.refresh)) }
        var frames = row.frames[...]
        var decisions: [FrameScheduler.Decision] = []
        repeat {
            decisions.append(
                scheduler.decide(
                    count: frames.count, isEnding: row.isEnding, hasRoom: row.hasRoom, mapping: mapping, interval: interval
                ) { frames[frames.startIndex + $0] })
            if case .drop = decisions.last { frames.removeFirst() }
        } while decisions.last.map { if case .drop = $0 { true } else { false } } ?? false
        #expect(decisions == row.decisions)
    }

    @Test("a decoder that cannot keep up still shows ten frames a second, and the last one")
    func overload() {
        var simulation = Simulation(film(50, count: 500), hertz: 60)
        // Half as fast as the film: 20 s for 10 s of film.
        simulation.delivered = { Int(($0 - origin).seconds * 25) }
        simulation.run(refreshes: 1210)
        #expect(simulation.shown.last?.frame == 499)
        let gaps = simulation.rhythm
        #expect(gaps.max()! <= 9, "a tenth of a second is six refreshes, and a frame may then be two away")
        #expect(simulation.shown.count + simulation.dropped.count == 500)
    }

    @Test("a last frame that comes late, and before the end is known, is shown")
    func lateEnd() {
        var scheduler = FrameScheduler(), frames = film(25, count: 2)[...]
        let mapping = TimebaseMapping(hostAnchor: origin, mediaAnchor: .zero, rate: 1)
        func decide(at milliseconds: Int64, isEnding: Bool) -> FrameScheduler.Decision {
            let deadline = origin + .milliseconds(milliseconds)
            let interval = DisplayInterval(deadline: deadline, nextDeadline: deadline + .milliseconds(20))
            return scheduler.decide(count: frames.count, isEnding: isEnding, mapping: mapping, interval: interval) { frames[frames.startIndex + $0] }
        }
        #expect(decide(at: 10, isEnding: false) == .show)
        frames.removeFirst()
        #expect(decide(at: 104, isEnding: false) == .keep(until: origin + .milliseconds(124)))
        #expect(decide(at: 108, isEnding: true) == .show)
    }

    @Test("a clock set anew mid-film goes on with the frame of the new time")
    func jump() {
        var simulation = Simulation(film(30, count: 300), hertz: 60)
        simulation.run(refreshes: 60)
        simulation.mapping.mediaAnchor = MediaTime(value: 2, timescale: 1)
        simulation.run(refreshes: 2)
        #expect(simulation.shown.last?.frame == 90)
        simulation.run(refreshes: 60)
        #expect(simulation.rhythm.suffix(20).allSatisfy { $0 == 2 })
    }

    private func repeats(_ rhythm: [Int], _ cycle: [Int]) -> Bool {
        guard rhythm.count >= 2 * cycle.count else { return false }
        return cycle.indices.contains { start in
            rhythm.indices.allSatisfy { rhythm[$0] == cycle[($0 + start) % cycle.count] }
        }
    }
}
