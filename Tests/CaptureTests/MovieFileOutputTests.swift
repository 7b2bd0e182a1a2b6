import Capture
import Demuxing
import Encoding
import Foundation
import Media
import PlaySupport
import Player
import Reading
import Recording
import SurfacePool
import TestSupport
import Testing
import Writing

/// Frames and sound of a known scene, through encoders and containers, read back out of the file.
@Suite("A recording", .serialized) struct MovieFileOutputTests {
    private static func path(_ ending: String) -> String { NSTemporaryDirectory() + "movie-\(UUID().uuidString.prefix(8)).\(ending)" }

    /// A limit that only a hang reaches.
    private static func soon() -> HostTime { MonotonicClock.shared.now() + .seconds(120) }

    /// What a recording tells, in order.
    private final class Told: Sendable {
        private let lines = Monitor<[String]>([])

        func add(_ event: MovieFileEvent) {
            func ms(_ time: MediaTime) -> Int64 { (time.nanoseconds() ?? -1) / 1_000_000 }
            let line =
                switch event {
                case .started: "started"
                case .paused(let time): "paused \(ms(time))"
                case .resumed(let time): "resumed \(ms(time))"
                case .finished(let report, let end): "finished \(report.frames) \(end)"
                }
            lines.change { $0.append(line) }
        }

        /// All lines, when the last one is there.
        func all() -> [String] {
            lines.wait(until: MovieFileOutputTests.soon()) { $0.last?.hasPrefix("finished") == true ? $0 : nil } ?? lines.withLock { $0 }
        }
    }

