import Capture
import Demuxing
import DisplaySink
import Foundation
import Media
import Player
import SampleQueue
import TestSupport
import Testing

/// A camera from its driver to the screen, in the lab's virtual machine.
@Suite("A camera as a film", .serialized, .enabled(if: Vivid.isHere, "only in the lab's virtual machine")) struct GuestCameraFilmTests {
    private static let request = CaptureRequest(code: fourCC("NV12"), size: PixelSize(width: 320, height: 180), rate: Ratio(15, 1))

    /// What `play --stats` says of a number.
    private func number(_ name: String, in json: [String: Any]) -> Int { json[name] as? Int ?? -1 }

    @Test("is on a monitor without a copy, mirrored or not, and every frame of the driver's is accounted for", arguments: [[], ["--video-mirror"]])
    func monitor(_ options: [String]) throws {
        let card = Shell.run("lab-card vkms"), duration = options.isEmpty ? Vivid.rounds(4, full: 600) : 4, isLong = duration > 4
        let size = isLong ? "640x360" : "320x180", rate = isLong ? 30 : 15
        let camera = ["--camera", Vivid.path, "--camera-format", "NV12", "--camera-size", size, "--camera-rate", "\(rate)"]
        let shown = ["--sink", "kms", "--connector", card, "--mode", "640x480", "--duration", "\(duration)", "--stats", "-"]
        let outcome = try PlayProgram.run(camera + shown + options, limit: Double(duration) + 120)
        #expect(outcome.code == 0, "\(outcome.errors)")
        let json = try #require(JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any], "\(outcome.output)")
        #expect(number("framesPresented", in: json) >= 2 && number("bytesCopied", in: json) == 0, "\(outcome.output)")
        #expect(json["conversion"] is NSNull && json["decoder"] is NSNull && json["pixelFormat"] as? String == "nv12")
        let counts = try #require(json["camera"] as? [String: Any])
        let dropped = try #require(counts["framesDropped"] as? [String: Int])
        #expect(counts["buffers"] as? String == "imported" && counts["format"] as? String == "NV12 \(size)")
        #expect(counts["rate"] as? String == "\(rate)/1")
        let counted = number("framesCounted", in: counts), missing = counted - number("framesDelivered", in: counts) - dropped.values.reduce(0, +)
        #expect((0...1).contains(missing), "\(outcome.output)")
        // The driver counts by the time, also what it loses; when it stalls at the end, that has not been counted yet.
        #expect(counted >= duration * rate * 9 / 10, "\(outcome.output)")
        if isLong { try outcome.output.write(toFile: "/out/ten-minutes.json", atomically: false, encoding: .utf8) }
        let delay = try #require(counts["delayMicroseconds"] as? [String: Double])
        #expect(delay["p50"] ?? 0 > 0 && delay["p50"] ?? 0 <= delay["p95"] ?? 0 && delay["p95"] ?? 0 <= delay["max"] ?? 0, "\(delay)")
        #expect(counts.keys.contains("driftPPM"))
    }

    @Test("goes through threads that take short turns, so that they run soon after they are woken")
    func threads() throws {
        let handle = PlayProgram.Handle(), program = PlayProgram.begin(Vivid.options + ["--sink", "headless"], limit: 180, handle: handle)
        let process = try #require(Polling.first(within: .seconds(60)) { handle.processIdentifier })
        /// What the scheduler says of the program's threads: the turns of those with a name, in nanoseconds.
        func turns() -> [String: Set<String>] {
            var found: [String: Set<String>] = [:]
            let said = Shell.run("cd /proc/\(process)/task && for t in *; do echo $(cat $t/comm) $(grep ^se.slice $t/sched); done")
            for line in said.split(separator: "\n") {
                let words = line.split(whereSeparator: \.isWhitespace)
                if let name = words.first, let turn = words.last { found[String(name), default: []].insert(String(turn)) }
            }
            return found
        }
        let names = ["camera", "demux", "decode", "present"]
        let run = Polling.first(within: .seconds(60), every: .milliseconds(100)) {
            let found = turns()
            return names.allSatisfy { found[$0] != nil } ? found : nil
        }
        handle.interrupt()
        let outcome = try program()
        let found = try #require(run, "\(outcome.errors)")
        let usual = try #require(found["session"]?.first.flatMap { Int($0) }, "\(found)")
        for name in names { #expect(found[name] == ["\(usual / 2)"], "\(name): \(found)") }
    }

    @Test("is in the example's mirror")
    func mirror() throws {
        let process = ChildProcess(), errors = Pipe()
        process.executableURL = URL(fileURLWithPath: BuiltPrograms.folder + "/mirror")
        process.arguments = [Vivid.path]
        process.environment = ProcessInfo.processInfo.environment.filter { $0.key != "WAYLAND_DISPLAY" }
        process.standardError = errors
        try process.run()
        var told = ""
        while !told.contains("is on the display; q ends it.") {
            let some = errors.fileHandleForReading.availableData
            if some.isEmpty { break }
            told += String(decoding: some, as: UTF8.self)
        }
        #expect(told.hasPrefix("mirror: ") && told.contains(" is on the display; q ends it.\n"), "\(told)")
        #expect(Polling.holds(for: .milliseconds(500)) { process.isRunning })
        process.send(SIGKILL)
        process.waitUntilExit()
    }

    @Test("stands still while it is paused, and ends in a sentence when the camera is unplugged")
    func player() throws {
        let events = Monitor<[String]>([])
        var configuration = PlayerConfiguration()
        configuration.playsAudio = false
        let player = Player(sink: HeadlessSink(), configuration: configuration) { event in
            if case .failed(let error) = event { events.change { $0.append(error.description) } }
        }
        defer { player.close() }
        try player.open(.camera("vivid", Self.request))
        func shown() -> Int { player.statistics.framesPresented }
        try #require(Polling.until { shown() >= 5 })
        player.pause()
        try #require(Polling.until { !player.isPlaying })
        // One may be on its way.
        let still = shown(), counted = player.statistics.camera?.framesCounted ?? 0
        try #require(Polling.until { player.statistics.camera?.framesCounted ?? 0 >= counted + 5 })
        #expect(shown() <= still + 2)
        player.play()
        try #require(Polling.until { shown() >= still + 5 })
        #expect(player.statistics.bytesCopied == 0 && player.statistics.stalls == 0)
        player.seek(to: MediaTime(value: 1, timescale: 1))
        let after = shown()
        try #require(Polling.until { shown() >= after + 5 }, "it goes on after a seek that it cannot follow")
        Vivid.unplug()
        let sentence = events.wait(until: MonotonicClock.shared.now() + .seconds(60)) { $0.first }
        #expect(sentence == "\(Vivid.path): the camera has been unplugged.")
        player.close()
        try Vivid.plug()
    }

    @Test("is recorded, each frame at its time")
    func recording() throws {
        let path = NSTemporaryDirectory() + "camera-\(UUID().uuidString.prefix(8)).mp4"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let outcome = try PlayProgram.run([
            "record", path, "--camera", Vivid.path, "--camera-format", "NV12", "--camera-size", "320x180", "--camera-rate", "10", "--duration", "1.5",
        ])
        #expect(outcome.code == 0, "\(outcome.errors)")
        let said = try #require(outcome.errors.firstMatch(of: /: (\d+) frames, (.*)\./), "\(outcome.errors)")
        let frames = try #require(Int(said.1))
        let reader = try AssetReader(url: path)
        var times: [MediaTime] = []
        while let sample = try reader.nextSample() { times.append(sample.presentationTime) }
        times.sort()
        #expect(times.count == frames && frames >= 5, "\(outcome.errors)")
        #expect(times.first == .zero && (times.last ?? .zero) < MediaTime(value: 3, timescale: 2))
        // Ten a second; the driver's first stamps lie closer together.
        let steps = zip(times, times.dropFirst()).map { ($1 - $0).seconds }.sorted()
        #expect(steps.allSatisfy { $0 > 0 } && (0.05...0.15).contains(steps[steps.count / 2]), "\(steps)")
    }
}
