import Foundation
import Media
import TestSupport
import Testing

@testable import AudioSink

/// Sound against the timebase on a card that remembers what was heard and when. Real time: these last as long as they play.
@Suite(.serialized) struct AudioRendererTests {
    /// Off by at most this, in seconds. Twenty milliseconds is what is asked for; at normal speed we are far better.
    private func faults(
        _ rig: Rig, from begin: HostTime, to end: HostTime, mapping: TimebaseMapping, within limit: Double, speed: Double = 1, delay: Double = 0,
        _ what: String
    ) -> [String] {
        let heard = rig.heard(speed: speed).filter { $0.time >= begin && $0.time < end }
        let offsets = heard.map { $0.film + delay - mapping.mediaTime(at: $0.time).seconds }
        let worst = offsets.map(\.magnitude).max() ?? .infinity
        return heard.count > 2000 && worst < limit ? [] : ["\(what): \(heard.count) frames heard, off by \(worst * 1000) ms"]
    }

    private func check(_ rig: Rig, from begin: HostTime, to end: HostTime, mapping: TimebaseMapping, within limit: Double, _ what: String) {
        #expect(faults(rig, from: begin, to: end, mapping: mapping, within: limit, what) == [])
    }

    @Test(
        .measuresTime,
        arguments: [
            TestCard.Faults(), TestCard.Faults(drift: 200, latency: 0.15), TestCard.Faults(drift: -200, latency: 0, jitter: 0.002),
            TestCard.Faults(isProgram: true), TestCard.Faults(drift: -200, latency: 0.1, jitter: 0.001, isProgram: true),
        ])
    func `sound is in step after start, pause, resume, seek and change of speed`(faults: TestCard.Faults) throws {
        #expect(try withinAttempts { try stages(faults) } == [])
    }

    private func stages(_ faults: TestCard.Faults) throws -> [String] {
        let rig = try Rig(faults: faults), timebase = rig.timebase, limit = 0.004 + faults.jitter
        rig.sound.enqueue(0, 20)
        rig.renderer.start()
        #expect(rig.renderer.waitUntilReady(until: MonotonicClock.shared.now() + .seconds(60)))
        var stages: [(String, HostTime, HostTime, TimebaseMapping, Double)] = []
        func stage(_ name: String, settle: Double = 0.3, speed: Double = 1) {
            let begin = MonotonicClock.shared.now() + .seconds(settle)
            pause(settle + 0.4)
            stages.append((name, begin, MonotonicClock.shared.now(), timebase.mapping, speed))
        }
        timebase.setRate(1)
        stage("start")
        timebase.setRate(0)
        pause(0.1)
        timebase.setRate(1)
        stage("resume")
        rig.renderer.flush()
        timebase.setTime(MediaTime(seconds: 60))
        rig.sound.enqueue(59.9, 80)
        stage("seek", settle: 0.4)
        timebase.setRate(1.5)
        stage("faster", speed: 1.5)
        timebase.setRate(0.75)
        stage("slower", speed: 0.75)
        timebase.setRate(1)
        stage("normal again")
        rig.renderer.stop()
        let statistics = rig.renderer.statistics
        #expect(statistics.isPacedByDevice && statistics.framesPlayed > 0)
        return stages.flatMap { name, begin, end, mapping, speed in
            self.faults(rig, from: begin, to: end, mapping: mapping, within: speed == 1 ? limit : 0.015 + faults.jitter, speed: speed, name)
        }
    }

    @Test(.measuresTime, arguments: [TestCard.Faults(), TestCard.Faults(drift: 200, latency: 0.1, isProgram: true)])
    func `sound that is delayed is heard by so much later, at each moment at which that changes`(faults: TestCard.Faults) throws {
        #expect(try withinAttempts { try delays(faults) } == [])
    }

