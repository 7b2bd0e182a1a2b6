import Foundation
import Media
import TestSupport
import Testing

@testable import AudioSink

@Suite struct PCMStoreTests {
    /// 1000 frames a second, so that milliseconds are frames; a look-ahead of 1000, 2000 held, tolerance 10.
    private func store() throws -> (PCMStore, EventFD) {
        let bell = try EventFD()
        return (PCMStore(rate: 1000, channelCount: 2, bell: bell), bell)
    }
    /// Frames `first...` whose two channels are `n` and `-n`.
    private func insert(_ store: PCMStore, _ count: Int, value: Int, at milliseconds: Int64?, epoch: UInt64? = nil) -> Bool {
        let piece: [Float] = (0..<count).flatMap { (index: Int) -> [Float] in
            let level = Float(value + index)
            return [level, -level]
        }
        let time = milliseconds.map { MediaTime(value: $0, timescale: 1000) } ?? .invalid
        return unsafe piece.withUnsafeBufferPointer { unsafe store.insert($0, at: time, epoch: epoch ?? store.epoch) }
    }
    private func read(_ store: PCMStore, _ first: Int64, _ count: Int) -> [Int] {
        var target = [Float](repeating: 99, count: 2 * count)
        unsafe target.withUnsafeMutableBufferPointer { unsafe store.read(at: first, into: $0) }
        return stride(from: 0, to: target.count, by: 2).map { Int(target[$0]) }
    }

    @Test func `what is not there is silence`() throws {
        let (store, _) = try store()
        #expect(read(store, -5, 3) == [0, 0, 0])
        #expect(insert(store, 3, value: 7, at: 100))
        #expect(read(store, 98, 7) == [0, 0, 7, 8, 9, 0, 0])
        #expect(store.contents == .init(start: 100, end: 103, isEnded: false, ends: 0))
    }

    @Test func `gaps are filled, overlaps trimmed, small errors passed over`() throws {
        let (store, _) = try store()
        #expect(insert(store, 20, value: 100, at: 0))
        #expect(insert(store, 20, value: 200, at: 28))
        #expect(store.contents.end == 40, "8 ms off is rounding")
        #expect(insert(store, 5, value: 300, at: 60))
        #expect(store.contents.end == 65)
        #expect(read(store, 39, 3) == [219, 0, 0] && read(store, 60, 2) == [300, 301])
        #expect(insert(store, 30, value: 400, at: 45))
        #expect(store.contents.end == 75 && read(store, 64, 3) == [304, 420, 421])
        #expect(insert(store, 10, value: 500, at: 20))
        #expect(store.contents.end == 75, "all of it was covered")
        #expect(insert(store, 2, value: 600, at: nil))
        #expect(read(store, 74, 4) == [429, 600, 601, 0])
    }

    /// What was inserted lies from 100 to 300; the time of the cut, the play head, and the end then.
    @Test(
        arguments: [
            (290, 0, 290), (250, 0, 250), (249, 0, 300), (300, 0, 300), (310, 0, 300), (280, 295, 295), (280, 400, 300), (280, 120, 280),
            (nil, 0, 300),
        ] as [(Int64?, Int64, Int64)])
    func `the end of a sound gives way to the next one, up to 50 ms of it and nothing that was taken`(
        _ time: Int64?, _ head: Int64, _ end: Int64
    ) throws {
        let (store, _) = try store()
        #expect(insert(store, 200, value: 1, at: 100))
        store.movePlayHead(to: head)
        let place = time.map { MediaTime(value: $0, timescale: 1000) } ?? .invalid
        store.cut(at: place, epoch: store.epoch + 1)
        #expect(store.contents.end == 300, "another epoch's")
        store.cut(at: place, epoch: store.epoch)
        #expect(store.contents.end == end)
        // The next sound lies right there.
        #expect(insert(store, 10, value: 900, at: end) && read(store, end - 1, 2) == [Int(end) - 100, 900])
    }

