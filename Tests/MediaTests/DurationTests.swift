import Media
import TestSupport
import Testing

@Suite struct DurationTests {
    @Test(
        arguments: [
            (Duration.zero, 0, 1_000_000_000, false), (.seconds(90), 90_000_000_000, 1_000_000_000, false),
            (.milliseconds(-1500), -1_500_000_000, 1_000_000_000, false), (.nanoseconds(1), 1, 1_000_000_000, false),
            // Half a nanosecond goes away from zero.
            (Duration(secondsComponent: 0, attosecondsComponent: 1_499_999_999), 1, 1_000_000_000, true),
            (Duration(secondsComponent: 0, attosecondsComponent: -1_500_000_000), -2, 1_000_000_000, true),
            // Beyond the range of nanoseconds.
            (.seconds(Int64.max), .max, 1, false), (.seconds(Int64.min), .min, 1, false),
            (Duration(secondsComponent: 1 << 40, attosecondsComponent: 700_000_000_000_000_000), (1 << 40) + 1, 1, true),
        ] as [(Duration, Int64, Int32, Bool)])
    func `a duration becomes media time`(duration: Duration, value: Int64, timescale: Int32, isRounded: Bool) {
        let time = MediaTime(duration)
        #expect(time.value == value && time.timescale == timescale && time.hasBeenRounded == isRounded)
    }

    @Test func `media time becomes a duration, exactly where attoseconds can tell it`() {
        #expect(Duration(MediaTime(value: 90, timescale: 1)) == .seconds(90))
        #expect(Duration(MediaTime(value: -3, timescale: 2)) == .milliseconds(-1500))
        #expect(Duration(MediaTime(value: .min, timescale: 1)) == .seconds(Int64.min))
        #expect(Duration(MediaTime(value: .max, timescale: 1_000_000_000)) == .nanoseconds(Int64.max))
        // 1001/24000 s is no whole number of attoseconds.
        #expect(Duration(MediaTime(value: 1001, timescale: 24000)) == Duration(secondsComponent: 0, attosecondsComponent: 41_708_333_333_333_333))
        #expect(Duration(MediaTime(value: -2, timescale: 3)) == Duration(secondsComponent: 0, attosecondsComponent: -666_666_666_666_666_667))
        for time in [MediaTime.invalid, .indefinite, .positiveInfinity, .negativeInfinity] { #expect(Duration(time) == nil) }
    }

    @Test func `nanoseconds survive the way there and back`() {
        var dice = Dice(seed: 21)
        for _ in 0..<10_000 {
            let time = MediaTime(nanoseconds: .random(in: .min ... .max, using: &dice))
            #expect(Duration(time).map { MediaTime($0) } == time)
            let span = HostSpan(nanoseconds: time.value)
            #expect(HostSpan(Duration(span)) == span)
        }
    }

    @Test func `a host span is a duration in nanoseconds`() {
        #expect(Duration(HostSpan.milliseconds(40)) == .milliseconds(40))
        #expect(HostSpan(.seconds(-2)) == .seconds(-2))
        #expect(HostSpan(Duration(secondsComponent: 0, attosecondsComponent: 500_000_000)) == .nanoseconds(1))
        #expect(HostSpan(.seconds(Int64.max)).nanoseconds == .max && HostSpan(.seconds(Int64.min)).nanoseconds == .min)
    }
}
