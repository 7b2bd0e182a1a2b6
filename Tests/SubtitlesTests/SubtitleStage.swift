import Demuxing
import DisplaySink
import Foundation
import Media
import SampleQueue
import Sandbox
import Subtitles
import TestSupport
import Testing

/// Films with subtitles, made with ffmpeg, and an engine that draws them.
final class SubtitleStage {
    let folder = NSTemporaryDirectory() + "subtitles-\(UUID().uuidString.prefix(8))"
    /// Of the display.
    static let canvas = OverlayCanvas(size: PixelSize(width: 320, height: 200), film: PixelRect(x: 0, y: 10, width: 320, height: 180))
    private static let font = "/usr/share/fonts/truetype/dejavu/DejaVuSansMono.ttf"

    /// The letters of DejaVu Sans Mono under another name of as many bytes.
    static func font(named name: String) throws -> [UInt8] {
        let old = Array("DejaVu Sans Mono".utf8), new = Array(name.utf8)
        precondition(old.count == new.count, "offsets in the font stay as they are")
        func wide(_ text: [UInt8]) -> [UInt8] { text.flatMap { [0, $0] as [UInt8] } }
        var font = [UInt8](try Data(contentsOf: URL(fileURLWithPath: Self.font)))
        for (old, new) in [(old, new), (wide(old), wide(new))] {
            var index = 0
            while let found = font[index...].firstRange(of: old) {
                font.replaceSubrange(found, with: new)
                index = found.upperBound
            }
        }
        return font
    }

    init() throws { try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    func write(_ name: String, _ text: String) throws -> String { try write(name, Array(text.utf8)) }

    func write(_ name: String, _ bytes: [UInt8]) throws -> String {
        try Data(bytes).write(to: URL(fileURLWithPath: "\(folder)/\(name)"))
        return "\(folder)/\(name)"
    }

    /// A film of 160x90 with these subtitles, `length` seconds long.
    func film(_ name: String, subtitles: String, length: Int = 5, input: [String] = [], _ arguments: [String]) throws -> String {
        let path = "\(folder)/\(name)"
        let process = ChildProcess()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments =
            ["ffmpeg", "-nostdin", "-v", "error", "-f", "lavfi", "-i", "color=gray:s=160x90:r=25:d=\(length)"]
            + input + ["-i", subtitles, "-map", "0", "-map", "1", "-c:v", "mpeg2video", "-g", "25"] + arguments + [path]
        process.standardInput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0, "ffmpeg failed")
        return path
    }

    /// What an engine says.
    final class Notices: Sendable {
        private let all = Monitor<[String]>([])
        func add(_ text: String) { all.change { $0.append(text) } }
        var texts: [String] { all.withLock { $0 } }
        func wait() -> [String] { all.wait(until: MonotonicClock.shared.now() + .seconds(60)) { $0.isEmpty ? nil : $0 } ?? [] }
    }

    /// An engine for these tracks, which runs.
    static func engine(
        _ tracks: [SubtitleTrack], chosen: Int? = 0, fonts: [AttachedFont] = [], settings: SubtitleSettings = SubtitleSettings(),
        sandbox: SandboxOptions = SandboxOptions(), notices: Notices = Notices()
    ) -> SubtitleEngine {
        let engine = SubtitleEngine(
            tracks: tracks, chosen: chosen, settings: settings, film: .init(storage: PixelSize(width: 160, height: 90), fonts: fonts),
            sandbox: sandbox, handlers: .init(changed: {}, notice: { notices.add($0) }))
        engine.start()
        engine.setCanvas(canvas)
        return engine
    }

    /// An engine that has got every sample of the film's subtitles.
    static func play(_ path: String, chosen: Int? = 0, usesFonts: Bool = true, sandbox: SandboxOptions = SandboxOptions()) throws -> SubtitleEngine {
        let reader = try AssetReader(url: path)
        let tracks = reader.tracks.compactMap(SubtitleTrack.init)
        let fonts = usesFonts ? reader.fonts : []
        let engine = engine(tracks, chosen: chosen, fonts: fonts, sandbox: sandbox)
        // With the frames: where a broadcast begins, they do.
        reader.select(Set(reader.tracks.filter { $0.kind == .video || $0.kind == .subtitle }.map(\.id)))
        while let sample = try reader.nextSample() { engine.add(sample) }
        return engine
    }
}

extension SubtitleEngine {
    /// What is shown at a time in milliseconds.
    func shown(at time: Int64) -> OverlayImage? {
        drawnImage(at: MediaTime(value: time, timescale: 1000), until: MonotonicClock.shared.now() + .seconds(60))
    }

    /// When anything is shown, looked at every `step` milliseconds.
    func times(until end: Int64, step: Int64 = 100) -> [Int64] { stride(from: 0, to: end, by: Int64.Stride(step)).filter { shown(at: $0) != nil } }
}

extension SubtitleStage {
    /// The film's tracks of subtitles.
    static func tracks(_ path: String) throws -> [SubtitleTrack] { try AssetReader(url: path).tracks.compactMap(SubtitleTrack.init) }

    /// Every sample of the film's subtitles.
    static func samples(_ path: String) throws -> [SampleBuffer] {
        let reader = try AssetReader(url: path)
        reader.select(Set(reader.tracks.filter { $0.kind == .subtitle }.map(\.id)))
        var samples: [SampleBuffer] = []
        while let sample = try reader.nextSample() { samples.append(sample) }
        return samples
    }
}
