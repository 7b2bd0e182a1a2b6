import Capture
import Demuxing
import Foundation
import Media
import PlaySupport
import Player
import Reading
import Recording
import SampleQueue
import TestSupport
import Testing
import Writing

/// A microphone that hears known beeps, in the lab's virtual machine.
@Suite("A microphone", .serialized, .enabled(if: Loopback.isHere, "only in the lab's virtual machine")) struct GuestMicrophoneTests {
    private static func path(_ ending: String) -> String { NSTemporaryDirectory() + "sound-\(UUID().uuidString.prefix(8)).\(ending)" }

    /// The sound of a file from its time 0 on, of the first channel, and whether it has no gap. It may begin a little later, since Opus is preceded
    /// by what its decoder needs to begin.
    private static func sound(of path: String) throws -> (samples: [Double], isWhole: Bool) {
        let output = try AudioTrackOutput(url: path, sampleRate: 48_000)
        var samples: [Double] = [], isWhole = true
        while let buffer = try output.nextBuffer() {
            if samples.isEmpty, (0..<1440).contains(buffer.position) { samples = [Double](repeating: 0, count: Int(buffer.position)) }
            isWhole = isWhole && buffer.position == samples.count
            samples += stride(from: 0, to: buffer.samples.count, by: buffer.channelCount).map { Double(buffer.samples[$0]) }
        }
        return (samples, isWhole)
    }

    /// How far a file goes that is being written, in seconds.
    private static func length(of path: String) throws -> Double {
        guard let reader = try? AssetReader(url: path) else { return 0 }
        var length = 0.0
        while let sample = try reader.nextSample() { length = max(length, sample.presentationTime.seconds) }
        return length
    }

    /// Seconds by which each beep lies too late in a file that begins at `beginning`. Every beep must be there.
    private static func lateness(_ samples: [Double], _ heard: LoopbackSpeaker.Heard, from beginning: HostTime) throws -> [Double] {
        let length = Double(samples.count) / 48_000, beeps = BeepDetector().beeps(in: samples)
        let expected = heard.beeps.map { ($0 - beginning).seconds }.filter { (0.05..<length - 0.2).contains($0) }
        try #require(!expected.isEmpty)
        return try expected.map { time in
            let nearest = try #require(beeps.min { abs($0.time - time) < abs($1.time - time) }, "there is no beep")
            return nearest.time - time
        }
    }

    /// Most are within 20 ms, and each is nearer to its own place than to another's. A machine that is busy gives the loop-back's clock ticks late:
    /// by how much, the speaker has seen. To the sample it is tested with microphones that follow a script.
    private static func isInTime(_ lateness: [Double], _ heard: LoopbackSpeaker.Heard) -> Bool {
        let distances = lateness.map(abs).sorted()
        return distances[distances.count / 2] < 0.020 + heard.jitter && distances.allSatisfy { $0 < LoopbackSpeaker.shortestDistance / 2 }
    }

    @Test("is found by its name, and says what it offers")
    func discovery() throws {
        try Loopback.make()
        let device = try AudioCaptureDevice.find("loopback, loopback")
        #expect(device.identifier == Loopback.speaker && device.name == "Loopback, Loopback PCM")
        #expect(try AudioCaptureDevice.find(Loopback.microphone).identifier == Loopback.microphone)
        let capabilities = try device.capabilities()
        #expect(capabilities.sampleFormats.contains(.float32) && capabilities.sampleFormats.contains(.int16))
        #expect(capabilities.sampleRates.contains(48_000) && capabilities.channelCounts.contains(2))
        let listed = try PlayProgram.run(["devices"]).output
        #expect(listed.contains("✓ \(Loopback.microphone)  Loopback, Loopback PCM (8000 to "), "\(listed)")
    }

    @Test("that another program uses, or that is not there, is said in one sentence with code 69")
    func refusals() throws {
        try Loopback.make()
        let name = Loopback.microphone + ",SUBDEV=3", path = Self.path("mp4")
        let session = AudioCaptureSession(device: AudioCaptureDevice(identifier: name, name: name), outputs: [])
        try session.start()
        let busy = try PlayProgram.run(["record", path, "--microphone", name])
        #expect(busy.code == 69 && busy.errors == "play: \(name): another program uses this microphone.\n", "\(busy.errors)")
        session.stop()
        let missing = try PlayProgram.run(["record", path, "--microphone=hw:CARD=Loopback,DEV=5"])
        #expect(missing.code == 69 && missing.errors == "play: hw:CARD=Loopback,DEV=5: there is no such device.\n", "\(missing.errors)")
        let unknown = try PlayProgram.run(["record", path, "--microphone", "Yeti"])
        #expect(unknown.code == 69 && unknown.errors.hasPrefix("play: There is no microphone named \"Yeti\"; there is \"Loopback, Loop"))
        #expect(!FileManager.default.fileExists(atPath: path))
        // A user who is in no group.
        Shell.run("chgrp audio /dev/snd/*; chmod 660 /dev/snd/*")
        let launcher = ["setpriv", "--reuid=65534", "--clear-groups"]
        for name in ["--microphone", "--microphone=\(Loopback.microphone)"] {
            let refused = try PlayProgram.run(["record", path, name], launcher: launcher)
            let sentence = "play: hw:0: permission denied: only members of the group audio may open it.\n"
            #expect(refused.code == 66 && refused.errors == sentence, "\(refused.errors)")
        }
    }

    @Test("is recorded with a camera, each sound within 20 ms of when it was heard", arguments: [("mp4", "h264", "aac"), ("mkv", "mjpeg", "opus")])
    func film(ending: String, video: String, audio: String) throws {
        try Loopback.make()
        let path = Self.path(ending), speaker = try LoopbackSpeaker()
        defer { try? FileManager.default.removeItem(atPath: path) }
        var options = DeviceRecording.Options()
        options.camera = .init(
            Vivid.path, CaptureRequest(code: fourCC("NV12"), size: PixelSize(width: 320, height: 180), rate: Ratio(10, 1)))
        options.microphone = .init(Loopback.microphone, AudioCaptureRequest(channelCount: 1))
        options.settings.maximumDuration = MediaTime(value: 5, timescale: 1)
        options.settings.videoCodec = video
        options.settings.audioCodec = audio
        let report = try DeviceRecording(to: path, options: options).run { false }.film
        let heard = try speaker.stop(), beginning = try #require(report.beginning)
        #expect(report.soundTime != nil && report.soundLost.isEmpty && report.frames >= 16, "\(report)")
        // The video begins with the film, and gets its turn beside the sound: otherwise it ends when the camera's 20 buffers are full, after 2 s.
        let reader = try AssetReader(url: path)
        let track = try #require(reader.tracks.first { $0.kind == .video })
        var times: [MediaTime] = []
        while let sample = try reader.nextSample() { if sample.trackID == track.id { times.append(sample.presentationTime) } }
        let first = try #require(times.min()), last = try #require(times.max())
        #expect(times.count == report.frames && first.seconds < 0.03 && last.seconds > 2.2, "\(times)")
        // What an encoder puts before the sound may have moved the whole film.
        let (samples, isWhole) = try Self.sound(of: path), length = Double(samples.count) / 48_000 - first.seconds
        #expect(isWhole && abs(length - 5) < 0.03, "\(samples.count)")
        let lateness = try Self.lateness(samples, heard, from: beginning - .seconds(first.seconds))
        #expect(lateness.count >= 4 && Self.isInTime(lateness, heard), "\(lateness), \(heard.jitter)")
    }

    @Test("and a camera are recorded until Ctrl-C, and the last line tells of both")
    func interrupted() throws {
        try Loopback.make()
        let path = Self.path("mp4"), handle = PlayProgram.Handle()
        defer { try? FileManager.default.removeItem(atPath: path) }
        let program = PlayProgram.begin(["record", path, "--microphone", "loopback"] + Vivid.options, limit: 200, handle: handle)
        let isLong = Polling.until(every: .milliseconds(100)) { ((try? Self.length(of: path)) ?? 0) > 1 }
        handle.interrupt()
        let outcome = try program()
        #expect(isLong && outcome.code == 0, "\(outcome.errors)")
        // A busy machine loses some of both, which the line says.
        let line = /.+: \d+ frames, [^;]+; \d+\.\d+ s of sound, (?:none lost|lost: \d+ samples [^;]+)\.\n/
        #expect(outcome.errors.wholeMatch(of: line) != nil, "\(outcome.errors)")
        #expect(try Set(AssetReader(url: path).tracks.map(\.kind)) == [.video, .audio])
        #expect(try PlayProgram.run([path, "--sink", "headless", "--untimed", "--audio-device", "null"], limit: 120).code == 0)
    }

    @Test("whose crystal runs fast stays with the film")
    func drift() throws {
        try Loopback.make()
        // Thirty times what a bad crystal does: without a correction the last sound would be 60 ms late.
        try Loopback.setRate(100_300)
        defer { try? Loopback.setRate(100_000) }
        let path = Self.path("mkv"), speaker = try LoopbackSpeaker()
        defer { try? FileManager.default.removeItem(atPath: path) }
        var options = DeviceRecording.Options()
        options.microphone = .init(Loopback.microphone, AudioCaptureRequest())
        options.settings.audioCodec = "flac"
        options.settings.maximumDuration = MediaTime(value: 20, timescale: 1)
        let report = try DeviceRecording(to: path, options: options).run { false }
        let heard = try speaker.stop(), drift = heard.drift, (samples, isWhole) = try Self.sound(of: path)
        #expect(isWhole && samples.count == 20 * 48_000, "\(samples.count)")
        // A machine that is too slow to record says so, and there are beeps that it has not recorded.
        if report.film.soundLost.isEmpty {
            let lateness = try Self.lateness(samples, heard, from: try #require(report.film.beginning))
            #expect(lateness.count >= 18 && Self.isInTime(lateness, heard), "\(lateness), \(heard.jitter)")
            // Over ten seconds, ticks that come late by so much change it by a tenth of that.
            #expect(abs(report.drift - drift) < 0.000_5 + heard.jitter / 10, "\(report.drift), \(drift), \(heard.jitter)")
        }
        // Late ticks at the wrong moment spoil what one of them finds, hardly that of both.
        #expect(report.drift * drift > 0 && max(abs(report.drift), abs(drift)) > 0.002_5, "\(report.drift), \(drift)")
    }

    @Test("that was not read for two seconds has silence there, and what follows is in time")
    func overrun() throws {
        try Loopback.make()
        let path = Self.path("mkv"), speaker = try LoopbackSpeaker(), handle = PlayProgram.Handle()
        defer { try? FileManager.default.removeItem(atPath: path) }
        let program = PlayProgram.begin(
            ["record", path, "--microphone", Loopback.microphone, "--audio", "flac"], limit: 200, handle: handle)
        func reaches(_ seconds: Double) -> Bool { Polling.until(every: .milliseconds(50)) { ((try? Self.length(of: path)) ?? 0) > seconds } }
        let isLong = reaches(2), before = try Self.length(of: path)
        handle.send(SIGSTOP)
        // The device has room for one second.
        #expect(Polling.holds(for: .seconds(2)) { handle.isRunning })
        handle.send(SIGCONT)
        let goesOn = reaches(before + 6)
        handle.interrupt()
        let outcome = try program(), heard = try speaker.stop().beeps
        #expect(isLong && goesOn && outcome.code == 0, "\(outcome.errors)")
        let said = try #require(outcome.errors.firstMatch(of: /[0-9] s of sound, lost: (\d+) samples by an overrun/), "\(outcome.errors)")
        let lost = Double(try #require(Int(said.1))) / 48_000
        let (samples, isWhole) = try Self.sound(of: path)
        #expect(isWhole && lost > 1.5, "\(lost)")
        // A machine that is too slow to record says so, and there are beeps that it has not recorded.
        if outcome.errors.contains("by a slow encoder") { return }
        // The file does not say when it began: the first beep does.
        let beeps = BeepDetector().beeps(in: samples), first = try #require(beeps.first)
        var spreads: [[Double]] = []
        for beep in heard {
            let times = heard.map { ($0 - beep).seconds + first.time }
            spreads.append(beeps.map { found in times.map { found.time - $0 }.min { abs($0) < abs($1) } ?? 1 })
        }
        let best = try #require(spreads.min { $0.map(abs).max() ?? 1 < $1.map(abs).max() ?? 1 })
        // A beep may have been cut by the gap. The others are nearer to their own places than to others': how exactly the sound goes on is tested
        // with a microphone that follows a script, since the time of the loop-back's first stamp depends on what else the machine does.
        let limit = LoopbackSpeaker.shortestDistance / 2
        #expect(beeps.count >= 4 && best.filter { abs($0) < limit }.count >= beeps.count - 1 && abs(best.last ?? 1) < limit, "\(best)")
        // What a slow machine has lost besides lies elsewhere.
        let quiet = zip(beeps, beeps.dropFirst()).map { $1.time - $0.time }.max() ?? 0
        #expect(quiet > 1.5, "\(quiet)")
    }

    @Test("that is unplugged ends a file that is whole, with one sentence and code 69")
    func unplugged() throws {
        try Loopback.make()
        let path = Self.path("mp4"), handle = PlayProgram.Handle()
        defer { try? FileManager.default.removeItem(atPath: path) }
        let program = PlayProgram.begin(["record", path, "--microphone", Loopback.microphone], limit: 200, handle: handle)
        let isLong = Polling.until(every: .milliseconds(50)) { ((try? Self.length(of: path)) ?? 0) > 1 }
        Loopback.unplug()
        let outcome = try program()
        try Loopback.plug()
        #expect(isLong && outcome.code == 69, "\(outcome.errors)")
        #expect(outcome.errors == "play: \(Loopback.microphone): the microphone has been unplugged.\n")
        #expect(try Self.sound(of: path).samples.count > 48_000)
    }
}
