import Demuxing
import Glibc
import Media
import TestSupport
import Testing
import Writing

/// Copies beside those of FFmpeg's command line program: the same packets, at the same times.
@Suite(.enabled(if: Probe.isThere, "no ffmpeg and ffprobe"))
struct CopyTests {
    private static let own = [
        "demo.mp4", "edit-list.mp4", "hdr10.mp4", "av1.mkv", "vp9.webm", "rotation-90.mp4", "pixel-aspect-2.mp4", "audio-only.m4a",
        "audio-only.flac", "odd-size.webm", "rate-23.976.mp4",
    ].map(TestAssets.path)

    /// The last one is an MP4 in fragments.
    static let endings = ["mp4", "mov", "mkv", "webm", "ts", "fragments.mp4"]

    /// One row of the table: a film and a container.
    struct Row: CustomStringConvertible, Sendable {
        var source: String
        var ending: String
        var description: String { "\(source.split(separator: "/").last ?? "") to \(ending)" }
    }

    /// In a usual run each film into two of the containers.
    static let rows: [Row] = own.indices.flatMap { index in
        endings.indices.filter { TestExtent.isFull || [index % 6, (index + 2) % 6].contains($0) }.map { Row(source: own[index], ending: endings[$0]) }
    }

    @Test(arguments: TestExtent.cases(rows, sanitizedStep: 7))
    func `a copy has the packets of ffmpeg's`(row: Row) throws {
        try Self.compare(row)
    }

    /// Four third-party films of each ending in each group.
    static let others: [String] = {
        var count: [String: Int] = [:]
        let films = (MediaCatalog.shared?.sweep ?? []).filter { film in
            guard film.group != "malformed", film.group != "hls", film.frameMD5 != nil else { return false }
            let kind = film.group + (film.path.split(separator: ".").last ?? "")
            count[kind, default: 0] += 1
            return count[kind]! <= 4
        }
        return films.map { MediaCatalog.shared!.path($0.path) }
    }()

    /// The container with the fewest copies of those that can hold all of the film; nil where none can.
    private static func ending(_ source: String, _ counts: [String: Int]) throws -> String? {
        let tracks = try AssetReader(url: source).tracks.filter { [.video, .audio].contains($0.kind) }
        let able = endings.filter { ending in
            guard let container = FileContainer(path: "film.\(ending)") else { return false }
            return tracks.allSatisfy { container.canHold($0.kind, $0.format) }
        }
        return able.min { counts[$0, default: 0] < counts[$1, default: 0] }
    }

    @Test(.enabled(if: MediaCatalog.shared != nil, Comment(rawValue: MediaCatalog.absence)))
    func `copies of third-party films have the packets of ffmpeg's`() throws {
        var counts: [String: Int] = [:]
        for source in TestExtent.cases(Self.others, sanitizedStep: 11) {
            guard let ending = try Self.ending(source, counts) else { continue }
            if try Self.compare(Row(source: source, ending: ending), times: false) { counts[ending, default: 0] += 1 }
        }
        guard !TestExtent.isSanitized else { return }
        // Without those that one of the programs refuses.
        #expect(counts.values.reduce(0, +) >= 60 && counts.count == Self.endings.count, "\(counts)")
    }

    /// - Parameter times: Presentation times are compared as well. Those of films that are broken or have none are not, as the two programs guess
    ///   differently.
    /// - Returns: Whether both programs have made a copy.
    @discardableResult static func compare(_ row: Row, times: Bool = true) throws -> Bool {
        let scratch = Scratch(), ours = scratch.path("ours.\(row.ending)"), theirs = scratch.path("theirs.\(row.ending)")
        let isFragmented = row.ending == "fragments.mp4"
        let isPossible = Probe.copy(row.source, to: theirs, isFragmented ? "-movflags +frag_keyframe+delay_moov+default_base_moof" : "")
        var options = FilmCopy.Options()
        let tracks = try AssetReader(url: row.source).tracks.filter { [.video, .audio].contains($0.kind) }
        options.tracks = Set(tracks.map(\.id))
        options.writer.isFragmented = isFragmented
        do {
            try FilmCopy(from: row.source, to: ours, options: options).run()
        } catch {
            // Into transport streams FFmpeg's program writes anything, and reads only some of it.
            let isRefused = row.ending == "ts" && error == .output(WritingError(.unsupported, ours, "mpegTS can hold none of the tracks"))
            #expect(!isPossible || isRefused || !times && Self.isDeparture(error), "\(row): \(error)")
            #expect(scratch.names.allSatisfy { $0.hasPrefix("theirs") }, "\(row): \(scratch.names)")
            return false
        }
        guard isPossible else { return false }
        var found = Probe.packets(ours), wanted = Probe.packets(theirs)
        if !times { (found, wanted) = try Self.paired(tracks, row, found, wanted) }
        try #require(found.keys.sorted() == wanted.keys.sorted(), "\(row): \(scratch.names)")
        // A container may begin at any time: all tracks are moved together.
        let step = row.ending == "mkv" || row.ending == "webm" ? 0.0021 : 0.0006
        let origin = Self.origin(found), theirOrigin = Self.origin(wanted)
        for track in wanted.keys.sorted() {
            let a = found[track]!, b = wanted[track]!
            #expect(a.map(\.hash) == b.map(\.hash), "\(row): track \(track): \(a.count) and \(b.count) packets")
            #expect(a.map(\.isSync) == b.map(\.isSync), "\(row): track \(track)")
            guard times, a.count == b.count else { continue }
            for (index, pair) in zip(a, b).enumerated() {
                let isNear = near(pair.0.presentation, origin, pair.1.presentation, theirOrigin, step)
                guard isNear else {
                    Issue.record("\(row): track \(track), packet \(index): \(pair.0) \(pair.1), from \(origin) and \(theirOrigin)")
                    break
                }
            }
        }
        return true
    }

    /// FFmpeg's program guesses where frames belong that have no presentation time, and gives Matroska what only Microsoft's names fit.
    private static func isDeparture(_ error: CopyError) -> Bool {
        "\(error)".hasSuffix("its place follows only from decoding.") || "\(error)".hasSuffix("matroska can hold none of the tracks.")
    }

    /// The packets by the film's own tracks: FFmpeg's program puts video first, and this one leaves out what the container has no name for.
    private static func paired(
        _ tracks: [AssetTrack], _ row: Row, _ found: [Int: [Probe.Packet]], _ wanted: [Int: [Probe.Packet]]
    ) throws -> ([Int: [Probe.Packet]], [Int: [Probe.Packet]]) {
        let container = try #require(FileContainer(path: "film.\(row.ending)"))
        let held = tracks.filter { container.canHold($0.kind, $0.format) }
        let theirs = tracks.filter { $0.kind == .video } + tracks.filter { $0.kind == .audio }
        var pair: ([Int: [Probe.Packet]], [Int: [Probe.Packet]]) = ([:], [:])
        for (place, track) in held.enumerated() {
            pair.0[track.id] = found[place]
            pair.1[track.id] = wanted[theirs.firstIndex { $0.id == track.id } ?? -1]
        }
        #expect(!held.isEmpty && pair.0.count == held.count, "\(row)")
        return pair
    }

    private static func origin(_ packets: [Int: [Probe.Packet]]) -> Double { packets.values.compactMap { $0.first?.presentation }.min() ?? 0 }

    private static func near(_ a: Double?, _ origin: Double, _ b: Double?, _ other: Double, _ step: Double) -> Bool {
        guard let a, let b else { return a == nil && b == nil }
        return abs((a - origin) - (b - other)) <= step
    }
}