    @Test(
        "is paused and resumed without a jump: each frame and each beep is at its time",
        arguments: [("mp4", "h264", "aac"), ("mkv", "h264", "flac")])
    func pauses(ending: String, video: String, audio: String) throws {
        let path = Self.path(ending), scene = FilmScene(), told = Told()
        defer { try? FileManager.default.removeItem(atPath: path) }
        let movie = MovieFileOutput(recordsSound: true) { told.add($0) }
        var settings = MovieFileSettings()
        settings.videoCodec = video
        settings.audioCodec = audio
        scene.begin(movie)
        try movie.start(to: path, settings: settings, camera: scene.format, microphone: scene.soundFormat)
        #expect(movie.isRecording)
        #expect(throws: ExportError.self, "one file at a time") {
            try movie.start(to: path + "2", camera: scene.format, microphone: scene.soundFormat)
        }
        // The film begins in the middle of a second. Pauses begin and end between two frames, one of them within a single frame's time.
        var expected: [Int] = [], next = 10
        for (pause, resume) in [(2.013, 4.59), (5.61, 5.63), (6.25, 7.001), (8.5, 9.2)] {
            let first = Int((pause * 25).rounded(.up)), last = Int((resume * 25).rounded(.up))
            try scene.play(next..<first, to: movie)
            expected += Array(next..<first)
            movie.pause { scene.at(pause) }
            try scene.play(first..<last, to: movie)
            movie.resume { scene.at(resume) }
            next = last
        }
        try scene.play(next..<270, to: movie)
        expected += Array(next..<270)
        let isTaken = Polling.until(within: .seconds(120)) { movie.report?.frames ?? 0 >= expected.count }
        movie.stop { scene.at(10.8) }
        #expect(isTaken && movie.waitUntilFinished(until: Self.soon()) == .stopped)
        #expect(
            told.all() == [
                "started", "paused 1640", "resumed 1640", "paused 2680", "resumed 2680", "paused 3320", "resumed 3320", "paused 4800", "resumed 4800",
                "finished \(expected.count) stopped",
            ])
        let frames = try FilmScene.frames(of: path)
        // What an encoder of sound puts before its beginning moves the whole film where a file has no edit list.
        let lead = try #require(frames.first).time.seconds
        #expect(frames.count == expected.count && lead < 0.03)
        for (index, (frame, number)) in zip(frames, expected).enumerated() {
            #expect(abs(frame.time.seconds - lead - Double(index) / 25) < 0.001, "frame \(number) is at \(frame.time)")
            #expect(abs(frame.luma - Int(FilmScene.luma(number))) <= 3, "frame \(number) at \(frame.time) is another")
        }
        let sound = try FilmScene.sound(of: path), beeps = BeepDetector().beeps(in: sound)
        // A beep with each white frame, except where the pause cut it off.
        let white = expected.enumerated().filter { $0.element % 25 == 0 }.map { Double($0.offset) / 25 + lead }
        #expect(white.count >= 5)
        for time in white {
            let nearest = try #require(beeps.min { abs($0.time - time) < abs($1.time - time) }, "no beep at all")
            #expect(abs(nearest.time - time) < 0.004, "the beep of \(time) is at \(nearest.time)")
        }
        // 1920 samples a frame; a container may keep a stretch of the encoder's more.
        let surplus = sound.count - expected.count * 1920
        #expect(abs(surplus) < 2400, "\(surplus)")
        let report = try #require(movie.report)
        #expect(!movie.isRecording && report.pauses == 4 && report.framesDropped.isEmpty && report.soundLost.isEmpty)
    }

    @Test("goes on where a frame is said to be no later than the one before", arguments: ["mp4", "mkv"])
    func repeatedTime(ending: String) throws {
        let path = Self.path(ending), scene = FilmScene()
        defer { try? FileManager.default.removeItem(atPath: path) }
        let movie = MovieFileOutput()
        var settings = MovieFileSettings()
        settings.videoCodec = "mjpeg"
        try movie.start(to: path, settings: settings, camera: scene.format)
        for part in [0..<10, 9..<10, 8..<10, 10..<14] { try scene.play(part, to: movie) }
        #expect(Polling.until(within: .seconds(120)) { movie.report?.frames ?? 0 >= 17 || !movie.isRecording })
        movie.stop { scene.at(1) }
        #expect(movie.waitUntilFinished(until: Self.soon()) == .stopped)
        let times = try FilmScene.frames(of: path).map(\.time)
        #expect(times.count == 17 && zip(times, times.dropFirst()).allSatisfy(<), "\(times.map(\.seconds))")
    }

    @Test("says why software encodes where a device is preferred, and is refused, without a file, where one is required")
    func hardware() throws {
        let path = Self.path("mkv"), scene = FilmScene(), reason = "no hardware encoder for h264: cannot open /nowhere/renderD128: "
        defer { try? FileManager.default.removeItem(atPath: path) }
        var settings = MovieFileSettings()
        (settings.hardware, settings.device) = (.require, "/nowhere/renderD128")
        let required = MovieFileOutput()
        let refusal = #expect(throws: ExportError.self) { try required.start(to: path, settings: settings, camera: scene.format) }
        let sentence = refusal?.description ?? ""
        #expect(sentence.contains(reason) && sentence.hasSuffix(".") && !sentence.contains("\n"), "\(sentence)")
        // As `play record` ends then.
        #expect(refusal.map { ExitCode(PlayerError($0)) } == .data)
        #expect(!required.isRecording && !FileManager.default.fileExists(atPath: path))
        settings.hardware = .prefer
        let preferred = MovieFileOutput()
        try preferred.start(to: path, settings: settings, camera: scene.format)
        try scene.play(0..<5, to: preferred)
        #expect(Polling.until(within: .seconds(120)) { preferred.report?.beginning != nil })
        preferred.stop { scene.at(1) }
        #expect(preferred.waitUntilFinished(until: Self.soon()) == .stopped)
        let report = try #require(preferred.report)
        #expect(report.softwareReason?.hasPrefix(reason) == true && report.videoEncoder?.contains("libx264") == true, "\(report)")
        #expect(try FilmScene.frames(of: path).count == 5)
    }

    @Test("of analog video keeps the shape of its pixels", arguments: ["mp4", "mkv"])
    func pixelAspect(ending: String) throws {
        let path = Self.path(ending), scene = FilmScene(), movie = MovieFileOutput()
        defer { try? FileManager.default.removeItem(atPath: path) }
        var format = scene.format
        format.pixelAspect = Ratio(59, 54)
        try movie.start(to: path, camera: format)
        try scene.play(0..<3, to: movie)
        #expect(Polling.until(within: .seconds(120)) { movie.report?.time ?? .zero > .zero })
        movie.stop { scene.at(1) }
        #expect(movie.waitUntilFinished(until: Self.soon()) == .stopped)
        guard case .video(let video)? = try AssetReader(url: path).tracks.first?.format else { return #expect(Bool(false), "no video") }
        // Matroska has whole pixels for the width on the display.
        #expect(abs(video.attributes.pixelAspect.doubleValue - 59.0 / 54) < 0.01, "\(video.attributes.pixelAspect)")
    }

    @Test("of sound alone is paused to the sample")
    func sound() throws {
        let path = Self.path("mkv"), scene = FilmScene(), told = Told()
        defer { try? FileManager.default.removeItem(atPath: path) }
        let movie = MovieFileOutput(recordsVideo: false, recordsSound: true) { told.add($0) }
        var settings = MovieFileSettings()
        settings.audioCodec = "flac"
        scene.begin(movie)
        try movie.start(to: path, settings: settings, microphone: scene.soundFormat)
        try scene.play(0..<40, to: movie)
        // The orders may not overtake the sound, whose first block is the film's beginning.
        try #require(Polling.until(within: .seconds(120)) { movie.report?.beginning != nil })
        movie.pause { scene.at(1.6) }
        try scene.play(40..<60, to: movie)
        movie.resume { scene.at(2.3333) }
        try scene.play(60..<130, to: movie)
        let isTaken = Polling.until(within: .seconds(120)) { movie.report?.soundTime ?? .zero > MediaTime(value: 44, timescale: 10) }
        movie.stop { scene.at(5.2) }
        #expect(isTaken && movie.waitUntilFinished(until: Self.soon()) == .stopped)
        #expect(told.all() == ["started", "paused 1600", "resumed 1600", "finished 0 stopped"])
        let sound = try FilmScene.sound(of: path)
        // 5.2 s less a pause of 0.7333 s.
        #expect(abs(sound.count - 214_402) <= 2, "\(sound.count)")
        let beeps = BeepDetector().beeps(in: sound).map(\.time), at = [0, 1, 3 - 0.7333, 4 - 0.7333, 5 - 0.7333]
        #expect(beeps.count == at.count && zip(beeps, at).allSatisfy { abs($0 - $1) < 0.002 }, "\(beeps)")
    }

    @Test(
        "ends whole before the file is larger than it may be",
        arguments: TestExtent.cases(
            [("mp4", true), ("mp4", false), ("mkv", true), ("mkv", false), ("mov", true), ("webm", true), ("ts", true)], sanitizedStep: 3))
    func size(ending: String, isFragmented: Bool) throws {
        let path = Self.path(ending), told = Told()
        var scene = FilmScene()
        scene.isNoisy = true
        defer { try? FileManager.default.removeItem(atPath: path) }
        let movie = MovieFileOutput(recordsSound: true) { told.add($0) }
        var settings = MovieFileSettings()
        settings.maximumByteCount = 400_000
        settings.writer.isFragmented = isFragmented
        scene.begin(movie)
        try movie.start(to: path, settings: settings, camera: scene.format, microphone: scene.soundFormat)
        let end = try Self.feed(scene, to: movie, 500)
        #expect(end == .maximumByteCount)
        let size = try #require(FileManager.default.attributesOfItem(atPath: path)[.size] as? Int)
        #expect((200_000...400_000).contains(size), "\(size)")
        let report = try #require(movie.report)
        let frames = try FilmScene.frames(of: path)
        #expect(frames.count == report.frames && report.byteCount == Int64(size))
        // Frames and sound are encoded by different threads; `feed` lets one of them be this far ahead of the other, and gives another piece.
        let surplus = try FilmScene.sound(of: path).count - frames.count * 1920
        #expect(abs(surplus) <= (Self.ahead + Self.piece) * 1920, "\(surplus)")
    }

    /// Frames.
    private static let piece = 5, ahead = 3 * piece

    /// Gives the scene piece by piece, until the recording ends.
    private static func feed(_ scene: FilmScene, to movie: MovieFileOutput, _ count: Int) throws -> MovieFileEnd? {
        for first in stride(from: 0, to: count, by: piece) where movie.isRecording {
            try scene.play(first..<first + piece, to: movie)
            // A camera would wait too.
            _ = Polling.until(within: .seconds(120)) { !movie.isRecording || movie.report?.frames ?? 0 > first + piece - ahead }
        }
        return movie.waitUntilFinished(until: soon())
    }

    @Test("is as long as it may be, without its pauses")
    func duration() throws {
        let path = Self.path("mp4"), scene = FilmScene(), told = Told()
        defer { try? FileManager.default.removeItem(atPath: path) }
        let movie = MovieFileOutput(recordsSound: true) { told.add($0) }
        var settings = MovieFileSettings()
        settings.maximumDuration = MediaTime(value: 2, timescale: 1)
        settings.writer.isFragmented = false
        scene.begin(movie)
        try movie.start(to: path, settings: settings, camera: scene.format, microphone: scene.soundFormat)
        movie.pause { scene.at(1.2) }
        movie.resume { scene.at(4) }
        try scene.play(0..<160, to: movie)
        #expect(movie.waitUntilFinished(until: Self.soon()) == .maximumDuration)
        #expect(told.all() == ["started", "paused 1200", "resumed 1200", "finished 50 maximumDuration"])
        let frames = try FilmScene.frames(of: path)
        #expect(frames.count == 50 && abs(frames[30].luma - Int(FilmScene.luma(100))) <= 3)
        #expect(try FilmScene.sound(of: path).count == 96_000)
    }

    @Test("ends whole when the disk has too few bytes left, and does not begin when it has")
    func disk() throws {
        let folder = NSTemporaryDirectory(), path = Self.path("mp4"), ballast = Self.path("ballast"), scene = FilmScene()
        defer { for file in [path, ballast] { try? FileManager.default.removeItem(atPath: file) } }
        func free() throws -> Int64 {
            try #require(FileManager.default.attributesOfFileSystem(forPath: folder)[.systemFreeSize] as? Int64)
        }
        let movie = MovieFileOutput()
        var settings = MovieFileSettings()
        settings.minimumFreeByteCount = try free() * 4
        let refused = #expect(throws: ExportError.self) { try movie.start(to: path, settings: settings, camera: scene.format) }
        #expect(refused?.description.hasPrefix("\(path): only ") == true && !FileManager.default.fileExists(atPath: path))
        settings.minimumFreeByteCount = nil
        settings.maximumByteCount = 1000
        let small = #expect(throws: ExportError.self) { try movie.start(to: path, settings: settings, camera: scene.format) }
        #expect(small == .settings("\(path): no film fits into 1000 bytes.") && !FileManager.default.fileExists(atPath: path))
        settings.maximumByteCount = nil
        let room: Int64 = 64 << 20
        settings.minimumFreeByteCount = try free() - room
        try movie.start(to: path, settings: settings, camera: scene.format)
        try scene.play(0..<20, to: movie)
        try #require(Polling.until(within: .seconds(120)) { movie.report?.frames ?? 0 >= 20 })
        #expect(movie.isRecording)
        // Somebody else fills the disk.
        let file = unsafe open(ballast, O_RDWR | O_CREAT, 0o600)
        try #require(file >= 0)
        defer { close(file) }
        for size in 1...40 where movie.isRecording {
            try #require(posix_fallocate(file, 0, size * Int(room) / 4) == 0)
            _ = Polling.until(within: .milliseconds(500)) { !movie.isRecording }
        }
        #expect(movie.waitUntilFinished(until: Self.soon()) == .minimumFreeByteCount)
        #expect(try FilmScene.frames(of: path).count == 20)
    }

    @Test("ends with the device, and another one begins; without a frame there is no file")
    func ends() throws {
        let path = Self.path("mp4"), scene = FilmScene(), told = Told()
        defer { try? FileManager.default.removeItem(atPath: path) }
        let movie = MovieFileOutput { told.add($0) }, output = try #require(movie.videoOutput)
        #expect(!output.isEnabled && movie.report == nil)
        try scene.play(0..<5, to: movie)
        #expect(output.statistics.dropped == [.switchedOff: 5], "nothing is recorded yet")
        try movie.start(to: path, camera: scene.format)
        movie.stop()
        #expect(movie.waitUntilFinished(until: Self.soon()) == .empty && told.all().last == "finished 0 empty")
        #expect(!FileManager.default.fileExists(atPath: path) && !output.isEnabled)
        try movie.start(to: path, camera: scene.format)
        try scene.play(5..<15, to: movie)
        let unplugged = CaptureError(.unplugged, "/dev/video9: the camera has been unplugged.")
        output.finish(unplugged)
        #expect(movie.waitUntilFinished(until: Self.soon()) == .device(unplugged) && movie.report?.frames == 10)
        let frames = try FilmScene.frames(of: path)
        #expect(frames.count == 10 && frames.first?.time == .zero)
    }

    @Test(
        "has what was noted, at its moment in the film",
        arguments: TestExtent.cases(["mp4", "mov", "mkv", "webm"], sanitizedStep: 3), [true, false])
    func metadata(ending: String, isFragmented: Bool) throws {
        let path = Self.path(ending), scene = FilmScene()
        defer { try? FileManager.default.removeItem(atPath: path) }
        let movie = MovieFileOutput(recordsSound: true)
        var settings = MovieFileSettings()
        settings.recordsMetadata = true
        settings.writer.isFragmented = isFragmented
        scene.begin(movie)
        try movie.start(to: path, settings: settings, camera: scene.format, microphone: scene.soundFormat)
        movie.add([MetadataItem("marker", "before the film")], at: scene.at(-1))
        movie.pause { scene.at(2) }
        movie.resume { scene.at(4) }
        let notes: [(Double, [MetadataItem])] = [
            (0.2, [MetadataItem("marker", "1")]), (1.5, [MetadataItem("place", "48°08′N, 11°34′E"), MetadataItem("text", "a\nb\\c = d\r")]),
            (3, [MetadataItem("marker", "in the pause")]), (4.4, [MetadataItem("marker", "")]), (4.4, [MetadataItem("face", "0.1 0.2 0.3 0.4")]),
        ]
        for (time, items) in notes { movie.add(items, at: scene.at(time)) }
        try scene.play(0..<150, to: movie)
        try #require(Polling.until(within: .seconds(120)) { movie.report?.frames ?? 0 >= 100 })
        movie.stop { scene.at(6) }
        #expect(movie.waitUntilFinished(until: Self.soon()) == .stopped)
        let lead = try #require(try FilmScene.frames(of: path).first).time.seconds
        let read = try TimedMetadata.all(in: path), expected = [notes[0], notes[1], (2.4, notes[3].1), (2.4, notes[4].1)]
        #expect(read.map(\.items) == expected.map(\.1))
        #expect(zip(read, expected).allSatisfy { abs($0.time.seconds - lead - $1.0) < 0.003 }, "\(read.map(\.time))")
    }

    @Test("misses no frame for still frames, which are those that came")
    func stills() throws {
        let path = Self.path("mp4"), scene = FilmScene()
        defer { try? FileManager.default.removeItem(atPath: path) }
        let movie = MovieFileOutput(), stills = StillFrameOutput(.png), taken = Monitor<[StillFrame]>([])
        try movie.start(to: path, camera: scene.format)
        for first in stride(from: 0, to: 50, by: 10) {
            stills.capture { result in if case .success(let still) = result { taken.change { $0.append(still) } } }
            try scene.play(first..<first + 10, to: movie, besides: [stills.videoOutput])
            let count = first / 10 + 1
            let isThere: Void? = taken.wait(until: Self.soon()) { $0.count >= count ? () : nil }
            try #require(isThere != nil)
        }
        #expect(!stills.videoOutput.isEnabled, "nothing is wanted any more")
        movie.stop { scene.at(2) }
        #expect(movie.waitUntilFinished(until: Self.soon()) == .stopped)
        #expect(try FilmScene.frames(of: path).count == 50)
        for (index, still) in taken.withLock({ $0 }).enumerated() {
            let image = Self.path("png"), number = Int(((still.time - scene.beginning).seconds * 25).rounded())
            defer { try? FileManager.default.removeItem(atPath: image) }
            try Data(still.bytes).write(to: URL(filePath: image))
            #expect(still.size == FilmScene.size && (index * 10..<index * 10 + 10).contains(number))
            // RGB of a grey of limited range.
            let grey = (Double(FilmScene.luma(number)) - 16) * 255 / 219
            let pixel = try #require(try FilmScene.frames(of: image).first)
            #expect(abs(Double(pixel.luma) - grey) <= 3 || abs(pixel.luma - Int(FilmScene.luma(number))) <= 3, "\(pixel.luma), \(number)")
        }
        let failed = Monitor<Bool>(false)
        stills.capture { result in if case .failure(.ended(nil)) = result { failed.change { $0 = true } } }
        stills.videoOutput.finish(nil)
        let isTold: Void? = failed.wait(until: Self.soon()) { $0 ? () : nil }
        #expect(isTold != nil)
    }
}