    @Test func `time stamps that creep are not believed for long`() throws {
        let (store, _) = try store()
        for index in 0..<20 { #expect(insert(store, 50, value: 1 + 50 * index, at: 3 * Int64(index))) }
        // Six pieces lost 47 ms each before that was found out.
        #expect(store.contents.end == 718)
        #expect(read(store, 66, 4) == [349, 350, 351, 352])
        #expect(insert(store, 50, value: 5000, at: 800))
        #expect(store.contents.end == 850 && read(store, 798, 3) == [0, 0, 5000])
    }

    @Test func `the decoder waits for room and goes on with the play head; a second stays behind it`() throws {
        let (store, _) = try store()
        let log = Monitor<[Int64]>([])
        store.movePlayHead(to: 0)
        let thread = LoopThread(name: "decoder") {
            let piece = [Float](repeating: 1, count: 2 * 2500)
            let done = unsafe piece.withUnsafeBufferPointer { unsafe store.insert($0, at: .zero, epoch: store.epoch) }
            log.change { $0.append(done ? store.contents.end : -1) }
        }
        #expect(Polling.until { store.contents.end >= 1000 })
        #expect(Polling.holds(for: .milliseconds(20)) { store.contents.end == 1000 })
        store.movePlayHead(to: 100)
        store.movePlayHead(to: 600)
        #expect(Polling.until { store.contents.end >= 1600 })
        store.movePlayHead(to: 1800)
        thread.join()
        #expect(log.withLock { $0 } == [2500] && store.contents.start == 500)
    }

    @Test func `a flush lets a waiting decoder go, and refuses its piece`() throws {
        let (store, _) = try store()
        let old = store.epoch
        let thread = LoopThread(name: "decoder") {
            let piece = [Float](repeating: 1, count: 2 * 2500)
            let done = unsafe piece.withUnsafeBufferPointer { unsafe store.insert($0, at: .zero, epoch: old) }
            #expect(!done)
        }
        #expect(Polling.until { store.contents.end >= 1000 })
        store.clear()
        thread.join()
        #expect(store.contents.isEmpty && !insert(store, 1, value: 1, at: 0, epoch: old))
        store.markEnd(epoch: old)
        #expect(!store.contents.isEnded)
        #expect(insert(store, 1, value: 1, at: 90_000))
        #expect(store.contents.start == 90_000)
    }

    @Test func `an end is the same until sound comes`() throws {
        let (store, _) = try store()
        #expect(!store.markEnd(epoch: store.epoch) && store.markEnd(epoch: store.epoch))
        #expect(insert(store, 1, value: 1, at: 0))
        #expect(!store.markEnd(epoch: store.epoch) && store.markEnd(epoch: store.epoch))
        let old = store.epoch
        store.clear()
        #expect(!store.markEnd(epoch: old) && !store.markEnd(epoch: store.epoch))
    }

    @Test func `a reader who found nothing is rung once`() throws {
        let (store, bell) = try store()
        func rings() throws -> Bool {
            var descriptors = [PollDescriptor(fd: bell.rawValue, interest: .readable)]
            defer { bell.drain() }
            return try pollDescriptors(&descriptors, until: .distantPast) == 1
        }
        #expect(insert(store, 1, value: 1, at: 0))
        #expect(try !rings())
        store.ringWhenFilled()
        #expect(insert(store, 1, value: 1, at: 1))
        #expect(try rings())
        #expect(insert(store, 1, value: 1, at: 2))
        #expect(try !rings())
        store.ringWhenFilled()
        store.markEnd(epoch: store.epoch)
        #expect(try rings())
    }

    @Test func `frames of large times are exact`() throws {
        let store = PCMStore(rate: 44100, channelCount: 1, bell: try EventFD())
        for second in [0, 1, 86_400, 10_000_000] as [Int64] {
            #expect(store.frame(atNanoseconds: second * 1_000_000_000) == second * 44100)
            #expect(store.frame(atNanoseconds: second * 1_000_000_000 + 22_676) == second * 44100 + 1)
            #expect(store.frame(atNanoseconds: -second * 1_000_000_000) == -second * 44100)
        }
    }
}

@Suite struct TimeStretcherTests {
    private let rate = 48000
    private func stretch(_ speed: Double, from start: Int64 = 0, seconds: Double, _ film: (Int64) -> Float) -> [Float] {
        var stretcher = TimeStretcher(rate: rate, channelCount: 1)
        stretcher.start(at: start, speed: speed)
        var output = [Float](repeating: 0, count: Int(seconds * Double(rate)))
        // In uneven pieces, as a device asks for them.
        var done = 0, size = 1
        while done < output.count {
            let count = min(size, output.count - done)
            #expect(abs(stretcher.position - (start + Int64(Double(done) * speed))) <= 1)
            let reach = stretcher.reach(count)
            unsafe output.withUnsafeMutableBufferPointer { buffer in
                unsafe stretcher.produce(UnsafeMutableBufferPointer(rebasing: buffer[done..<done + count])) { first, target in
                    for index in target.indices { unsafe target[index] = film(first + Int64(index)) }
                    #expect(first + Int64(target.count) <= reach)
                }
            }
            done += count
            size = size * 7 % 3001 + 1
        }
        return output
    }

