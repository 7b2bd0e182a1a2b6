import Media
import Player
import TestSupport
import Testing

/// Up to an hour of a live film in simulation, with a sender whose clock is fast or slow and a network that is late.
@Suite struct LiveLatencyHourTests {
    private static func host(_ seconds: Double) -> HostTime { HostTime(nanoseconds: Int64((seconds * 1e9).rounded())) }
    private static func media(_ seconds: Double) -> MediaTime { MediaTime(nanoseconds: Int64((seconds * 1e9).rounded())) }

    /// What the hour was like.
    private struct Hour {
        /// Seconds behind the sender.
        var latencies: [Double] = []
        /// Seconds from when each frame came to when it was shown.
        var own: [Double] = []
        var speedChanges = 0, jumps = 0, dry = 0
    }

    /// What so many hundredths of `values` are below.
    private static func most(_ percent: Int, of values: [Double]) -> Double { values.sorted()[values.count * percent / 100] }

    /// A sender's samples, 25 a second, by the player's clock.
    private struct Samples {
        let drift: Double, jitter: Double, loss: Double
        private var random = UInt64(20_261_124), number = 0, last = 0.0

        init(drift: Double, jitter: Double, loss: Double) { (self.drift, self.jitter, self.loss) = (drift, jitter, loss) }

        private mutating func chance() -> Double {
            random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Double(random >> 11) / Double(UInt64(1) << 53)
        }

        /// The media time at which the next one ends, and when it comes: up to `jitter` seconds late, one in a hundred up to five times as much.
        mutating func next() -> (media: Double, at: Double) {
            repeat { number += 1 } while chance() < loss
            let media = Double(number) * 0.04, delay = chance() * jitter * (chance() < 0.01 ? 5 : 1)
            last = max(last, media / (1 + drift) + delay)
            return (media, last)
        }
    }

    /// - Parameter hold: seconds for which the demuxer holds each sample back.
    private static func play(drift: Double, jitter: Double, target: Double, loss: Double = 0, hold: Double = 0, minutes: Int = 60) -> Hour {
        var state = LiveLatencyState(target: target), hour = Hour()
        var samples = Samples(drift: drift, jitter: jitter, loss: loss)
        var position = -target / 2, speed = 1.0, newest = 0.0
        var next = samples.next(), waiting: [(media: Double, at: Double)] = []
        for tick in 0..<minutes * 600 {
            let now = Double(tick) / 10
            while next.at + hold <= now {
                newest = next.media
                state.arrived(Int64((newest * 1e9).rounded()), at: host(1000 + next.at), handedOutAt: host(1000 + next.at + hold))
                waiting.append((newest - 0.04, next.at))
                next = samples.next()
            }
            let began = position
            position += 0.1 * speed
            while let frame = waiting.first, frame.media < position {
                if now > 60 { hour.own.append(now + (frame.media - began) / speed - 0.1 - frame.at) }
                waiting.removeFirst()
            }
            if now > 60 {
                hour.latencies.append(now * (1 + drift) - position)
                if position > newest { hour.dry += 1 }
            }
            switch state.decide(position: media(position), at: host(1000 + now)) {
            case .play(let wanted):
                if wanted != speed { hour.speedChanges += 1 }
                speed = wanted
            case .jump(let goal):
                hour.jumps += 1
                position = goal.seconds
                speed = 1
            }
        }
        return hour
    }

    @Test(.unsanitized, arguments: [-200e-6, 0, 200e-6], [0.0, 0.03])
    func `for an hour the latency stays where it is wanted`(drift: Double, jitter: Double) {
        let hour = Self.play(drift: drift, jitter: jitter, target: 0.5)
        let (low, high) = (Self.most(5, of: hour.latencies), Self.most(95, of: hour.latencies))
        #expect(low > 0.44 && high < 0.55, "\(low) to \(high)")
        #expect(hour.jumps == 0 && hour.dry == 0, "\(hour.jumps), \(hour.dry)")
        #expect(hour.speedChanges < 400, "\(hour.speedChanges)")
    }

    @Test(
        .unsanitized,
        arguments: [
            // The sender's clock, the lateness of samples, how long the demuxer holds them back, the target; seconds.
            (200e-6, 0.0, 0.0, 0.3), (200e-6, 0.03, 0.0, 0.3), (-200e-6, 0.03, 0.0, 0.3), (200e-6, 0.03, 0.08, 0.3), (-200e-6, 0.03, 0.08, 0.3),
            (200e-6, 0.03, 0.12, 0.5), (-200e-6, 0.03, 0.12, 0.5),
        ]) func `with one packet in a hundred lost, frames are shown at most 50 ms above the target after they came`(
            drift: Double, jitter: Double, hold: Double, target: Double
        )
    {
        let hour = Self.play(drift: drift, jitter: jitter, target: target, loss: 0.01, hold: hold, minutes: 10)
        let own = Self.most(95, of: hour.own)
        #expect(hour.own.count > 13_000 && own < target + 0.05, "\(own) of \(hour.own.count)")
        #expect(hour.jumps == 0, "\(hour.jumps)")
    }
}
