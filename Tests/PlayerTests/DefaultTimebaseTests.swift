import Media
import Player
import Testing

@Suite struct DefaultTimebaseTests {
    private let clock = ManualClock(HostTime(nanoseconds: 5_000_000_000_000))

    private func seconds(_ count: Double) -> MediaTime { MediaTime(seconds: count) }

    @Test func `time is the host clock's until a film is anchored`() {
        let automatic = DefaultTimebase(clock: clock)
        #expect(automatic.timebase.time == seconds(5000) && automatic.timebase.rate == 1)
        clock.advance(by: .seconds(2))
        #expect(automatic.timebase.time == seconds(5002))
    }

    /// Seconds of the first frame; whether it is taken for a reading of the host clock.
    @Test(arguments: [(0.0, false), (4999.9, false), (5000, true), (5000.5, true), (5010, true), (5010.1, false), (90_000, false)])
    func `a film is anchored when its first frame is late, or so far ahead that its time cannot be the host's`(_ first: Double, _ isHostTime: Bool) {
        let automatic = DefaultTimebase(clock: clock)
        automatic.willShowFirst(seconds(first))
        #expect(automatic.timebase.rate == (isHostTime ? 1 : 0))
        #expect(automatic.timebase.time == (isHostTime ? seconds(5000) : seconds(first)))
        clock.advance(by: .seconds(1))
        automatic.didShowFirst(at: clock.now())
        clock.advance(by: .seconds(3))
        #expect(automatic.timebase.time == (isHostTime ? seconds(5004) : seconds(first + 3)), "held until it was shown")
    }

    @Test func `after a flush the film is anchored again`() {
        let automatic = DefaultTimebase(clock: clock)
        for first in [0.0, 60, 3] {
            automatic.willShowFirst(seconds(first))
            automatic.didShowFirst(at: clock.now())
            clock.advance(by: .seconds(1))
            #expect(automatic.timebase.time == seconds(first + 1))
        }
    }

    @Test(arguments: [true, false]) func `an owner who sets the timebase keeps it`(_ setsRate: Bool) {
        let automatic = DefaultTimebase(clock: clock)
        if setsRate { automatic.timebase.setRate(0) } else { automatic.timebase.setTime(.zero) }
        let time = automatic.timebase.time, rate = automatic.timebase.rate
        automatic.willShowFirst(seconds(-1))
        automatic.didShowFirst(at: clock.now())
        #expect(automatic.timebase.time == time && automatic.timebase.rate == rate)
    }

    @Test func `a frame without a time changes nothing`() {
        let automatic = DefaultTimebase(clock: clock)
        automatic.willShowFirst(.invalid)
        automatic.didShowFirst(at: clock.now())
        #expect(automatic.timebase.time == seconds(5000) && automatic.timebase.rate == 1)
    }
}