    @Test(arguments: [0.25, 0.5, 0.75, 0.9, 1.1, 1.5, 2, 3, 4])
    func `every sound is where the film is, to 15 ms`(speed: Double) {
        // A film that says where it is.
        let output = stretch(speed, from: 480_000, seconds: 1) { Float($0 - 480_000) }
        let worst = output.enumerated().map { abs(Double($1) - Double($0) * speed) / Double(rate) / max(speed, 1) }.max()!
        #expect(worst < 0.015, "\(worst * 1000) ms at \(speed)")
    }

    @Test(arguments: [0.5, 0.75, 1.5, 2, 3], [110.0, 440, 1000])
    func `a tone keeps its pitch and its loudness`(speed: Double, frequency: Double) {
        let output = stretch(speed, seconds: 1) { Float(sin(2 * .pi * frequency * Double($0) / 48000)) * 0.5 }
        let middle = Array(output[4800..<43200])
        let crossings = zip(middle, middle.dropFirst()).filter { $0 < 0 && $1 >= 0 }.count
        #expect(abs(Double(crossings) / 0.8 - frequency) < frequency * 0.02 + 2, "\(Double(crossings) / 0.8) Hz for \(frequency)")
        let level = (middle.reduce(0) { $0 + $1 * $1 } / Float(middle.count)).squareRoot()
        #expect(abs(level - 0.3535) < 0.035, "\(level)")
        #expect(zip(middle, middle.dropFirst()).allSatisfy { abs($0 - $1) < 0.15 }, "no clicks")
    }
}

@Suite struct SampleTests {
    @Test func `16-bit samples pass unchanged, what is too loud is clipped`() {
        for value in stride(from: Int(Int16.min), through: Int(Int16.max), by: 1) {
            if DeviceSamples.int16(Float(value) / 32768) != Int16(value) { Issue.record("\(value)") }
        }
        #expect(DeviceSamples.int16(2) == .max && DeviceSamples.int16(-2) == .min && DeviceSamples.int16(.nan) == 0)
        #expect(DeviceSamples.int32(2) == .max && DeviceSamples.int32(-2) == .min && DeviceSamples.int32(0.5) == 1 << 30)
    }

    @Test func `frames are put into the device's order`() {
        let configuration = DeviceConfiguration(
            rate: 48000, channelCount: 6, sampleFormat: .int16, channelOrder: [0, 1, 4, 5, 2, 3], bufferFrames: 1, periodFrames: 1)
        var samples = DeviceSamples(configuration: configuration, maximumFrames: 2)
        let frame: [Float] = [1, 2, 3, 4, 5, 6].map { $0 / 32768 }
        let out = unsafe (frame + frame).withUnsafeBufferPointer { unsafe samples.convert($0) { unsafe Array($0.bindMemory(to: Int16.self)) } }
        #expect(out == [1, 2, 5, 6, 3, 4, 1, 2, 5, 6, 3, 4])
    }

