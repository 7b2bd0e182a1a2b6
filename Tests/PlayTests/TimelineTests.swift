import Foundation
import Media
import TestSupport
import Testing

/// `play FILE.otio`.
@Suite struct TimelineTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("timeline-\(UUID().uuidString)").path

    private func inFolder(_ body: () throws -> Void) throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try body()
    }

    private static func time(_ frames: Int) -> String { #"{"OTIO_SCHEMA": "RationalTime.1", "rate": 30, "value": \#(frames)}"# }

    private static func clip(_ first: Int, _ count: Int, _ film: String = TestAssets.demo) -> String {
        let range = #"{"OTIO_SCHEMA": "TimeRange.1", "start_time": \#(time(first)), "duration": \#(time(count))}"#
        return #"""
            {"OTIO_SCHEMA": "Clip.1", "name": "\#(first)", "source_range": \#(range),
             "media_reference": {"OTIO_SCHEMA": "ExternalReference.1", "target_url": "\#(film)"}}
            """#
    }

    private static func transition(_ frames: Int, _ type: String) -> String {
        #"""
        {"OTIO_SCHEMA": "Transition.1", "name": "\#(type)", "transition_type": "\#(type)",
         "in_offset": \#(time(frames)), "out_offset": \#(time(frames))}
        """#
    }

    private static func timeline(_ frames: [String], _ sound: [String]) -> String {
        let tracks = [("Video", frames), ("Audio", sound)].map { kind, children in
            #"{"OTIO_SCHEMA": "Track.1", "kind": "\#(kind)", "children": [\#(children.joined(separator: ","))]}"#
        }
        return #"{"OTIO_SCHEMA": "Timeline.1", "name": "Cut", "tracks": {"OTIO_SCHEMA": "Stack.1", "children": [\#(tracks.joined(separator: ","))]}}"#
    }

    @Test func `it shows the frames of the exported film, and lists what is not supported once`() throws {
        try inFolder {
            let path = "\(folder)/cut.otio", film = "\(folder)/film.mkv", sums = ["\(folder)/played.md5", "\(folder)/exported.md5"]
            let frames = [
                Self.clip(60, 12), Self.transition(3, "SMPTE_Dissolve"), Self.clip(200, 12), Self.transition(2, "Spin"), Self.clip(10, 6),
                Self.clip(0, 3, "nowhere.mp4"),
            ]
            try Self.timeline(frames, [Self.clip(60, 30)]).write(toFile: path, atomically: true, encoding: .utf8)
            let played = try PlayProgram.run(["--sink", "md5=\(sums[0])", path])
            #expect(played.code == 0 && !played.crashed)
            let told = played.errors.split(separator: "\n").map(String.init)
            #expect(told.count == 2 && told.allSatisfy { $0.hasPrefix("\(path): at 00:00:0") }, "\(told)")
            #expect(told.first?.contains("Spin") == true && told.last?.contains("nowhere.mp4: No such file or directory") == true, "\(told)")
            let exported = try PlayProgram.run(["convert", path, film, "--video", "ffv1", "--audio", "none"])
            #expect(exported.code == 0 && exported.errors == played.errors, "\(exported.errors)")
            #expect(try PlayProgram.run(["--sink", "md5=\(sums[1])", film]).code == 0)
            let lines = try sums.map { try #require(FrameMD5File(path: $0)).lines }
            #expect(lines[0].count == 30 && lines[0].map(\.hash) == lines[1].map(\.hash))
        }
    }

    @Test func `it plays in a list, with sound, and its statistics say what became of the frames`() throws {
        try inFolder {
            let path = "\(folder)/cut.otio"
            let frames = [Self.clip(60, 9), Self.transition(3, "SMPTE_Dissolve"), Self.clip(200, 9)]
            try Self.timeline(frames, [Self.clip(60, 18)]).write(toFile: path, atomically: true, encoding: .utf8)
            let words = ["--sink", "headless", "--audio-device", "null", "--stats", "-"]
            let outcome = try PlayProgram.run(words + [path, TestAssets.path("short.mp4")])
            #expect(outcome.code == 0 && outcome.errors.isEmpty, "\(outcome.errors)")
            let films = try #require(try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [[String: Any]])
            let counted = try #require(films.first?["composition"] as? [String: Int])
            #expect(films.count == 2 && films[1]["composition"] is NSNull)
            // A busy machine may be late for some.
            let all = ["framesDrawn", "framesPassedThrough", "framesLate", "framesSkipped"].reduce(0) { $0 + (counted[$1] ?? 0) }
            #expect(all == 18 && counted["framesFailed"] == 0, "\(counted)")
            #expect(films[0]["bytesCopied"] as? Int == 0 && films[0]["bytesWritten"] as? Int ?? 0 > 0)
        }
    }

    @Test(arguments: [("{", 65), ("{}", 65), (nil, 66)] as [(String?, Int32)])
    func `what is no time line is refused with one sentence`(_ text: String?, _ code: Int32) throws {
        try inFolder {
            let path = "\(folder)/cut.otio"
            try text?.write(toFile: path, atomically: true, encoding: .utf8)
            let outcome = try PlayProgram.run(["--sink", "headless", path])
            #expect(outcome.code == code && outcome.errors.hasPrefix("play: \(path): "), "\(outcome.code) \(outcome.errors)")
            #expect(outcome.errors.split(separator: "\n").count == 1)
        }
    }
}