    private func delays(_ faults: TestCard.Faults) throws -> [String] {
        let rig = try Rig(faults: faults)
        rig.renderer.delay = MediaTime(value: 1, timescale: 4)
        rig.sound.enqueue(0, 20)
        rig.renderer.start()
        #expect(rig.renderer.waitUntilReady(until: MonotonicClock.shared.now() + .seconds(60)))
        rig.timebase.setRate(1)
        var stages: [(delay: Double, HostTime, HostTime, TimebaseMapping)] = []
        for delay in [0.25, -0.3, 2.5] {
            rig.renderer.delay = MediaTime(seconds: delay)
            // What the device holds, 200 ms, and what comes before the first sound.
            let begin = MonotonicClock.shared.now() + .seconds(delay > 1 ? 2 : 0.7)
            pause(delay > 1 ? 2.4 : 1.1)
            stages.append((delay, begin, MonotonicClock.shared.now(), rig.timebase.mapping))
        }
        rig.renderer.stop()
        return stages.flatMap { self.faults(rig, from: $1, to: $2, mapping: $3, within: 0.012, delay: $0, "a delay of \($0) s") }
    }

    @Test(arguments: [(0.5, 0.5), (-2, -2), (1e9, 3600), (-Double.infinity, 0)] as [(Double, Double)])
    func `a delay lies within an hour`(_ set: Double, _ expected: Double) throws {
        let rig = try Rig()
        rig.renderer.delay = set.isFinite ? MediaTime(seconds: set) : .negativeInfinity
        #expect(rig.renderer.delay.seconds == expected)
    }

    @Test func `a start anchored ahead loses no sound`() throws {
        let rig = try Rig()
        rig.sound.enqueue(0, 2)
        rig.renderer.start()
        #expect(rig.renderer.waitUntilReady(until: MonotonicClock.shared.now() + .seconds(60)))
        rig.timebase.setRate(1, time: .zero, atHostTime: rig.renderer.clock.now() + rig.renderer.startLatency + .milliseconds(50))
        pause(0.5)
        rig.renderer.stop()
        let heard = rig.heard()
        #expect((heard.first?.film ?? 9) < 0.001 && heard.count > 10_000)
    }

    /// As wireless headphones are, whose delay is reported.
    @Test(.measuresTime) func `sound that is heard long after it has left the device's buffer is whole and in step, to its end`() throws {
        let faults = try withinAttempts {
            let rig = try Rig(faults: .init(latency: 0.4))
            rig.sound.enqueue(0, 1.5)
            rig.sound.end()
            rig.renderer.start()
            #expect(rig.renderer.waitUntilReady(until: MonotonicClock.shared.now() + .seconds(60)))
            rig.timebase.setRate(1, time: .zero, atHostTime: rig.renderer.clock.now() + .seconds(0.6))
            let limit = MonotonicClock.shared.now() + .seconds(90)
            while !rig.renderer.hasFinished, MonotonicClock.shared.now() < limit { pause(0.05) }
            rig.renderer.stop()
            // Once, behind the last frame.
            let heard = rig.heard(), dry = rig.memory.withLock { $0.underruns }
            let isWhole = (heard.first?.film ?? 9) < 0.001 && (heard.last?.film ?? 0) > 1.49 && heard.count > 71_000 && dry <= 1
            return (isWhole ? [] : ["\(heard.count) frames from \(heard.first?.film ?? 9) to \(heard.last?.film ?? 0), dry \(dry) times"])
                + self.faults(rig, from: .distantPast, to: .distantFuture, mapping: rig.timebase.mapping, within: 0.004, "all of it")
        }
        #expect(faults == [])
    }

    @Test func `sound that begins late and ends early leaves the clock running`() throws {
        let rig = try Rig(faults: .init(drift: 100))
        rig.sound.enqueue(0.4, 0.8)
        rig.sound.end()
        rig.renderer.start()
        let begin = Moment { rig.timebase.setRate(1, time: .zero, atHostTime: rig.renderer.clock.now()) }
        pause(0.6)
        #expect(!rig.renderer.hasFinished)
        let mapping = rig.timebase.mapping
        pause(0.7)
        #expect(rig.renderer.hasFinished)
        var time = 0.0
        let end = Moment { time = rig.timebase.time.seconds }
        #expect(end.isElapsed(time, since: begin, within: 0.01), "the film goes on: \(time)")
        rig.renderer.stop()
        let heard = rig.heard()
        #expect((heard.first?.film ?? 0) >= 0.4 && (heard.last?.film ?? 0) > 0.79)
        check(rig, from: .distantPast, to: .distantFuture, mapping: mapping, within: 0.004, "all of it")
    }

