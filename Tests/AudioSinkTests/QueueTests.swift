import Demuxing
import Dispatch
import Foundation
import Media
import SampleQueue
import TestSupport
import Testing

@testable import AudioSink

/// The whole way of sound as a player goes it: file, reader, queue, renderer, ALSA's file device.
@Suite(.serialized) struct AudioQueueTests {
    /// Brings a track's samples to a queue for as long as it asks.
    private final class Feeder: @unchecked Sendable {
        private let reader: AssetReader
        private let queue: SampleQueue
        private let worker = DispatchQueue(label: "feeder")
        let format: AudioFormat

        init(_ path: String, queue: SampleQueue) throws {
            reader = try AssetReader(url: path)
            self.queue = queue
            let track = try #require(reader.tracks.first { $0.kind == .audio })
            guard case .audio(let format) = track.format else { throw CancellationError() }
            self.format = format
            reader.select([track.id])
        }

        func start() {
            queue.requestSamples(whenReadyOn: worker) { [self] in
                while queue.isReadyForMoreSamples {
                    guard let sample = (try? reader.nextSample()) ?? nil else {
                        queue.enqueue(SampleBuffer(content: .marker(.endOfStream)))
                        queue.stopRequestingSamples()
                        return
                    }
                    queue.enqueue(sample)
                }
            }
        }

        /// Stops, and goes on elsewhere after `flush` has been called.
        func seek(to time: MediaTime, _ flush: () -> Void) throws {
            queue.stopRequestingSamples()
            try worker.sync { try reader.seek(to: time) }
            flush()
            start()
        }
    }

    private struct Rig {
        let path: String
        let timebase = Timebase()
        let queue = SampleQueue()
        let feeder: Feeder
        let renderer: AudioRenderer

        init(_ asset: String) throws {
            path = NSTemporaryDirectory() + "audio-queue-\(ProcessInfo.processInfo.processIdentifier)-\(asset).raw"
            feeder = try Feeder(TestAssets.path(asset), queue: queue)
            renderer = try AudioRenderer(format: feeder.format, queue: queue, device: "file:FILE=\(path),FORMAT=raw", timebase: timebase)
            timebase.setSource(renderer.clock)
            feeder.start()
            renderer.start()
            #expect(renderer.waitUntilReady(until: MonotonicClock.shared.now() + .seconds(60)))
        }

        func samples() throws -> [Float] {
            defer { try? FileManager.default.removeItem(atPath: path) }
            return unsafe try Data(contentsOf: URL(fileURLWithPath: path)).withUnsafeBytes { unsafe Array($0.bindMemory(to: Float.self)) }
        }
    }

    @Test(arguments: ["audio-only.m4a", "edit-list.mp4", "audio-only.flac", "short.mp4"])
    func `what ffmpeg decodes is heard, sample for sample`(asset: String) throws {
        let reference = try ffmpegSound(of: asset)
        #expect(try withinAttempts { try differences(from: reference, asset) } == [])
    }

    private func differences(from reference: [Float], _ asset: String) throws -> [String] {
        let rig = try Rig(asset), finished = Monitor(false)
        rig.renderer.onFinish = { finished.change { $0 = true } }
        // Well ahead: on a busy machine threads wake late, and what is late is cut.
        rig.timebase.setRate(1, time: .zero, atHostTime: rig.renderer.clock.now() + .milliseconds(300))
        #expect(finished.wait(until: MonotonicClock.shared.now() + .seconds(60)) { $0 ? true : nil } == true)
        rig.renderer.stop()
        let samples = try rig.samples(), statistics = rig.renderer.statistics
        guard statistics.framesMissing == 0, statistics.underruns == 0, statistics.realignments == 0 else { return ["\(statistics)"] }
        let first = try #require(reference.firstIndex { abs($0) > 0.01 })
        guard let heard = samples.firstIndex(of: reference[first]) else { return ["nothing was heard, \(statistics)"] }
        let begin = heard - first
        guard samples.count >= begin + reference.count else { return ["\(samples.count) samples, \(begin), \(reference.count); \(statistics)"] }
        return samples[max(begin, 0)...].starts(with: reference) ? [] : ["other samples, \(statistics)"]
    }

    /// The frames that were heard, each with the monotonic time at which it was.
    private func heard(_ rig: Rig) throws -> [(time: Double, sample: Double)] {
        let pieces = rig.renderer.pieces, samples = try rig.samples()
        var heard: [(time: Double, sample: Double)] = []
        for piece in pieces {
            let began = Double(piece.began.nanoseconds) / 1e9, first = Int(piece.firstFrame)
            for index in 0..<Int(piece.heard ?? 0) {
                heard.append((time: began + Double(index) / 48000, sample: Double(samples[2 * (first + index)])))
            }
        }
        return heard
    }

    @Test(.measuresTime) func `beeps are heard when the timebase says so, through pause, seek and change of speed`() throws {
        #expect(try withinAttempts { try beeps() } == [])
    }

    private func beeps() throws -> [String] {
        let rig = try Rig("demo.mp4"), timebase = rig.timebase
        var stages: [(name: String, begin: Double, end: Double, mapping: TimebaseMapping)] = []
        func stage(_ name: String, _ seconds: Double) {
            let begin = Double(MonotonicClock.shared.now().nanoseconds) / 1e9
            pause(seconds)
            stages.append((name, begin, Double(MonotonicClock.shared.now().nanoseconds) / 1e9, timebase.mapping))
        }
        timebase.setRate(1, time: .zero, atHostTime: rig.renderer.clock.now() + rig.renderer.startLatency)
        stage("start", 1.5)
        timebase.setRate(0)
        pause(0.2)
        timebase.setRate(1)
        stage("resume", 1)
        try rig.feeder.seek(to: MediaTime(seconds: 5.5)) {
            rig.renderer.flush()
            timebase.setTime(MediaTime(seconds: 5.5))
        }
        stage("seek", 1)
        timebase.setRate(2)
        stage("double speed", 0.8)
        timebase.setRate(0.5)
        stage("half speed", 2.1)
        rig.renderer.stop()

        let heard = try heard(rig)
        var wrong: [String] = []
        for stage in stages {
            let part = heard.filter { $0.time >= stage.begin && $0.time < stage.end }
            guard let first = part.first else {
                wrong.append("\(stage.name): nothing is heard")
                continue
            }
            let beeps = BeepDetector().beeps(in: part.map(\.sample)).filter { $0.level > 0.3 }
            let offsets = beeps.map { beep -> Double in
                let time = HostTime(nanoseconds: Int64((first.time + beep.time) * 1e9))
                let film = stage.mapping.mediaTime(at: time).seconds
                return (film - film.rounded()) / stage.mapping.rate
            }
            if offsets.isEmpty || !offsets.allSatisfy({ abs($0) < 0.02 }) { wrong.append("\(stage.name): \(offsets)") }
        }
        return wrong
    }
}
