import Media
import Testing

@testable import AudioSink

/// The clock that is heard.
@Suite struct AudioClockTests {
    private let start = HostTime(nanoseconds: 1_000_000_000)
    private func time(_ seconds: Double) -> HostTime { start + .seconds(seconds) }

    @Test func `it is the host's clock until there is sound, and goes on from there`() {
        let clock = AudioClock()
        #expect(clock.relation == .identity && clock.time(ofFrame: 0) == nil)
        clock.beginPiece(rate: 48000)
        clock.heard(frames: 480, at: time(0))
        #expect(clock.relation.fromReference(time(0)) == time(0))
        #expect(clock.time(ofFrame: 480) == time(0) && clock.time(ofFrame: 48_480) == time(1))
    }

    @Test func `drift is learnt in one piece and kept for the next`() {
        let clock = AudioClock()
        var generator = SystemRandomNumberGenerator()
        func play(from begin: Double, seconds: Double) {
            clock.beginPiece(rate: 48000)
            for step in 0..<Int(seconds * 40) {
                let t = Double(step) / 40
                clock.heard(frames: t * 48000 * 1.0001 + .random(in: -24...24, using: &generator), at: time(begin + t))
            }
        }
        play(from: 0, seconds: 30)
        #expect(abs(clock.drift * 1e6 - 100) < 10)
        let before = clock.relation.fromReference(time(35))
        play(from: 35, seconds: 5)
        #expect(abs((clock.relation.fromReference(time(35)) - before).seconds) < 0.001)
        #expect(abs(clock.drift * 1e6 - 100) < 10)
    }

    @Test func `a device that stood still does not take the clock along`() {
        let clock = AudioClock()
        clock.beginPiece(rate: 48000)
        for step in 0..<40 { clock.heard(frames: Double(step) * 1200, at: time(Double(step) / 40)) }
        // 150 ms without a frame.
        var moved = false
        for step in 46..<60 { moved = clock.heard(frames: Double(step - 6) * 1200, at: time(Double(step) / 40)) || moved }
        #expect(moved)
        #expect(abs((clock.relation.fromReference(time(1.5)) - time(1.5)).seconds) < 0.01)
        #expect(abs((clock.time(ofFrame: 48000)! - time(1.15)).seconds) < 0.01)
    }

    @Test func `readings never go back while positions are fed`() {
        let clock = AudioClock(), begin = MonotonicClock.shared.now()
        clock.beginPiece(rate: 48000)
        let feeder = LoopThread(name: "feeder") {
            var generator = SystemRandomNumberGenerator()
            for _ in 0..<2000 {
                let now = MonotonicClock.shared.now()
                clock.heard(frames: (now - begin).seconds * 48000 * 1.001 + .random(in: -96...96, using: &generator), at: now)
            }
        }
        var last = clock.now(), backwards = 0
        for _ in 0..<20_000 {
            let now = clock.now()
            if now < last { backwards += 1 }
            last = now
        }
        feeder.join()
        #expect(backwards == 0)
    }
}
