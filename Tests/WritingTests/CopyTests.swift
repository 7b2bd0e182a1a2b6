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

    static let endings = ["mp4", "mov", "mkv", "webm", "ts"]

    /// One row of the table: a film and a container.
    struct Row: CustomStringConvertible, Sendable {
        var source: String
        var ending: String
        var description: String { "\(source.split(separator: "/").last ?? "") to \(ending)" }
    }

    /// In a usual run each film into two of the containers.
    static let rows: [Row] = own.indices.flatMap { index in
        endings.indices.filter { TestExtent.isFull || [index % 5, (index + 2) % 5].contains($0) }.map { Row(source: own[index], ending: endings[$0]) }
    }

    @Test(arguments: TestExtent.cases(rows, sanitizedStep: 7))
    func `a copy has the packets of ffmpeg's`(row: Row) throws {
        try Self.compare(row)
    }

    /// Two third-party films of each ending in each group, each into one of the containers in turn.
    static let others: [Row] = {
        var count: [String: Int] = [:]
        let films = (MediaCatalog.shared?.sweep ?? []).filter { film in
            guard film.group != "malformed", film.group != "hls", film.frameMD5 != nil else { return false }
            let kind = film.group + (film.path.split(separator: ".").last ?? "")
            count[kind, default: 0] += 1
            return count[kind]! <= 2
        }
        return films.enumerated().map { Row(source: MediaCatalog.shared!.path($1.path), ending: endings[$0 % endings.count]) }
    }()

    @Test(
        .enabled(if: MediaCatalog.shared != nil, Comment(rawValue: MediaCatalog.absence)), arguments: TestExtent.cases(others, sanitizedStep: 11))
    func `a copy of a third-party film has the packets of ffmpeg's`(row: Row) throws {
        try Self.compare(row, times: false)
    }

    /// - Parameter times: Presentation times are compared as well. Those of films that are broken or have none are not, as the two programs guess
    ///   differently.
    static func compare(_ row: Row, times: Bool = true) throws {
        let scratch = Scratch(), ours = scratch.path("ours.\(row.ending)"), theirs = scratch.path("theirs.\(row.ending)")
        let isPossible = Probe.copy(row.source, to: theirs)
        var options = FilmCopy.Options()
        let tracks = try AssetReader(url: row.source).tracks.filter { [.video, .audio].contains($0.kind) }
        options.tracks = Set(tracks.map(\.id))
        do {
            try FilmCopy(from: row.source, to: ours, options: options).run()
        } catch {
            // Into transport streams FFmpeg's program writes anything, and reads only some of it.
            let isRefused = row.ending == "ts" && error == .output(WritingError(.unsupported, ours, "mpegTS can hold none of the tracks"))
            #expect(!isPossible || isRefused || !times && Self.isDeparture(error), "\(row): \(error)")
            #expect(scratch.names.allSatisfy { $0.hasPrefix("theirs") }, "\(row): \(scratch.names)")
            return
        }
        guard isPossible else { return }
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
