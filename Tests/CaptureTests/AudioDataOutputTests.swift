import Capture
import Media
import TestSupport
import Testing

@Suite("What a program gets of a microphone") struct AudioDataOutputTests {
    private static func block(_ number: UInt64, _ count: Int) -> AudioCaptureBlock {
        AudioCaptureBlock(
            samples: [Float](repeating: 0, count: count), sampleRate: 1000, channelCount: 1, number: number,
            time: HostTime(nanoseconds: Int64(number) * 1_000_000))
    }

    @Test("is the newest sound when it comes too late, and a report of the rest")
    func late() {
        var state = SoundDeliveryState()
        state.begin(room: 100)
        for number in 0..<6 { state.add(Self.block(UInt64(number) * 40, 40)) }
        #expect(state.statistics.waiting == 80 && state.statistics.lost == [.late: 160] && state.statistics.counted == 240)
        let loss = AudioCaptureLoss(.late, count: 160, first: 0, time: HostTime(nanoseconds: 160_000_000))
        #expect(state.pull() == .lost(loss))
        #expect(state.pull() == .block(Self.block(160, 40)))
        state.finish(nil)
        state.finish(CaptureError(.failed, "too late"))
        #expect(state.pull() == .block(Self.block(200, 40)))
        #expect(state.pull() == .ended(nil) && state.pull() == .ended(nil))
        #expect(state.statistics.delivered == 80 && state.statistics.waiting == 0)
    }

    @Test("is one block even where that is longer than there is room for")
    func long() {
        var state = SoundDeliveryState()
        state.begin(room: 10)
        state.add(Self.block(0, 40))
        #expect(state.statistics.waiting == 40)
        state.add(Self.block(40, 40))
        #expect(state.statistics.waiting == 40 && state.statistics.lost == [.late: 40])
    }

    @Test("does not come through a connection that is switched off, and is told when it is on again")
    func switchedOff() {
        var state = SoundDeliveryState()
        state.begin(room: 1000)
        func loss(_ count: Int, _ first: UInt64) -> AudioCaptureDelivery {
            .lost(AudioCaptureLoss(.switchedOff, count: count, first: first, time: HostTime(nanoseconds: Int64(Int(first) + count) * 1_000_000)))
        }
        state.add(Self.block(0, 40))
        state.enable(false)
        state.add(Self.block(40, 40))
        state.add(Self.block(80, 20))
        #expect(state.pull() == loss(40, 0) && state.pull() == nil)
        state.enable(true)
        state.add(Self.block(100, 40))
        #expect(state.pull() == loss(60, 40) && state.pull() == .block(Self.block(100, 40)))
        #expect(state.statistics.lost == [.switchedOff: 100] && state.statistics.counted == 140)
    }

    /// A microphone that follows a script.
    private final class Script: MicrophoneSource {
        enum Turn {
            /// Frames are there, of which the first was captured at this time in ms.
            case sound(Int, Int64)
            case stopped
            case stopsWhileRead
            case unplugged
        }

        let format = AudioCaptureFormat(sampleRate: 1000, channelCount: 1, sampleFormat: .int16)
        private var turns: [Turn]
        private(set) var starts = 0, closes = 0

        init(_ turns: [Turn]) { self.turns = turns }

        func start() { starts += 1 }
        func close() { closes += 1 }
        func wait(_ bell: EventFD, until deadline: HostTime) {}

        func position() throws(CaptureError) -> MicrophonePosition {
            let zero = HostTime(nanoseconds: 0)
            switch turns.first {
            case .sound(let count, let time):
                let stamp = HostTime(nanoseconds: (time + Int64(count)) * 1_000_000)
                return MicrophonePosition(available: count, delay: count, stamp: stamp, arrival: stamp)
            case .stopsWhileRead: return MicrophonePosition(available: 5, delay: 5, stamp: zero, arrival: zero)
            case .stopped:
                turns.removeFirst()
                return MicrophonePosition(isRunning: false, stamp: zero, arrival: zero)
            case .unplugged, nil: throw CaptureError.microphone("script", -19, "ask", isOpen: true)
            }
        }

        func read(_ count: Int) -> [Float]? {
            guard case .sound = turns.removeFirst() else { return nil }
            return [Float](repeating: 0.5, count: count)
        }
    }

    @Test("has numbers that go on over an overrun, whose length is told, and ends with the device", arguments: [true, false])
    func overrun(whileRead: Bool) throws {
        let script = Script([.sound(20, 100), .sound(20, 120), whileRead ? .stopsWhileRead : .stopped, .sound(20, 440), .unplugged])
        let output = AudioDataOutput(), run = AudioCaptureRun(script, outputs: [output])
        let error = run.run(try EventFD()) { false }
        run.finish(error)
        var told: [String] = []
        while let delivery = output.next(until: HostTime.distantPast) {
            switch delivery {
            case .block(let block): told.append("\(block.frameCount) from \(block.number) at \(block.time.nanoseconds / 1_000_000)")
            case .lost(let loss): told.append("\(loss.reason) \(loss.count) from \(loss.first) to \(loss.time.nanoseconds / 1_000_000)")
            case .ended(let error): told.append(error?.description ?? "")
            }
            if case .ended = delivery { break }
        }
        #expect(
            told == [
                "20 from 0 at 100", "20 from 20 at 120", "overrun 300 from 40 to 440", "20 from 340 at 440",
                "script: the microphone has been unplugged.",
            ])
        #expect(script.starts == 1 && script.closes == 1)
        #expect(output.statistics.overruns == 1 && output.statistics.lost == [.overrun: 300])
    }
}
