import Media
import SampleQueue
import TestSupport
import Testing

@testable import Demuxing

/// One track of ExoPlayer's text of everything that its extractor found in a film.
private struct DumpedTrack {
    struct Sample {
        var microseconds: Int64 = 0
        var flags = 0
        var byteCount = 0
    }
    var type = ""
    var samples: [Sample] = []

    static func tracks(in text: String) -> [DumpedTrack] {
        var tracks: [DumpedTrack] = []
        var isSample = false
        for line in text.split(separator: "\n") {
            let words = line.split(whereSeparator: { " =,:".contains($0) })
            if line.hasPrefix("track ") { tracks.append(DumpedTrack()) }
            guard !tracks.isEmpty, let first = words.first else { continue }
            let last = tracks.count - 1
            if line.hasPrefix("    sampleMimeType"), words.count > 1 { tracks[last].type = String(words[1]) }
            if line.hasPrefix("  "), !line.hasPrefix("   ") {
                isSample = first == "sample" && words.count == 2 && Int(words[1]) != nil
                if isSample { tracks[last].samples.append(Sample()) }
            }
            guard isSample, line.hasPrefix("    ") else { continue }
            let sample = tracks[last].samples.count - 1
            switch first {
            case "time": tracks[last].samples[sample].microseconds = Int64(words[1]) ?? 0
            case "flags": tracks[last].samples[sample].flags = Int(words[1]) ?? 0
            case "data" where words.count > 2: tracks[last].samples[sample].byteCount = Int(words[2]) ?? 0
            default: break
            }
        }
        return tracks
    }
}

/// The samples of films as ExoPlayer's extractors see them: another team's demuxers.
@Suite("ExoPlayer's extractor dumps", .enabled(if: MediaCatalog.shared != nil, Comment(rawValue: MediaCatalog.absence)))
struct ExtractorDumpTests {
    /// Films with frames.
    static let films = (MediaCatalog.shared?.sweep ?? []).filter { film in
        film.group != "malformed" && film.frameMD5 != nil && film.thirdPartyFiles.contains { $0.hasSuffix(".0.dump") }
    }

    /// Films in which the two differ, with the reason.
    static let differences: [String: String] = [
        // ExoPlayer writes four-byte start codes for two-byte lengths.
        "mp4/androidx/sample_2_byte_NAL_length.mp4": "30 sizes",
        // It decrypts nothing but writes what decryption needs in front of each sample.
        "mp4/androidx/sample_fragmented_variable_length_sgpd.mp4": "864 sizes",
        // Without delimiters it makes samples of their own of the units before a frame.
        "ts-ps/androidx/sample_h264_no_access_unit_delimiters.ts": "3 samples, 6 there, 2 times, 2 sync flags",
    ]

    @Test("have our number of frames, their times, sizes and sync samples", arguments: films)
    func dump(film: MediaCatalog.Film) throws {
        let catalog = try #require(MediaCatalog.shared)
        let file = try #require(film.thirdPartyFiles.first { $0.hasSuffix(".0.dump") })
        let theirs = DumpedTrack.tracks(in: try #require(TextFile.contents(of: catalog.path(file)))).first { $0.type.hasPrefix("video/") }
        let reader = try AssetReader(url: catalog.path(film.path))
        let track = try #require(reader.tracks.first { $0.kind == .video })
        reader.select([track.id])
        var ours: [SampleBuffer] = []
        while let sample = try reader.nextSample() { ours.append(sample) }
        let samples = try #require(theirs).samples
        var found: [String] = []
        if ours.count != samples.count { found.append("\(ours.count) samples, \(samples.count) there") }
        // Where the film begins each player decides; the steps between are the film's.
        let begin = ours.compactMap { $0.presentationTime.nanoseconds() }.min() ?? 0, otherBegin = samples.map(\.microseconds).min() ?? 0
        var wrongTimes = 0
        for (ours, theirs) in zip(ours, samples) {
            guard let time = ours.presentationTime.nanoseconds() else { continue }
            let step: Int64 = (time - begin) / 1000, otherStep = Int64(theirs.microseconds - otherBegin)
            if abs(step - otherStep) > 2 { wrongTimes += 1 }
        }
        if wrongTimes > 0 { found.append("\(wrongTimes) times") }
        let syncs = zip(ours, samples).filter { $0.flags.contains(.sync) != ($1.flags & 1 != 0) }
        if !syncs.isEmpty { found.append("\(syncs.count) sync flags") }
        // ExoPlayer rewrites the units of other containers.
        if reader.containerName.contains("mp4") || reader.containerName.contains("matroska") {
            let sizes = zip(ours, samples).filter { $0.byteCount != $1.byteCount }
            if !sizes.isEmpty { found.append("\(sizes.count) sizes") }
        }
        #expect(found.joined(separator: ", ") == Self.differences[film.path] ?? "", "\(film.path)")
    }
}
