import Foundation
import TestSupport
import Testing

/// `play` and time lines that OpenTimelineIO's own Python package writes. `scripts/test` fetches the package and names its folder.
@Suite struct TimelinePackageTests {
    private static let folder = ProcessInfo.processInfo.environment["PLAYER_OPENTIMELINEIO"]

    @Test(.enabled(if: folder != nil, "no Python package opentimelineio: PLAYER_OPENTIMELINEIO names no folder"))
    func `it plays frame by frame what the package writes`() throws {
        let place = FileManager.default.temporaryDirectory.appendingPathComponent("package-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: place) }
        let path = "\(place)/cut.otio", script = "\(place)/write.py", sums = ["\(place)/film.md5", "\(place)/cut.md5"]
        try Self.program.write(toFile: script, atomically: true, encoding: .utf8)
        let whole = try PlayProgram.run(["--no-audio", "--sink", "md5=\(sums[0])", TestAssets.demo])
        #expect(whole.code == 0, "\(whole.errors)")
        let environment = ["PYTHONPATH": try #require(Self.folder), "FILM": TestAssets.demo]
        let played = try PlayProgram.run(
            ["--no-audio", "--sink", "md5=\(sums[1])", path], environment: environment, launcher: ["/usr/bin/python3", script])
        #expect(played.code == 0 && played.errors.isEmpty, "\(played.errors)")
        let (film, cut) = (try #require(FrameMD5File(path: sums[0])).lines.map(\.hash), try #require(FrameMD5File(path: sums[1])).lines.map(\.hash))
        // The numbers of the film's frames; a dissolve and a gap are none of them.
        let none = -1
        var wanted: [Int] = Array(60..<70) + Array(repeating: none, count: 5) + Array(203..<212)
        wanted += Array(repeating: none, count: 4) + Array(33..<39) + stride(from: 100, to: 116, by: 2)
        wanted += Array(repeating: 150, count: 5) + Array(20..<26)
        #expect(cut.count == wanted.count)
        for (number, (hash, frame)) in zip(cut, wanted).enumerated() {
            if frame == none { #expect(!film.contains(hash), "frame \(number)") } else { #expect(hash == film[frame], "frame \(number), \(frame)") }
        }
        #expect(Set(cut[10..<15]).count == 5 && Set(cut[24..<28]).count == 1, "each frame of a dissolve is another, those of a gap are one")
        let shown = try PlayProgram.run(["info", path])
        #expect(shown.output.contains("  title Written by the package\n"), "\(shown.output)")
        #expect(shown.output.contains("  chapter 1: 00:00:00.000 to 00:00:00.400, One\n"), "\(shown.output)")
        #expect(shown.output.contains("  chapter 2: 00:00:00.400 to 00:00:01.767, Two\n"), "\(shown.output)")
    }

    /// Writes the file that `play` is given last, and becomes `play`.
    private static let program = #"""
        import os
        import sys
        import opentimelineio as otio
        from opentimelineio.opentime import RationalTime, TimeRange
        film, path = os.environ["FILM"], sys.argv[-1]
        def time(count): return RationalTime(count, 30)
        def span(start, count): return TimeRange(time(start), time(count))
        def clip(start, count, *effects):
            media = otio.schema.ExternalReference(target_url=film, available_range=span(0, 300))
            return otio.schema.Clip(name=str(start), media_reference=media, source_range=span(start, count), effects=list(effects))
        track = otio.schema.Track("frames", kind=otio.schema.TrackKind.Video)
        track.append(clip(60, 12))
        track.append(otio.schema.Transition(
            transition_type=otio.schema.TransitionTypes.SMPTE_Dissolve, in_offset=time(3), out_offset=time(3)))
        track.append(clip(200, 12))
        track.append(otio.schema.Gap(source_range=span(0, 4)))
        inner = otio.schema.Track("inner", kind=otio.schema.TrackKind.Video, children=[clip(30, 12)])
        track.append(otio.schema.Stack("nested", children=[inner], source_range=span(3, 6)))
        track.append(clip(100, 8, otio.schema.LinearTimeWarp(time_scalar=2.0)))
        track.append(clip(150, 5, otio.schema.FreezeFrame()))
        track.append(clip(20, 6))
        for name, frame in (("One", 0), ("Two", 12)):
            track.markers.append(otio.schema.Marker(name=name, marked_range=span(frame, 0)))
        timeline = otio.schema.Timeline("Written by the package", global_start_time=time(0))
        timeline.tracks.append(track)
        otio.adapters.write_to_file(timeline, path)
        os.execv(sys.argv[1], sys.argv[1:])
        """#
}
