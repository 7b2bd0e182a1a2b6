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
}