    @Test func `gaps are silence and overlaps are trimmed`() throws {
        let rig = try Rig()
        rig.sound.enqueue(0, 0.3)
        rig.sound.enqueue(0.2, 0.4)
        rig.sound.enqueue(0.6, 0.9)
        rig.sound.end()
        rig.renderer.start()
        #expect(rig.renderer.waitUntilReady(until: MonotonicClock.shared.now() + .seconds(60)))
        rig.timebase.setRate(1, time: .zero, atHostTime: rig.renderer.clock.now() + .milliseconds(150))
        pause(1.4)
        let mapping = rig.timebase.mapping
        rig.renderer.stop()
        check(rig, from: .distantPast, to: .distantFuture, mapping: mapping, within: 0.004, "with a gap")
        let films = rig.heard().map(\.film)
        #expect(films == films.sorted() && Set(films).count == films.count)
        #expect(!films.contains { $0 > 0.425 && $0 < 0.599 })
    }

    @Test(arguments: [true, false])
    func `a device that fails midway is told once, and the film goes on without a jump`(byStalling: Bool) throws {
        let rig = try Rig(), errors = Monitor<[AudioError]>([])
        let timebase = rig.timebase
        rig.renderer.onFailure = { error in
            timebase.setSource(MonotonicClock.shared)
            errors.change { $0.append(error) }
        }
        rig.sound.enqueue(0, 30)
        rig.renderer.start()
        _ = rig.renderer.waitUntilReady(until: nil)
        let begin = Moment { timebase.setRate(1) }
        let fault = begin.before + .milliseconds(300)
        if byStalling { rig.faults.stallsAt = fault } else { rig.faults.lostAt = fault }
        _ = errors.wait(until: fault + .seconds(60)) { $0.isEmpty ? nil : true }
        pause(0.2)
        var time = 0.0
        let end = Moment { time = timebase.time.seconds }
        #expect(end.isElapsed(time, since: begin, within: 0.06), "\(time)")
        #expect(errors.withLock { $0.count } == 1)
        #expect(errors.withLock { $0.first?.code } == .lost)
        #expect(timebase.clock === MonotonicClock.shared)
        if case .failed = rig.renderer.phase {} else { Issue.record("\(rig.renderer.phase)") }
        // The queue is emptied all the same, lest the demuxer wait.
        let patience = MonotonicClock.shared.now() + .seconds(60)
        while rig.sound.remaining > 0, MonotonicClock.shared.now() < patience { pause(0.01) }
        #expect(rig.sound.remaining == 0)
        rig.renderer.stop()
    }

