import Capture
import Foundation
import Media
import PlaySupport
import Reading
import Recording
import SurfacePool
import TestSupport
import Testing

/// Recordings in which each frame's number is read back, for ten minutes with `LAB_FULL=1`.
@Suite("A recording of a camera that numbers its frames", .serialized, .enabled(if: Vivid.isHere, "only in the lab's virtual machine"))
struct GuestLongRecordingTests {
    private static func request(_ rate: Int32) -> CaptureRequest {
        CaptureRequest(code: fourCC("NV12"), size: PixelSize(width: 320, height: 180), rate: Ratio(rate, 1))
    }

    private static func soon() -> HostTime { MonotonicClock.shared.now() + .seconds(60) }

    /// What the digits look like. The background is black, so that they can be told from it.
    private static func timeCode() throws -> VividTimeCode {
        var code = VividTimeCode()
        let output = VideoDataOutput(heldFrames: 2, discardsLateFrames: false)
        let session = CaptureSession(device: try CaptureDevice(path: Vivid.path), request: request(25), outputs: [output])
        try session.start()
        defer { session.stop() }
        var frames = 0
        while !code.isComplete || frames < 12 {
            guard case .frame(let shared) = try #require(output.next(until: soon())) else { continue }
            let frame = shared.copy()
            code.learn(frame, Int(frame.sequence))
            frames += 1
        }
        return code
    }

    /// The numbers of a file's frames.
    private static func numbers(in path: String, _ code: VividTimeCode) throws -> [Int?] {
        let output = try VideoTrackOutput(url: path)
        var numbers: [Int?] = []
        while let frame = try output.nextFrame() { numbers.append(code.number(in: frame)) }
        return numbers
    }

    /// Every frame once, in order, and none missing that was not said to be lost.
    /// - Parameters:
    ///   - rest: Frames at most that the camera made after the last one in the film; nil: nobody knows.
    ///   - restarts: How often the driver was said to have counted anew: on a busy machine vivid repeats a number now and then.
    private static func check(_ numbers: [Int?], _ report: MovieFileReport, rest: Int? = nil, restarts: Int = 0) throws {
        #expect(numbers.count == report.frames && numbers.allSatisfy { $0 != nil }, "\(numbers.count) of \(report.frames)")
        let found = numbers.compactMap(\.self), first = try #require(found.first), last = try #require(found.last)
        let stepsBack = zip(found, found.dropFirst()).count { $0 >= $1 }
        #expect(stepsBack <= restarts, "each once, in order, except where it was said: \(stepsBack), \(restarts)")
        let lost = report.framesDropped.values.reduce(0, +), missing = last - first + 1 - found.count
        #expect(missing <= lost && lost - missing <= rest ?? lost, "\(missing) are missing, \(lost) were lost: \(report.framesDropped)")
    }

    @Test("has every frame once and in order, and its sound is in time at the end")
    func numbered() throws {
        try Loopback.make()
        try Vivid.set("Test Pattern", to: 12)
        defer { try? Vivid.set("Test Pattern", to: 0) }
        let code = try Self.timeCode(), path = NSTemporaryDirectory() + "long-\(UUID().uuidString.prefix(8)).mkv", speaker = try LoopbackSpeaker()
        defer { try? FileManager.default.removeItem(atPath: path) }
        var options = DeviceRecording.Options()
        options.camera = .init(Vivid.path, Self.request(15))
        options.microphone = .init(Loopback.microphone, AudioCaptureRequest(channelCount: 1))
        options.settings.videoCodec = "mjpeg"
        options.settings.audioCodec = "flac"
        let duration = Vivid.rounds(15, full: 600)
        options.settings.maximumDuration = MediaTime(value: Int64(duration), timescale: 1)
        let report = try DeviceRecording(to: path, options: options).run { false }.film, heard = try speaker.stop()
        let rest = Int((Double(duration) - report.time.seconds) * 15) + 3
        try Self.check(try Self.numbers(in: path, code), report, rest: rest)
        let beginning = try #require(report.beginning), samples = try FilmScene.sound(of: path)
        let beeps = BeepDetector().beeps(in: samples), expected = heard.beeps.map { ($0 - beginning).seconds }
        let end = Double(samples.count) / 48_000
        // The last ten.
        let last = expected.filter { (end - 15..<end - 0.3).contains($0) }.compactMap { time in
            beeps.min { abs($0.time - time) < abs($1.time - time) }.map { abs($0.time - time) }
        }.sorted()
        #expect(last.count >= 5 && last[last.count / 2] < 0.020 + heard.jitter, "\(last), \(heard.jitter)")
    }

    @Test("has no gap where the camera's rate changes")
    func rates() throws {
        try Vivid.set("Test Pattern", to: 12)
        defer { try? Vivid.set("Test Pattern", to: 0) }
        let code = try Self.timeCode(), path = NSTemporaryDirectory() + "rates-\(UUID().uuidString.prefix(8)).mkv", movie = MovieFileOutput()
        defer { try? FileManager.default.removeItem(atPath: path) }
        let session = CaptureSession(
            device: try CaptureDevice(path: Vivid.path), request: Self.request(15), outputs: [movie.videoOutput].compactMap(\.self))
        try session.start()
        defer { session.stop() }
        var settings = MovieFileSettings()
        settings.videoCodec = "mjpeg"
        try movie.start(to: path, settings: settings, camera: session.lastFormat)
        for round in 0..<Vivid.rounds(10, full: 100) {
            let before = movie.report?.frames ?? 0
            try #require(Polling.until { movie.report?.frames ?? 0 > before + 3 })
            let wanted = Ratio(round % 2 == 0 ? 25 : 15, 1)
            #expect(try session.setRate(wanted) == wanted)
        }
        movie.stop()
        #expect(movie.waitUntilFinished(until: Self.soon()) == .stopped)
        let restarts = movie.videoOutput?.statistics.restarts ?? 0
        try Self.check(try Self.numbers(in: path, code), try #require(movie.report), restarts: restarts)
        #expect(restarts <= 2, "the stream goes on")
    }
}
