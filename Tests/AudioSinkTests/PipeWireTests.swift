import Foundation
import Media
import TestSupport
import Testing

@testable import AudioSink

/// PipeWire itself.
@Suite(.serialized, .enabled(if: PipeWireSession.isInstalled, "PipeWire and WirePlumber are not installed")) struct PipeWireTests {
    /// A file's sound for PipeWire, and its timebase.
    private func renderer(_ asset: String, device: String) throws -> (AudioRenderer, Timebase) {
        let timebase = Timebase(), sound = FileSound(TestAssets.path(asset))
        let renderer = try AudioRenderer(format: sound.format, source: sound, deviceName: device, timebase: timebase)
        timebase.setSource(renderer.clock)
        renderer.start()
        guard renderer.waitUntilReady(until: MonotonicClock.shared.now() + .seconds(60)) else {
            if case .failed(let error) = renderer.phase { throw error }
            return (renderer, timebase)
        }
        return (renderer, timebase)
    }

    private func wait(_ what: Comment, _ condition: () -> Bool) {
        let limit = MonotonicClock.shared.now() + .seconds(90)
        while !condition() {
            if MonotonicClock.shared.now() > limit {
                Issue.record(what)
                return
            }
            pause(0.02)
        }
    }

    @Test(arguments: ["auto", "pipewire", "pipewire/first-sink"])
    func `the sink plays what ffmpeg decodes, sample for sample`(device: String) throws {
        let session = try PipeWireSession(), reference = try ffmpegSound(of: "audio-only.flac")
        let first = try #require(reference.firstIndex { $0 != 0 })
        // On a busy machine sound may come too late, and is left out then. Once it must come whole.
        let faults = try withinAttempts(8) {
            var leftOut = 0
            let samples = try session.record(PipeWireSession.sinks[0]) { _ in
                let (renderer, timebase) = try renderer("audio-only.flac", device: device)
                timebase.setRate(1, time: .zero, atHostTime: renderer.clock.now() + .seconds(1))
                wait("the sound has ended") { renderer.hasFinished }
                let statistics = renderer.statistics
                #expect(statistics.isPacedByDevice && statistics.sampleFormat == "float32")
                leftOut = Int(statistics.framesMissing)
                renderer.stop()
            }
            guard let begin = samples.firstIndex(where: { $0 == reference[first] }).map({ $0 - first }), begin >= 0 else {
                return ["none of \(samples.count) samples is the film's first"]
            }
            guard samples.count >= begin + reference.count else { return ["\(samples.count) \(begin) \(reference.count)"] }
            let differing = zip(samples[begin...], reference).filter { $0 != $1 }.count
            return differing == 0 ? [] : ["\(differing) samples differ; the sink left \(leftOut) frames out"]
        }
        #expect(faults == [])
    }

    @Test(.enabled(if: Self.mayHavePriority, "this user's threads may have no real-time priority"))
    func `PipeWire takes sound on a thread with a real-time priority`() throws {
        let session = try PipeWireSession()
        let renderer = try playing { rate, channels throws(AudioError) in try AudioDeviceName("auto").open(rate: rate, channelCount: channels) }
        let policies = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").compactMap { thread -> String? in
            // A thread may have ended meanwhile. proc(5): the policy is field 41; the second one ends with the last parenthesis.
            guard let line = try? String(contentsOfFile: "/proc/self/task/\(thread)/stat", encoding: .utf8) else { return nil }
            return line[line.lastIndex(of: ")")!...].split(separator: " ").dropFirst(39).first.map(String.init)
        }
        renderer.stop()
        session.stop()
        #expect(policies.contains("\(SCHED_FIFO)") || policies.contains("\(SCHED_RR)"), "\(policies)")
    }

    /// Whether this user's threads may have a real-time priority, RTKit apart.
    private static let mayHavePriority: Bool = {
        let process = ChildProcess()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/chrt")
        process.arguments = ["--fifo", "1", "true"]
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }()

    @Test func `libpipewire has to be asked for a real-time priority before 1.3.81`() {
        for (version, isNeeded) in [
            ("0.3.65", true), ("1.2.7", true), ("1.3.80", true), ("1.3.81", false), ("1.4", false), ("1.4.0", false), ("2.0.0", false),
        ] {
            #expect(PipeWireLibrary.needsRealTimeFile(version: version) == isNeeded, "\(version)")
        }
    }

    @Test(.measuresTime) func `sound is where the film has it, and its clock is the device's`() throws {
        let session = try PipeWireSession()
        let wrong = try withinAttempts(8) {
            var statistics = AudioStatistics()
            let samples = try session.record(PipeWireSession.sinks[0]) { _ in
                let (renderer, timebase) = try renderer("demo.mp4", device: "pipewire")
                timebase.setRate(1, time: MediaTime(seconds: 0.5), atHostTime: renderer.clock.now() + renderer.startLatency)
                pause(6)
                statistics = renderer.statistics
                renderer.stop()
            }
            let left = stride(from: 0, to: samples.count, by: 2).map { Double(samples[$0]) }
            let beeps = BeepDetector(sampleRate: 48000).beeps(in: left).filter { $0.level > 0.3 }
            let distances = zip(beeps.dropFirst(), beeps).map { $0.time - $1.time }, offset = statistics.meanOffset
            return Self.areTheFilms(distances) && abs(offset) < 0.005 ? [] : ["beeps \(distances) s apart, \(offset) s off"]
        }
        #expect(wrong == [])
    }

    /// Whether beeps that are a second apart in the film are so far apart in its recording, in seconds.
    ///
    /// Where a machine is so busy that PipeWire misses some of its cycles, the recording lacks them, and beeps come so much closer together.
    private static func areTheFilms(_ distances: [Double]) -> Bool {
        let missed = distances.map { (1 - $0) / PipeWireSession.cycle }
        let whole = missed.count { abs($0 - $0.rounded()) < 0.05 && $0 > -0.5 }, exact = missed.count { abs($0) < 0.05 }
        return exact > 2 || (exact > 0 && distances.count > 3 && whole == distances.count)
    }

    @Test(arguments: [
        ([1, 1, 1, 1, 1], true), ([1, 0.9, 1, 0.9, 1], true), ([0.95733, 0.936, 1.00002, 0.97865, 0.97867], true), ([1, 1], false),
        ([0.97867, 0.97867, 0.97867, 0.97867], false), ([1, 0.98, 0.98, 0.98], false), ([1, 1.02133, 1.02133, 1.02133], false), ([], false),
    ])
    func `a recording may lack whole cycles, and nothing else`(_ distances: [Double], _ areTheFilms: Bool) {
        #expect(Self.areTheFilms(distances) == areTheFilms)
    }

    /// Ten minutes of sound that plays.
    private func playing(_ openDevice: @escaping AudioDeviceOpener) throws -> AudioRenderer {
        let timebase = Timebase(), sound = CountingSound()
        let renderer = try AudioRenderer(
            format: sound.format, source: sound, deviceName: "pipewire", timebase: timebase, openDevice: openDevice)
        timebase.setSource(renderer.clock)
        sound.enqueue(0, 600)
        renderer.start()
        timebase.setRate(1)
        wait("sound plays") { renderer.statistics.framesPlayed > 24_000 }
        return renderer
    }

    @Test func `sound moves to the sink that the user chooses`() throws {
        let session = try PipeWireSession()
        let renderer = try playing { rate, channels throws(AudioError) in try AudioDeviceName("auto").open(rate: rate, channelCount: channels) }
        defer { renderer.stop() }
        _ = try session.record(PipeWireSession.sinks[1]) { isHeard in
            #expect(!isHeard())
            let choice = "{ \"name\": \"\(PipeWireSession.sinks[1])\" }"
            _ = try session.run(["pw-metadata", "0", "default.configured.audio.sink", choice, "Spa:String:JSON"])
            wait("the other sink plays") { isHeard() }
        }
        #expect(renderer.phase == .ready)
    }

    @Test func `sound goes on when the daemon comes back`() throws {
        let session = try PipeWireSession()
        let renderer = try playing { rate, channels throws(AudioError) in
            try PipeWireDevice(target: nil, rate: rate, channelCount: channels, patience: .seconds(120))
        }
        defer { renderer.stop() }
        session.stop()
        pause(0.5)
        #expect(renderer.phase == .ready)
        try session.start()
        let before = renderer.statistics.framesPlayed
        wait("sound goes on") { renderer.statistics.framesPlayed > before + 24_000 }
        #expect(renderer.phase == .ready)
    }

    @Test func `sound ends with a sentence when the daemon does not come back`() throws {
        let session = try PipeWireSession()
        let renderer = try playing { rate, channels throws(AudioError) in
            try PipeWireDevice(target: nil, rate: rate, channelCount: channels, patience: .milliseconds(300))
        }
        defer { renderer.stop() }
        session.stop()
        wait("sound ends") { if case .failed = renderer.phase { true } else { false } }
        guard case .failed(let error) = renderer.phase else { return }
        #expect(error.code == .lost && error.description.hasPrefix("PipeWire has failed: "))
    }

    @Test func `sinks are listed, and one that is not there is named`() throws {
        let session = try PipeWireSession()
        let names = AudioDeviceInfo.all().map(\.name)
        #expect(names.starts(with: ["pipewire"]) && Set(names).isSuperset(of: PipeWireSession.sinks.map { "pipewire/\($0)" }))
        #expect(throws: AudioError(.cannotOpen, "PipeWire has no sink 'no-sink'")) { _ = try renderer("audio-only.flac", device: "pipewire/no-sink") }
        session.stop()
        #expect(AudioDeviceInfo.all().allSatisfy { !$0.name.hasPrefix("pipewire") })
        do {
            _ = try renderer("audio-only.flac", device: "pipewire")
            Issue.record("there is no daemon")
        } catch let error as AudioError {
            #expect(error.description.hasPrefix("cannot open PipeWire: "))
        }
    }
}

@Suite struct AudioDeviceNameTests {
    @Test(
        arguments: [
            ("auto", .automatic), ("pipewire", .pipeWire(nil)), ("pipewire/a/b", .pipeWire("a/b")), ("alsa", .alsa("default")),
            ("alsa/hdmi:CARD=1", .alsa("hdmi:CARD=1")), ("null", .alsa("null")), ("default", .alsa("default")), ("pipewires", .alsa("pipewires")),
        ] as [(String, AudioDeviceName)])
    func `names mean what they mean to mpv, and others are ALSA's`(text: String, expected: AudioDeviceName) {
        #expect(AudioDeviceName(text) == expected)
    }
}
