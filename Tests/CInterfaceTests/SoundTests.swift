import CScanout
import Foundation
import Media
import TestSupport
import Testing

/// A film's sound through the C interface.
@Suite struct SoundTests {
    /// A film whose sound a program takes; closed with the value.
    @safe private final class Listening: @unchecked Sendable {
        private(set) var player: OpaquePointer?
        private(set) var sound: OpaquePointer?

        init(
            _ path: String = TestAssets.demo, _ delivery: scanout_sound_delivery = SCANOUT_SOUND_EVERYTHING, rate: UInt32 = 0, channels: UInt32 = 0,
            isPlanar: Bool = false, output: scanout_output = SCANOUT_OUTPUT_UNTIMED, hasFrames: Bool = false
        ) throws {
            unsafe sound = SoundTests.sound(delivery, rate: rate, channels: channels, isPlanar: isPlanar).1
            var options = unsafe scanout_options()
            unsafe options.size = UInt32(MemoryLayout<scanout_options>.size)
            unsafe options.output = output.rawValue
            unsafe options.sound = sound
            unsafe options.video_track = hasFrames ? 0 : -1
            let result = unsafe scanout_open(path, &options, &player, nil, 0)
            guard result == SCANOUT_OK else { throw Film.Refusal(result: result, message: "") }
        }

        deinit {
            unsafe scanout_close(player)
            unsafe scanout_sound_close(sound)
        }

        func closeSound() {
            unsafe scanout_sound_close(sound)
            unsafe sound = nil
        }

        /// The next block as the program sees it, `samples` aside.
        func next(_ timeout: Int64 = 60_000_000_000) -> (scanout_result, scanout_sound_block, [Float]) {
            var block = unsafe scanout_sound_block()
            unsafe block.size = UInt32(MemoryLayout<scanout_sound_block>.size)
            let result = unsafe scanout_sound_wait(sound, timeout, &block)
            let samples = unsafe block.samples.map {
                unsafe Array(UnsafeBufferPointer(start: $0, count: Int(block.frame_count * block.channel_count)))
            }
            return unsafe (result, block, samples ?? [])
        }

        /// All samples to the end, and how many blocks did not follow the one before.
        func all() -> (samples: [Float], breaks: Int, end: scanout_result) {
            var samples: [Float] = [], breaks = 0
            while true {
                let (result, block, more) = unsafe next()
                guard result == SCANOUT_OK else { return (samples, breaks, result) }
                samples += more
                if unsafe block.is_discontinuous != 0 { breaks += 1 }
            }
        }
    }

    private static func sound(
        _ delivery: scanout_sound_delivery = SCANOUT_SOUND_EVERYTHING, rate: UInt32 = 0, channels: UInt32 = 0, isPlanar: Bool = false
    ) -> (scanout_result, OpaquePointer?) {
        var options = scanout_sound_options()
        options.size = UInt32(MemoryLayout<scanout_sound_options>.size)
        options.delivery = delivery.rawValue
        options.sample_rate = rate
        options.channel_count = channels
        options.is_planar = isPlanar ? 1 : 0
        var sound: OpaquePointer?
        let result = unsafe scanout_sound_new(&options, &sound)
        return unsafe (result, sound)
    }

    @Test func `the film's own samples come in order, and planar ones are the same`() throws {
        let film = try Listening()
        let whole = film.all()
        #expect(whole.breaks == 1 && whole.end == SCANOUT_END && whole.samples.count > 9 * 48_000 * 2)
        let planar = try Listening(isPlanar: true)
        let (result, block, samples) = unsafe planar.next()
        let count = unsafe Int(block.frame_count)
        #expect(unsafe result == SCANOUT_OK && block.sample_rate == 48_000 && block.channel_count == 2 && block.film_time == 0)
        let mixed = (0..<count * 2).map { (place: Int) -> Float in
            let channel = place % 2
            return samples[channel * count + place / 2]
        }
        #expect(mixed == Array(whole.samples.prefix(count * 2)))
    }

    @Test func `after a seek comes what follows it, and the end again`() throws {
        let film = try Listening(rate: 16_000, channels: 1)
        #expect(film.all().end == SCANOUT_END)
        let serial = unsafe scanout_seek(film.player, 9_500_000_000)
        let (result, block, _) = unsafe film.next()
        #expect(result == SCANOUT_OK && serial > 0)
        #expect(unsafe Int64(block.serial) == serial && block.film_time == 9_500_000_000 && block.is_discontinuous == 1)
        #expect(unsafe block.sample_rate == 16_000 && block.channel_count == 1)
        #expect(film.all().end == SCANOUT_END)
    }