    @Test func `no device is one sentence, and no sound`() throws {
        let sound = CountingSound(), timebase = Timebase(), errors = Monitor<[AudioError]>([])
        let renderer = try AudioRenderer(format: sound.format, source: sound, deviceName: "nowhere", timebase: timebase)
        renderer.onFailure = { error in errors.change { $0.append(error) } }
        sound.enqueue(0, 1)
        renderer.start()
        #expect(!renderer.waitUntilReady(until: MonotonicClock.shared.now() + .seconds(60)))
        _ = errors.wait(until: MonotonicClock.shared.now() + .seconds(60)) { $0.isEmpty ? nil : true }
        #expect(errors.withLock { $0.first?.code } == .cannotOpen)
        #expect(errors.withLock { $0.first?.description } == "cannot open the audio device 'nowhere': No such file or directory")
        renderer.stop()
        #expect(throws: AudioError.self) {
            try AudioRenderer(
                format: AudioFormat(codecName: "nonsense", sampleRate: 48_000, channelCount: 1), source: sound, deviceName: "null", timebase: timebase
            )
        }
    }

    @Test func `a timebase on another clock is followed`() throws {
        let rig = try Rig(faults: .init(drift: 2000, latency: 0.01), onAudioClock: false)
        rig.sound.enqueue(0, 30)
        rig.renderer.start()
        _ = rig.renderer.waitUntilReady(until: nil)
        rig.timebase.setRate(1)
        pause(2)
        let mapping = rig.timebase.mapping
        rig.renderer.stop()
        check(rig, from: .distantPast, to: .distantFuture, mapping: mapping, within: 0.013, "against the host")
    }

    @Test func `mute and volume glide`() throws {
        let rig = try Rig()
        rig.sound.enqueue(100, 110)
        rig.timebase.setTime(MediaTime(seconds: 100))
        rig.renderer.start()
        _ = rig.renderer.waitUntilReady(until: nil)
        rig.timebase.setRate(1)
        pause(0.5)
        rig.renderer.isMuted = true
        pause(0.5)
        rig.renderer.isMuted = false
        rig.renderer.volume = 0.5
        pause(0.5)
        rig.renderer.stop()
        let samples = rig.memory.withLock { $0.pieces.flatMap(\.samples) }
        // 0.57…0.6 of full scale; ten milliseconds from full to nothing are 480 steps of 0.00125.
        let steps = zip(samples, samples.dropFirst()).map { abs($0 - $1) }
        #expect(steps.max()! < 0.002)
        #expect(samples.max()! > 0.55)
        #expect(samples.suffix(1000).allSatisfy { $0 > 0.27 && $0 < 0.32 })
        let muted = samples.drop { $0 < 0.5 }.filter { $0 == 0 }
        #expect(muted.count > 15_000)
    }

    @Test func `a packet's gain is that of its own samples, to the sample`() throws {
        let rig = try Rig(), packets = 20, count = packets * Int(CountingSound.packetFrames), first = 100 * CountingSound.rate
        let gains: [Float] = [1, 0.5, 1, 0.25]
        var expected: [Float] = []
        for (index, gain) in gains.enumerated() {
            let start = Double(first + index * count) / Double(CountingSound.rate)
            let end = start + Double(count) / Double(CountingSound.rate)
            rig.sound.enqueue(start + 1e-6, end - 1e-3, gain: gain)
            for frame in 0..<count { expected.append(Float(first + index * count + frame) / 8_388_608 * gain) }
        }
        rig.sound.end()
        rig.timebase.setTime(MediaTime(seconds: 100))
        rig.renderer.start()
        _ = rig.renderer.waitUntilReady(until: nil)
        rig.timebase.setRate(1)
        #expect(Polling.until { rig.renderer.hasFinished })
        rig.renderer.stop()
        // What is heard first fades in.
        let heard = rig.memory.withLock { $0.pieces.flatMap(\.samples) }, wanted = Array(expected.dropFirst(count))
        let begin = try #require(heard.firstIndex(of: wanted[0]))
        #expect(heard[begin...].starts(with: wanted))
    }

    @Test func `speeds beyond hearing are silent and keep up`() throws {
        let rig = try Rig()
        rig.sound.enqueue(0, 60)
        rig.renderer.start()
        _ = rig.renderer.waitUntilReady(until: nil)
        rig.timebase.setRate(16)
        pause(0.6)
        rig.timebase.setRate(1)
        pause(0.6)
        let mapping = rig.timebase.mapping, now = MonotonicClock.shared.now()
        rig.renderer.stop()
        check(rig, from: now - .milliseconds(300), to: now, mapping: mapping, within: 0.004, "after winding")
        #expect(rig.timebase.time.seconds > 9)
    }

    @Test func `replacing the timebase's source is not heard`() throws {
        let rig = try Rig(onAudioClock: false)
        rig.sound.enqueue(0, 10)
        rig.renderer.start()
        _ = rig.renderer.waitUntilReady(until: nil)
        rig.timebase.setRate(1)
        pause(0.4)
        rig.timebase.setSource(rig.renderer.clock)
        pause(0.3)
        rig.timebase.setSource(MonotonicClock.shared)
        pause(0.3)
        let mapping = rig.timebase.mapping
        #expect(rig.renderer.pieces.count == 1 + rig.renderer.statistics.underruns)
        rig.renderer.stop()
        check(rig, from: .distantPast, to: .distantFuture, mapping: mapping, within: 0.004, "all of it")
    }

    @Test func `a renderer may be stopped, and dropped, by the news of its failure`() throws {
        let sound = CountingSound(), timebase = Timebase(), holder = Monitor<AudioRenderer?>(nil), ended = Monitor(false)
        sound.enqueue(0, 1)
        holder.withLock { holder in
            holder = try? AudioRenderer(format: sound.format, source: sound, deviceName: "nowhere", timebase: timebase)
        }
        let renderer = holder.withLock { $0 }
        renderer?.onFailure = { _ in
            let last = holder.withLock { holder in
                defer { holder = nil }
                return holder
            }
            last?.stop()
            ended.change { $0 = true }
        }
        renderer?.start()
        #expect(ended.wait(until: MonotonicClock.shared.now() + .seconds(60)) { $0 ? true : nil } == true)
    }
}