    @Test func `speaker orders`() {
        #expect(ChannelOrder.permutation(from: ChannelOrder.native(6)!, to: ChannelOrder.customary(6)) == [0, 1, 4, 5, 2, 3])
        #expect(ChannelOrder.permutation(from: ChannelOrder.native(8)!, to: ChannelOrder.customary(8)) == [0, 1, 4, 5, 2, 3, 6, 7])
        #expect(ChannelOrder.permutation(from: ChannelOrder.native(4)!, to: ChannelOrder.customary(4)) == [0, 1, 2, 3])
        #expect(ChannelOrder.permutation(from: ChannelOrder.native(6)!, to: [.frontLeft, .frontRight, .other, .lfe, .center, .rearLeft]) == nil)
        for count in 1...8 { #expect(ChannelOrder.native(count)?.count == count && ChannelOrder.layoutName(count) != nil) }
    }

    /// Sound of two channels, the second at half the first's level, through the limiter in pieces of some frames.
    private static func limited(_ sound: [Float], piece: Int, knowsNext: Bool, factor: Float = 1) -> [Float] {
        var limiter = PeakLimiter(rate: 48_000, channelCount: 2), result: [Float] = []
        let all = sound.flatMap { [$0, $0 / 2] }
        for first in stride(from: 0, to: sound.count, by: piece) {
            let end = min(first + piece, sound.count), next = knowsNext ? all[(2 * end)...].prefix(2 * limiter.reach) : []
            var part = all[(2 * first)..<(2 * end)].map { $0 * factor }
            unsafe part.withUnsafeMutableBufferPointer { part in
                unsafe Array(next).withUnsafeBufferPointer { unsafe limiter.apply(to: part, following: $0, factor: factor) }
            }
            result += part
        }
        return result
    }

    @Test(arguments: ["2048 true", "2048 false", "7 true", "7 false", "1 true", "1 false"])
    func `amplified sound never exceeds full scale, and keeps its shape where what follows is known`(row: String) {
        let words = row.split(separator: " "), piece = Int(words[0])!, knowsNext = words[1] == "true"
        var dice = Dice(seed: 11)
        let noise = (0..<10_000).map { _ in Float.random(in: -1...1, using: &dice) }
        #expect(Self.limited(noise, piece: piece, knowsNext: knowsNext, factor: 2.2).allSatisfy { $0.magnitude <= 1 })
        // A quiet tone, and a jump to a level of 2 in its middle.
        let step = (0..<9600).map { Float($0 == 4800 ? 2 : 0.5) }
        let heard = Self.limited(step, piece: piece, knowsNext: knowsNext), left = stride(from: 0, to: heard.count, by: 2).map { heard[$0] }
        #expect(left[4800] == 1 && heard[2 * 4800 + 1] == 0.5, "both channels by the same factor")
        #expect(left[..<4700].allSatisfy { $0 == 0.5 }, "as it was, before")
        let changes = zip(left, left.dropFirst()).map { ($0 - $1).magnitude }
        if knowsNext { #expect(changes[..<4798].allSatisfy { $0 < 0.006 }, "no click before the peak") }
        #expect(zip(left[4801...], left[4802...]).allSatisfy { $0 <= $1 }, "rising again")
        #expect(left[9599] > 0.27 && left[9599] < 0.5)
    }

    @Test func `the limiter leaves alone what is not too loud`() {
        let tone = (0..<2000).map { Float($0 % 100) / 99 }
        #expect(Self.limited(tone, piece: 512, knowsNext: true) == tone.flatMap { [$0, $0 / 2] })
    }

    @Test func `gain walks in a straight line and leaves full volume alone`() {
        var ramp = GainRamp(rate: 1000, gain: 1), samples: [Float] = Array(repeating: 1, count: 40)
        func apply() { unsafe samples.withUnsafeMutableBufferPointer { unsafe ramp.apply(to: $0, channelCount: 2) } }
        apply()
        #expect(samples.allSatisfy { $0 == 1 })
        ramp.set(0)
        apply()
        #expect(abs(samples[0] - 0.9) < 1e-6 && samples[0] == samples[1] && abs(samples[10] - 0.4) < 1e-6 && samples[18] == 0 && samples[39] == 0)
        samples = Array(repeating: 1, count: 40)
        ramp.set(0.5)
        apply()
        #expect(abs(samples[0] - 0.05) < 1e-6 && samples[39] == 0.5)
        samples = Array(repeating: 1, count: 40)
        ramp.set(1)
        ramp.fadeIn()
        apply()
        #expect(abs(samples[0] - 0.1) < 1e-6 && samples[38] == 1)
    }
}

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