    @Test func `a program that is the device gets sound, and silence while the film stands`() throws {
        let film = try Listening(TestAssets.demo, SCANOUT_SOUND_AS_HEARD, rate: 48_000, channels: 2, output: SCANOUT_OUTPUT_NONE)
        var buffer = [Float](repeating: 9, count: 480 * 2), moment = MonotonicClock.shared.now().nanoseconds, heard: Int64 = 0
        let isHeard = Polling.until {
            heard += unsafe scanout_sound_read(film.sound, &buffer, 480, moment + 20_000_000)
            moment += 10_000_000
            Thread.sleep(forTimeInterval: 0.01)
            return heard > 24_000
        }
        #expect(isHeard)
        var block = unsafe scanout_sound_block()
        unsafe block.size = UInt32(MemoryLayout<scanout_sound_block>.size)
        #expect(unsafe scanout_sound_wait(film.sound, 0, &block) == SCANOUT_ERROR_ARGUMENT)
        unsafe scanout_pause(film.player)
        let isSilent = Polling.until {
            let count = unsafe scanout_sound_read(film.sound, &buffer, 480, MonotonicClock.shared.now().nanoseconds)
            Thread.sleep(forTimeInterval: 0.01)
            return count == 0 && buffer.allSatisfy { $0 == 0 }
        }
        #expect(isSilent)
    }

    @Test func `a film ends well whose sound is not taken any more`() throws {
        let film = try Listening(hasFrames: true)
        #expect(unsafe film.next().0 == SCANOUT_OK)
        film.closeSound()
        // In silence.
        var event = scanout_event()
        event.size = UInt32(MemoryLayout<scanout_event>.size)
        var kinds: [UInt32] = []
        while unsafe scanout_next_event(film.player, 60_000_000_000, &event) == SCANOUT_OK, event.kind != SCANOUT_EVENT_ENDED.rawValue,
            event.kind != SCANOUT_EVENT_FAILED.rawValue
        { kinds.append(event.kind) }
        #expect(event.kind == SCANOUT_EVENT_ENDED.rawValue && kinds.contains(SCANOUT_EVENT_NOTICE.rawValue), "\(kinds) \(event.kind)")
    }

    @Test func `a film that cannot be opened, or has no sound, ends every wait; one film is served at a time`() throws {
        let sound = unsafe Self.sound().1
        var options = unsafe scanout_options(), player: OpaquePointer?, block = unsafe scanout_sound_block()
        unsafe options.size = UInt32(MemoryLayout<scanout_options>.size)
        unsafe block.size = UInt32(MemoryLayout<scanout_sound_block>.size)
        unsafe options.sound = sound
        unsafe options.output = SCANOUT_OUTPUT_UNTIMED.rawValue
        for (film, opensAsync) in [("/there/is/none.mp4", UInt32(1)), (TestAssets.path("plain.mp4"), 0)] {
            unsafe options.opens_async = opensAsync
            #expect(unsafe scanout_open(film, &options, &player, nil, 0) == SCANOUT_OK)
            #expect(unsafe scanout_sound_wait(sound, 60_000_000_000, &block) == SCANOUT_END, "\(film)")
            unsafe scanout_close(player)
        }
        unsafe options.opens_async = 0
        var second: OpaquePointer?
        #expect(unsafe scanout_open(TestAssets.demo, &options, &player, nil, 0) == SCANOUT_OK)
        #expect(unsafe scanout_open(TestAssets.demo, &options, &second, nil, 0) == SCANOUT_ERROR_ARGUMENT)
        #expect(unsafe scanout_sound_wait(sound, 60_000_000_000, &block) == SCANOUT_OK)
        unsafe scanout_close(player)
        unsafe scanout_sound_close(sound)
    }

    @Test func `shapes and handles that make no sense are refused`() {
        #expect(unsafe Self.sound(SCANOUT_SOUND_AS_HEARD).0 == SCANOUT_ERROR_ARGUMENT)
        #expect(unsafe Self.sound(SCANOUT_SOUND_AS_HEARD, rate: 48_000).0 == SCANOUT_ERROR_ARGUMENT)
        #expect(unsafe Self.sound(rate: 4_000_000).0 == SCANOUT_ERROR_ARGUMENT)
        #expect(unsafe Self.sound(channels: 65).0 == SCANOUT_ERROR_ARGUMENT)
        #expect(unsafe Self.sound(scanout_sound_delivery(rawValue: 2)).0 == SCANOUT_ERROR_ARGUMENT)
        #expect(scanout_sound_new(nil, nil) == SCANOUT_ERROR_ARGUMENT)
        #expect(scanout_sound_wait(nil, 0, nil) == SCANOUT_ERROR_ARGUMENT)
        #expect(scanout_sound_read(nil, nil, 0, 0) == Int64(SCANOUT_ERROR_ARGUMENT.rawValue))
        scanout_sound_close(nil)
        let (result, sound) = unsafe Self.sound()
        var sample: Float = 0
        #expect(result == SCANOUT_OK)
        #expect(unsafe scanout_sound_read(sound, &sample, 1, 0) == Int64(SCANOUT_ERROR_ARGUMENT.rawValue))
        #expect(unsafe scanout_sound_wait(sound, 0, nil) == SCANOUT_ERROR_ARGUMENT)
        var block = unsafe scanout_sound_block()
        unsafe block.size = UInt32(MemoryLayout<scanout_sound_block>.size)
        #expect(unsafe scanout_sound_wait(sound, 1_000_000, &block) == SCANOUT_NOTHING)
        unsafe scanout_sound_close(sound)
    }
}
