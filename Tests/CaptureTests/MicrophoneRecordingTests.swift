import Capture
import Demuxing
import Foundation
import Media
import PlaySupport
import Reading
import Recording
import TestSupport
import Testing
import Writing

/// ALSA's `null`, which gives silence as fast as it is read, as a microphone.
@Suite("A recording of sound alone", .serialized) struct MicrophoneRecordingTests {
    private static func path(_ ending: String) -> String { NSTemporaryDirectory() + "sound-\(UUID().uuidString.prefix(8)).\(ending)" }

    @Test(
        "has the codec of its container, and ends to the sample",
        arguments: [
            ("mp4", nil, true, "aac"), ("mp4", nil, false, "aac"), ("mov", nil, false, "aac"), ("webm", nil, true, "opus"),
            ("mkv", "flac", true, "flac"),
            ("ts", nil, false, "aac"),
        ] as [(String, String?, Bool, String)])
    func containers(ending: String, wanted: String?, isFragmented: Bool, codec: String) throws {
        let path = Self.path(ending)
        defer { try? FileManager.default.removeItem(atPath: path) }
        var options = DeviceRecording.Options()
        options.microphone = .init("null", AudioCaptureRequest())
        options.settings.audioCodec = wanted
        options.settings.maximumDuration = MediaTime(value: 3, timescale: 2)
        options.settings.writer.isFragmented = isFragmented
        let report = try DeviceRecording(to: path, options: options).run { false }
        #expect(report.film.time == MediaTime(value: 3, timescale: 2) && report.film.beginning != nil && report.end == .maximumDuration)
        let output = try AudioTrackOutput(url: path, sampleRate: 48_000)
        guard case .audio(let format) = output.track.format else { return #expect(Bool(false), "there is no sound") }
        #expect(format.codecName == codec && format.channelCount == 2)
        var count = 0
        while let buffer = try output.nextBuffer() { count += buffer.frameCount }
        // Where a container cannot say what is padding, there is up to a stretch of the encoder's more at both ends.
        let isExact = ending == "mkv" || ending == "webm" || (!isFragmented && ending != "ts")
        #expect(isExact ? count == 72_000 : (72_000...72_000 + 2048).contains(count), "\(count)")
    }

    @Test("that ends when it is told to has what was captured until then")
    func told() throws {
        let path = Self.path("mkv")
        defer { try? FileManager.default.removeItem(atPath: path) }
        var options = DeviceRecording.Options(), turns = 0
        options.microphone = .init("null", AudioCaptureRequest())
        options.settings.audioCodec = "flac"
        let report = try DeviceRecording(to: path, options: options).run {
            turns += 1
            return turns > 20
        }
        var count = 0
        let output = try AudioTrackOutput(url: path)
        while let buffer = try output.nextBuffer() { count += buffer.frameCount }
        #expect(MediaTime(value: Int64(count), timescale: 48_000) == report.film.time && report.end == .stopped)
    }

    /// A microphone that clicks every half second, and is not read for a while.
    private final class Clicks: MicrophoneSource {
        let format = AudioCaptureFormat(sampleRate: 48_000, channelCount: 1, sampleFormat: .int16)
        /// The next frame that the converter makes into a block, and the frames that are lost.
        private var next = 0
        private let lost: Range<Int>
        private let end: Int
        private static let block = 960

        init(losing lost: Range<Int>, of end: Int) {
            self.lost = lost
            self.end = end
        }

        func start() {}
        func close() {}
        func wait(_ bell: EventFD, until deadline: HostTime) {}

        func position() throws(CaptureError) -> MicrophonePosition {
            if next >= end { throw CaptureError.microphone("clicks", -19, "ask", isOpen: true) }
            let isOverrun = next == lost.lowerBound
            if isOverrun { next = lost.upperBound }
            let stamp = HostTime(nanoseconds: 1_000_000_000) + .seconds(Double(next + Self.block) / 48_000)
            return MicrophonePosition(
                isRunning: !isOverrun, available: Self.block, delay: Self.block, stamp: stamp, arrival: stamp)
        }

        func read(_ count: Int) -> [Float]? {
            defer { next += Self.block }
            return (next..<next + Self.block).map { $0 % 24_000 == 4_800 ? 0.5 : 0 }
        }
    }

    @Test("that was not read for a while has silence there, and what follows is in its place to the sample", arguments: [96_000, 25_920, 960])
    func overrun(lost: Int) throws {
        let path = Self.path("mkv"), first = 96_000
        defer { try? FileManager.default.removeItem(atPath: path) }
        let movie = MovieFileOutput(recordsVideo: false, recordsSound: true)
        let microphone = Clicks(losing: first..<first + lost, of: 288_000)
        let run = AudioCaptureRun(microphone, outputs: [try #require(movie.audioOutput)])
        var settings = MovieFileSettings()
        settings.audioCodec = "flac"
        try movie.start(to: path, settings: settings, microphone: microphone.format)
        run.finish(run.run(try EventFD()) { false })
        guard case .device = try #require(movie.waitUntilFinished()) else { return #expect(Bool(false), "\(movie.report.debugDescription)") }
        #expect(movie.report?.soundLost == [.overrun: lost])
        let output = try AudioTrackOutput(url: path, sampleRate: 48_000)
        var samples: [Float] = []
        while let buffer = try output.nextBuffer() {
            #expect(buffer.position == samples.count, "no gap in the file")
            samples += stride(from: 0, to: buffer.samples.count, by: buffer.channelCount).map { buffer.samples[$0] }
        }
        let expected = stride(from: 4_800, to: 288_000, by: 24_000).filter { !(first..<first + lost).contains($0) }
        #expect(samples.indices.filter { samples[$0] > 0.25 } == expected && samples.count == 288_000)
    }
}
