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

    /// What is recorded with sound: more than the virtual machine can draw in time.
    private static let rate: Int32 = 30

    private static func soon() -> HostTime { MonotonicClock.shared.now() + .seconds(60) }

    /// What the digits look like. The background is black, so that they can be told from it.
    ///
    /// A frame's number is what vivid draws as long as vivid began with 0 and has repeated none. What was learnt is tried on as many frames more.
    private static func timeCode() throws -> VividTimeCode {
        for _ in 0..<20 {
            let output = VideoDataOutput(heldFrames: 2, discardsLateFrames: false)
            let session = CaptureSession(device: try CaptureDevice(path: Vivid.path), request: request(25), outputs: [output])
            try session.start()
            defer { session.stop() }
            var code = VividTimeCode(), frames = 0, isRight = true
            while frames < 24 || !code.isComplete && frames < 60 {
                guard case .frame(let shared) = try #require(output.next(until: soon())) else { continue }
                let frame = shared.copy(), number = Int(frame.sequence)
                if frames < 12 || !code.isComplete { code.learn(frame, number) } else { isRight = isRight && code.number(in: frame) == number }
                frames += 1
            }
            if isRight, code.isComplete, output.statistics.repeated == 0 { return code }
        }
        throw CaptureError(.failed, "the digits could not be learnt: the machine is too busy")
    }

    /// The numbers of a file's frames.
    private static func numbers(in path: String, _ code: VividTimeCode) throws -> [Int?] {
        let output = try VideoTrackOutput(url: path)
        var numbers: [Int?] = []
        while let frame = try output.nextFrame() { numbers.append(code.number(in: frame)) }
        return numbers
    }

    /// Every frame once, in order, and none missing that was not said to be lost.
    ///
    /// A number may stand in the film as often as vivid drew it: where it needs more than half of a frame's time for that it repeats numbers.
    /// - Parameters:
    ///   - repeated: Frames of which the camera said that they have the number of the one before, those before and after the film too.
    private static func check(_ numbers: [Int?], _ report: MovieFileReport, repeated: Int) throws {
        #expect(numbers.count == report.frames && numbers.allSatisfy { $0 != nil }, "\(numbers.count) of \(report.frames)")
        let found = numbers.compactMap(\.self), first = try #require(found.first), last = try #require(found.last)
        let steps = zip(found, found.dropFirst()).map { $1 - $0 }, twice = steps.count { $0 == 0 }
        #expect(steps.allSatisfy { $0 >= 0 } && twice <= repeated, "in order, each as often as it was drawn: \(twice), \(repeated)")
        let lost = report.framesDropped.values.reduce(0, +), missing = last - first + 1 + twice - found.count
        #expect(missing == lost, "\(missing) are missing, \(lost) were lost: \(report.framesDropped)")
        // For the one who measures: nothing else says how hard the run was.
        print("\(first)...\(last): \(found.count) frames, \(twice) of them repeated, \(missing) missing; said to be lost: \(report.framesDropped)")
    }

    @Test("has every frame once and in order, and its sound is in time at the end")
    func numbered() throws {
        try Loopback.make()
        try Vivid.set("Test Pattern", to: 12)
        defer { try? Vivid.set("Test Pattern", to: 0) }
        let code = try Self.timeCode(), path = NSTemporaryDirectory() + "long-\(UUID().uuidString.prefix(8)).mkv", speaker = try LoopbackSpeaker()
        defer { try? FileManager.default.removeItem(atPath: path) }
        var options = DeviceRecording.Options()
        options.camera = .init(Vivid.path, Self.request(Self.rate))
        options.microphone = .init(Loopback.microphone, AudioCaptureRequest(channelCount: 1))
        options.settings.videoCodec = "mjpeg"
        options.settings.audioCodec = "flac"
        let duration = Vivid.rounds(15, full: 600)
        options.settings.maximumDuration = MediaTime(value: Int64(duration), timescale: 1)
        let recording = try DeviceRecording(to: path, options: options)
        let report = try recording.run { false }.film, heard = try speaker.stop()
        let statistics = try #require(recording.movie.videoOutput?.statistics)
        print(statistics)
        try Self.check(try Self.numbers(in: path, code), report, repeated: statistics.repeated)
        let beginning = try #require(report.beginning), samples = try FilmScene.sound(of: path)
        let beeps = BeepDetector().beeps(in: samples), expected = heard.beeps.map { ($0 - beginning).seconds }
        let end = Double(samples.count) / 48_000
        // The last ten.
        let last = expected.filter { (end - 15..<end - 0.3).contains($0) }.compactMap { time in
            beeps.min { abs($0.time - time) < abs($1.time - time) }.map { abs($0.time - time) }
        }.sorted()
        #expect(last.count >= 5 && last[last.count / 2] < 0.020 + heard.jitter, "\(last), \(heard.jitter)")
        print("sound at the end: \(last) s off, heard within \(heard.jitter) s; \(report.soundLost) lost")
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
        let statistics = try #require(movie.videoOutput?.statistics)
        try Self.check(try Self.numbers(in: path, code), try #require(movie.report), repeated: statistics.repeated)
        #expect(statistics.restarts == 0, "the stream goes on")
    }
}
