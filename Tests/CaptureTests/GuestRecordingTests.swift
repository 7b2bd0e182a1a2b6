import Capture
import Demuxing
import DisplaySink
import Foundation
import Media
import PlaySupport
import Player
import Recording
import SampleQueue
import TestSupport
import Testing

/// What is left of a recording that is cut off, in the lab's virtual machine.
@Suite("A recording that is cut off", .serialized, .enabled(if: Vivid.isHere, "only in the lab's virtual machine")) struct GuestRecordingTests {
    private static func path(_ ending: String, in folder: String = NSTemporaryDirectory()) -> String {
        "\(folder)/cut-\(UUID().uuidString.prefix(8)).\(ending)"
    }

    /// The frames' times in a file, in order; none while there is no file that can be read.
    private static func times(in path: String) throws -> [MediaTime] {
        guard let reader = try? AssetReader(url: path) else { return [] }
        var times: [MediaTime] = []
        while let sample = try reader.nextSample() { times.append(sample.presentationTime) }
        return times.sorted()
    }

    @Test("by kill -9 plays to its last fragment", arguments: ["mp4", "mkv"])
    func killed(ending: String) throws {
        let path = Self.path(ending), handle = PlayProgram.Handle()
        defer { try? FileManager.default.removeItem(atPath: path) }
        let program = PlayProgram.begin(["record", path] + Vivid.options, limit: 200, handle: handle)
        _ = try #require(Polling.first(within: .seconds(60)) { handle.processIdentifier })
        // Two seconds: three fragments at least.
        let isLong = Polling.until(within: .seconds(120), every: .milliseconds(200)) {
            !handle.isRunning || ((try? Self.times(in: path))?.count ?? 0) >= 30
        }
        handle.kill()
        let outcome = try program()
        #expect(isLong && outcome.crashed && outcome.code == SIGKILL, "\(outcome.errors)")
        let times = try Self.times(in: path)
        #expect(times.count >= 30 && Set(times).count == times.count)
        #expect(try PlayProgram.run([path, "--sink", "headless", "--untimed"], limit: 120).code == 0)
    }

    @Test("by pauses has no gap there, while the preview is paused and still frames are taken")
    func paused() throws {
        let path = Self.path("mkv"), paused = Monitor(0)
        defer { try? FileManager.default.removeItem(atPath: path) }
        let request = CaptureRequest(code: fourCC("NV12"), size: PixelSize(width: 320, height: 180), rate: Ratio(15, 1))
        var options = DeviceRecording.Options()
        options.camera = .init(Vivid.path, request)
        options.settings.recordsMetadata = true
        options.onEvent = { event in if case .paused = event { paused.change { $0 += 1 } } }
        let recording = try DeviceRecording(to: path, options: options, isShown: true), movie = recording.movie
        var configuration = PlayerConfiguration()
        configuration.playsAudio = false
        configuration.cameraOutputs = recording.cameraOutputs
        let player = Player(sink: HeadlessSink(), configuration: configuration)
        defer { player.close() }
        try player.open(.camera(Vivid.path, request))
        let rounds = Vivid.rounds(3, full: 20), stills = Monitor(0)
        let driver = LoopThread(name: "driver") {
            func recorded(_ count: Int) -> Bool { Polling.until(within: .seconds(60)) { movie.report?.frames ?? 0 >= count } }
            guard recorded(5) else { return movie.stop() }
            player.pause()
            let shown = player.statistics.framesPresented
            for round in 1...rounds {
                movie.pause()
                let _: Void? = paused.wait(until: MonotonicClock.shared.now() + .seconds(60)) { $0 >= round ? () : nil }
                // Longer than the gaps of a slow machine, which loses frames.
                _ = Polling.holds(for: .seconds(3)) { movie.isRecording }
                movie.resume()
                recording.stills?.capture { result in if case .success = result { stills.change { $0 += 1 } } }
                movie.add([MetadataItem("round", String(round))])
                guard recorded((movie.report?.frames ?? 0) + 8) else { break }
            }
            #expect(player.statistics.framesPresented <= shown + 2)
            movie.stop()
        }
        let report = try recording.run(shown: player.camera) { false }
        driver.join()
        #expect(report.end == .stopped && report.film.pauses == rounds && stills.withLock { $0 } == rounds)
        let reader = try AssetReader(url: path), track = try #require(reader.tracks.first { $0.kind == .video })
        var times: [MediaTime] = []
        while let sample = try reader.nextSample() { if sample.trackID == track.id { times.append(sample.presentationTime) } }
        times.sort()
        #expect(times.count == report.film.frames)
        let steps = zip(times, times.dropFirst()).map { ($1 - $0).seconds }
        // None of the pauses is in the file.
        #expect(steps.allSatisfy { $0 > 0 && $0 < 2.7 }, "\(steps)")
        // A marker that comes with the order to resume may still lie in the pause, which ends with a frame.
        #expect(try TimedMetadata.all(in: path).allSatisfy { $0.time >= .zero && $0.time <= times.last ?? .zero })
    }

    @Test("by --max-size is whole, also with a preview")
    func size() throws {
        let path = Self.path("mp4")
        defer { try? FileManager.default.removeItem(atPath: path) }
        let outcome = try PlayProgram.run(
            ["record", path, "--preview", "--sink", "headless", "--max-size", "300KiB", "--video", "mjpeg"] + Vivid.options, limit: 200)
        #expect(outcome.code == 0 && outcome.errors.contains("ended because more would exceed --max-size."), "\(outcome.errors)")
        let size = try #require(FileManager.default.attributesOfItem(atPath: path)[.size] as? Int)
        let frames = try Self.times(in: path).count
        #expect((100_000...307_200).contains(size) && frames >= 5, "\(size), \(frames)")
    }

    @Test("by a full disk is one sentence and code 74, and the film is whole up to there")
    func full() throws {
        let folder = NSTemporaryDirectory() + "full-\(UUID().uuidString.prefix(8))", path = Self.path("mp4", in: folder)
        Shell.run("mkdir \(folder) && mount -t tmpfs -o size=384k none \(folder)")
        defer { Shell.run("umount \(folder); rmdir \(folder)") }
        // Some ten kilobytes a frame.
        let outcome = try PlayProgram.run(["record", path, "--video", "mjpeg", "--bitrate", "4M"] + Vivid.options, limit: 200)
        #expect(outcome.code == 74)
        let sentence = #/play: \S+, track 0 at [0-9:.]+: cannot be written: No space left on device\.\n/#
        #expect(try sentence.wholeMatch(in: outcome.errors) != nil, "\(outcome.errors)")
        let times = try Self.times(in: path)
        #expect(times.count >= 5 && times.first == .zero && Set(times).count == times.count, "\(times.count)")
        #expect(try PlayProgram.run([path, "--sink", "headless", "--untimed"], limit: 120).code == 0)
    }

    /// Which frame memory the monitors' planes show now, as the kernel says.
    private static func shown() -> String { Shell.run("grep -hs fb=[1-9] /sys/kernel/debug/dri/[0-9]*/state") }

    @Test("obeys the keys of its terminal while a monitor shows it: a marker, a still frame, the preview paused, the film paused, the end")
    func keys() throws {
        let terminal = try PseudoTerminal(), path = Self.path("mkv"), still = path.dropLast(4) + "-0001.png", handle = PlayProgram.Handle()
        defer { for file in [path, String(still)] { try? FileManager.default.removeItem(atPath: file) } }
        let preview = ["--preview", "--sink", "kms", "--connector", Shell.run("lab-card vkms")]
        let outcome = PlayProgram.begin(
            ["record", path, "--markers", "--video", "mjpeg"] + preview + Vivid.options, limit: 240, handle: handle, terminal: terminal.path)
        /// Waits until the film has 15 frames more, and returns what the monitor showed meanwhile.
        func grow() throws -> Set<String>? {
            let before = try Self.times(in: path).count
            var shown: Set<String> = []
            let hasGrown = try Polling.until(within: .seconds(60), every: .milliseconds(100)) {
                shown.insert(Self.shown())
                return try !handle.isRunning || Self.times(in: path).count >= before + 15
            }
            return hasGrown && handle.isRunning ? shown : nil
        }
        let playing = try grow()
        #expect(playing.map { $0.count > 1 } == true, "the monitor shows one frame after the other: \(playing ?? [])")
        terminal.type("ms")
        #expect(Polling.until { FileManager.default.fileExists(atPath: String(still)) }, "the still frame is written")
        terminal.type("p")
        // The frame that is on its way when the key comes is shown yet.
        let stands = try Polling.until(within: .seconds(60)) { try grow().map { $0.count == 1 } ?? !handle.isRunning }
        let paused = Self.shown()
        #expect(stands && handle.isRunning, "the monitor stands still while the film goes on")
        terminal.type("p")
        #expect(Polling.until { Self.shown() != paused }, "the monitor goes on")
        terminal.type(" ")
        // A key beside it, so that the pause is seen to have begun: the film stands still.
        #expect(
            try Polling.until(within: .seconds(60)) {
                let count = try Self.times(in: path).count
                return try Polling.holds(for: .milliseconds(1500)) { try Self.times(in: path).count == count }
            }, "the film is paused")
        terminal.type(" ")
        #expect(try grow() != nil, "the film goes on")
        terminal.type("q")
        let end = try outcome()
        #expect(end.code == 0 && end.errors.contains(": 320x180 still frame.") && end.errors.hasSuffix("; paused once.\n"), "\(end.errors)")
        #expect(try TimedMetadata.all(in: path).flatMap(\.items) == [MetadataItem("marker", "1")])
        #expect(terminal.isAsFound, "the terminal shows what is typed")
    }
}
