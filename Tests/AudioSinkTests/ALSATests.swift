import Foundation
import Media
import TestSupport
import Testing

@testable import AudioSink

/// ALSA itself, through its `file` and `null` plugins, which need no hardware and take frames as fast as they come.
@Suite(.serialized) struct ALSATests {
    private func temporary(_ name: String) -> String { NSTemporaryDirectory() + "audio-sink-\(ProcessInfo.processInfo.processIdentifier)-\(name)" }

    /// Plays a file from `start` seconds on for `seconds`, and on until the device has got as many samples as `reference` has, from its first sound
    /// on, and no more come; what it got, as floats.
    private func record(_ asset: String, seconds: Double, from start: Double = 0, until reference: [Float] = []) throws -> (
        samples: [Float], statistics: AudioStatistics, clockError: Double
    ) {
        let path = temporary(asset + ".raw"), timebase = Timebase()
        defer { try? FileManager.default.removeItem(atPath: path) }
        let sound = FileSound(TestAssets.path(asset))
        let renderer = try AudioRenderer(format: sound.format, source: sound, deviceName: "file:FILE=\(path),FORMAT=raw", timebase: timebase)
        timebase.setSource(renderer.clock)
        renderer.start()
        #expect(renderer.waitUntilReady(until: MonotonicClock.shared.now() + .seconds(60)))
        // What comes too late for its time is not played: a second lets a busy machine be in time.
        let lead = reference.isEmpty ? HostSpan.milliseconds(300) : .seconds(1), begin = renderer.clock.now() + lead
        timebase.setRate(1, time: MediaTime(seconds: start), atHostTime: begin)
        pause(seconds + lead.seconds - 0.3)
        // Read several times: a busy machine may pause this thread between the two clocks.
        let errors = (0..<5).map { _ in timebase.time.seconds - start - (MonotonicClock.shared.now() - begin).seconds }
        let clockError = errors.min { abs($0) < abs($1) } ?? 0
        // A machine that has other things to do is late with the sound, but every sample comes.
        var written = 0, quietSince = MonotonicClock.shared.now()
        let limit = quietSince + .seconds(60)
        while !reference.isEmpty, MonotonicClock.shared.now() < limit {
            let samples = try recorded(path)
            if samples.count != written { (written, quietSince) = (samples.count, MonotonicClock.shared.now()) }
            let begin = Self.begin(of: reference, in: samples) ?? .max / 2, quiet = MonotonicClock.shared.now() - quietSince
            if quiet > .seconds(samples.count >= begin + reference.count ? 1 : 5) { break }
            pause(0.05)
        }
        renderer.stop()
        return (try recorded(path), renderer.statistics, clockError)
    }

    private func recorded(_ path: String) throws -> [Float] {
        let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        return unsafe bytes.withUnsafeBytes { unsafe Array($0.bindMemory(to: Float.self)) }
    }

    /// Where in `samples` the first one of `reference` must be, judging by the first that is no silence; nil where that has not come.
    private static func begin(of reference: [Float], in samples: [Float]) -> Int? {
        guard let first = reference.firstIndex(where: { $0 != 0 }) else { return nil }
        return samples.firstIndex { $0 == reference[first] }.map { $0 - first }
    }

    @Test(arguments: ["audio-only.flac", "audio-only.m4a"])
    func `the device gets what ffmpeg decodes, sample for sample, padding cut`(asset: String) throws {
        let reference = try ffmpegSound(of: asset)
        // On a busy machine sound may come too late, and is left out then.
        let faults = try withinAttempts {
            let (samples, statistics, clockError) = try record(asset, seconds: Double(reference.count) / 96000 + 0.7, until: reference)
            #expect(!statistics.isPacedByDevice && statistics.sampleFormat == "float32")
            #expect(abs(clockError) < 0.002, "the host keeps the time: \(clockError)")
            guard let begin = Self.begin(of: reference, in: samples) else { return ["the beginning was left out"] }
            #expect(begin >= 0 && begin % 2 == 0)
            guard samples.count >= begin + reference.count else { return ["\(samples.count) \(begin) \(reference.count)"] }
            let differing = zip(samples[begin...], reference).filter { $0 != $1 }.count
            // Padding at the end is cut as well: behind the sound there is nothing.
            let isCut = samples[(begin + reference.count)...].allSatisfy { $0 == 0 }
            return differing == 0 && isCut ? [] : ["\(differing) samples differ, padding is cut: \(isCut)"]
        }
        #expect(faults == [])
    }

    @Test(.measuresTime) func `beeps are where the film has them`() throws {
        let wrong = try withinAttempts {
            let (samples, _, _) = try record("demo.mp4", seconds: 2.6, from: 0.5)
            let left = stride(from: 0, to: samples.count, by: 2).map { Double(samples[$0]) }
            let beeps = BeepDetector(sampleRate: 48000).beeps(in: left).filter { $0.level > 0.3 }
            guard beeps.count >= 2 else { return ["\(beeps.count) beeps"] }
            // A beep a second: the first in the recording is at 1 s, half a second after the lead-in. Sound that came late leaves a gap.
            let distance = beeps[1].time - beeps[0].time
            return abs(distance - 1) < 0.001 ? [] : ["beeps \(distance) s apart"]
        }
        #expect(wrong == [])
    }

    @Test(.measuresTime) func `null swallows, and the film keeps its time`() throws {
        let sound = FileSound(TestAssets.path("demo.mp4")), timebase = Timebase()
        let renderer = try AudioRenderer(format: sound.format, source: sound, deviceName: "null", timebase: timebase)
        timebase.setSource(renderer.clock)
        renderer.start()
        #expect(renderer.waitUntilReady(until: MonotonicClock.shared.now() + .seconds(60)))
        let begin = MonotonicClock.shared.now()
        timebase.setRate(1)
        pause(1)
        #expect((0..<5).contains { _ in abs(timebase.time.seconds - (MonotonicClock.shared.now() - begin).seconds) < 0.002 })
        let statistics = renderer.statistics
        #expect(!statistics.isPacedByDevice && statistics.device == "null")
        // About a second and the 200 ms ahead, not all ten seconds of the film.
        #expect(statistics.framesPlayed > 40_000 && statistics.framesPlayed < 80_000)
        renderer.stop()
    }

    /// In a process of its own: threads and descriptors are a process's.
    @Test func `renderers come and go without leaving a thread or a descriptor`() async {
        await #expect(processExitsWith: .success) {
            func count(_ directory: String) -> Int { (try? FileManager.default.contentsOfDirectory(atPath: directory).count) ?? 0 }
            func playOnce() throws {
                let sound = FileSound(TestAssets.path("short.mp4")), timebase = Timebase()
                let renderer = try AudioRenderer(format: sound.format, source: sound, deviceName: "null", timebase: timebase)
                timebase.setRate(1)
                renderer.start()
                _ = renderer.waitUntilReady(until: nil)
                renderer.stop()
            }
            for _ in 0..<3 { try playOnce() }
            let before = (threads: count("/proc/self/task"), descriptors: OpenDescriptors.count)
            for _ in 0..<30 { try playOnce() }
            let after = (threads: count("/proc/self/task"), descriptors: OpenDescriptors.count)
            // Dispatch keeps some threads for a while.
            precondition(after.threads <= before.threads + 4 && after.descriptors <= before.descriptors, "\(before) became \(after)")
        }
    }
}
