import AudioSink
import DisplaySink
import Foundation
import FrameExport
import Media
import Player
import TestSupport
import Testing

/// A program that takes a film's sound itself.
@Suite struct SoundTakingTests {
    private static func soon() -> HostTime { MonotonicClock.shared.now() + .seconds(60) }

    private static func player(_ exporter: AudioExporter, untimed: Bool = true, frames: FrameExporter? = nil) -> Player {
        var configuration = PlayerConfiguration()
        configuration.audioExporter = exporter
        configuration.exporters = [frames].compactMap(\.self)
        if frames == nil { configuration.tracks.video = .none }
        return Player(sink: HeadlessSink(isUntimed: untimed), configuration: configuration)
    }

    /// What ffmpeg makes of the film's first sound, as interleaved floats.
    private static func reference(_ path: String) throws -> [Float] {
        let output = FileManager.default.temporaryDirectory.path + "/sound-\(UUID().uuidString).f32"
        defer { try? FileManager.default.removeItem(atPath: output) }
        let process = ChildProcess()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["ffmpeg", "-nostdin", "-v", "quiet", "-i", path, "-map", "0:a:0", "-f", "f32le", output]
        try process.run()
        process.waitUntilExit()
        let bytes = try Data(contentsOf: URL(fileURLWithPath: output))
        return unsafe bytes.withUnsafeBytes { unsafe Array($0.bindMemory(to: Float.self)) }
    }

    private static func takeAll(_ exporter: AudioExporter) -> [Float] {
        var samples: [Float] = []
        while let block = exporter.wait(until: soon()) { samples += block.samples }
        return samples
    }

    @Test(arguments: [true, false]) func `every sample is ffmpeg's, with a clock and without`(_ isUntimed: Bool) throws {
        let exporter = try AudioExporter(.everything()), player = Self.player(exporter, untimed: isUntimed)
        try player.open(TestAssets.demo)
        let taken = Self.takeAll(exporter)
        #expect(exporter.isOver)
        let expected = try Self.reference(TestAssets.demo)
        // ffmpeg pads nothing and cuts nothing either: the film's edit list does.
        #expect(taken.count == expected.count && taken == expected, "\(taken.count) and \(expected.count) samples")
        if isUntimed { #expect(Polling.until { player.state == .ended }, "\(player.state)") }
        player.close()
    }

    @Test func `frames and sound are taken side by side, and again after a seek`() throws {
        let exporter = try AudioExporter(.everything(sampleRate: 8000, channelCount: 1))
        let frames = FrameExporter(FrameExporterConfiguration(policy: .makeDecoderWait))
        let player = Self.player(exporter, frames: frames)
        try player.open(TestAssets.demo)
        for round in 0..<3 {
            let target = MediaTime(value: Int64(round), timescale: 1)
            let serial = round == 0 ? 0 : player.seek(to: target)
            var shown = 0, heard = 0, begin: MediaTime?
            while true {
                if let frame = frames.waitForFrame(until: Self.soon()) {
                    if frame.description.serial != serial { Issue.record("a frame of seek \(frame.description.serial)") }
                    shown += 1
                } else if let block = exporter.wait(until: Self.soon()) {
                    if block.serial != serial || block.channelCount != 1 || block.sampleRate != 8000 { Issue.record("\(block)") }
                    begin = begin ?? block.presentationTime
                    heard += block.frameCount
                } else {
                    break
                }
            }
            #expect(shown > 60 && heard > 8000 * 2, "\(shown) frames, \(heard) of sound")
            let from = try #require(begin)
            #expect((from - target).seconds.magnitude < 0.1, "\(from)")
        }
        player.close()
        #expect(exporter.wait(until: Self.soon()) == nil && exporter.isOver)
    }

    @Test func `a film without sound ends every wait, and one film is served at a time`() throws {
        let exporter = try AudioExporter(.everything()), player = Self.player(exporter, frames: FrameExporter(FrameExporterConfiguration()))
        try player.open(TestAssets.path("plain.mp4"))
        #expect(exporter.wait(until: Self.soon()) == nil && exporter.isOver)
        player.close()
        let first = Self.player(exporter), second = Self.player(exporter)
        try first.open(TestAssets.demo)
        #expect(throws: PlayerError.self) { try second.open(TestAssets.demo) }
        #expect(exporter.wait(until: Self.soon()) != nil, "the first film goes on")
        second.close()
        first.close()
    }

    @Test func `what is heard follows pause and seek`() throws {
        let exporter = try AudioExporter(.asHeard(sampleRate: 48_000, channelCount: 2)), player = Self.player(exporter, untimed: false)
        // The program's device: it asks steadily until told to stop.
        let heard = Monitor((frames: 0, stopped: false))
        let device = LoopThread(name: "device") {
            var block = [Float](repeating: 0, count: 480 * 2), next = MonotonicClock.shared.now()
            while !heard.withLock({ $0.stopped }) {
                let count = unsafe block.withUnsafeMutableBufferPointer { unsafe exporter.read(into: $0, heardAt: next + .milliseconds(20)) }
                heard.change { $0.frames += count }
                next = next + .milliseconds(10)
                Thread.sleep(forTimeInterval: max(0, (next - MonotonicClock.shared.now()).seconds))
            }
        }
        func isHeard() -> Bool {
            let before = heard.withLock { $0.frames }
            return heard.wait(until: Self.soon()) { $0.frames > before + 4800 ? true : nil } ?? false
        }
        try player.open(TestAssets.demo)
        #expect(isHeard())
        player.pause()
        #expect(Polling.until { player.state == .paused })
        // What the renderer had written is dropped.
        let isSilent = Polling.until {
            let before = heard.withLock { $0.frames }
            Thread.sleep(forTimeInterval: 0.1)
            return heard.withLock { $0.frames } == before
        }
        #expect(isSilent)
        player.seek(to: MediaTime(value: 1, timescale: 1))
        player.play()
        #expect(isHeard())
        player.close()
        heard.withLock { $0.stopped = true }
        device.join()
    }
}
