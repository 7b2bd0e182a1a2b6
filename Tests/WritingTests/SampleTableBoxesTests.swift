import Demuxing
import Media
import TestSupport
import Testing

/// The table of samples against readers of MP4's boxes and Matroska's elements that know nothing of libavformat.
@Suite struct SampleTableBoxesTests {
    private static let endings = ["mp4", "m4a", "mov", "mkv", "webm"]
    private static let own = [
        "demo.mp4", "edit-list.mp4", "hdr10.mp4", "hevc-10bit.mp4", "rotation-90.mp4", "rate-60.mp4", "rate-23.976.mp4", "crop.mp4", "plain.mp4",
        "short.mp4", "odd-size-444.mp4", "audio-only.m4a", "av1.mkv", "vp9.webm", "odd-size.webm",
    ].map(TestAssets.path)

    /// Third-party films of up to 16 MB, six of each ending in each group.
    static let films: [String] = {
        var count: [String: Int] = [:]
        let others = (MediaCatalog.shared?.sweep ?? []).filter { film in
            let ending = film.path.split(separator: ".").last.map { $0.lowercased() } ?? ""
            guard film.group != "malformed", film.group != "hls", film.frameMD5 != nil, endings.contains(ending) else { return false }
            count[film.group + ending, default: 0] += 1
            return count[film.group + ending]! <= 6
        }
        return own + others.map { MediaCatalog.shared!.path($0.path) }
    }()

    @Test func `sizes, places and sync samples are those of the boxes and elements`() throws {
        var compared = 0, kinds: Set<String> = []
        for path in Self.films {
            guard let bytes = TextFile.bytes(of: path), bytes.count < 16_000_000 else { continue }
            let reader = try AssetReader(url: path, options: AssetReaderOptions(isThorough: true))
            let tables = try SampleTable.read(reader).filter { $0.track.kind == .video || Self.hasFrames($0.track) }
            let isMatroska = bytes.starts(with: [0x1A, 0x45, 0xDF, 0xA3])
            var isCompared = false
            for table in tables {
                isCompared = isMatroska ? compare(table, ElementReader(bytes), path) : compare(table, BoxReader(bytes), path)
                if !isCompared { break }
            }
            if isCompared { kinds.insert(isMatroska ? "Matroska" : "MP4") }
            compared += isCompared ? 1 : 0
        }
        #expect(kinds.count == 2 && compared >= (MediaCatalog.shared == nil ? 12 : 30), "\(compared) of \(Self.films.count)")
    }

    private static func hasFrames(_ track: AssetTrack) -> Bool {
        guard case .audio(let format) = track.format else { return false }
        return ["aac", "opus", "mp3", "flac", "ac3"].contains(format.codecName)
    }

    /// Of fragments the reader of boxes knows no sync samples: there sizes and places are compared.
    private func compare(_ table: SampleTable, _ boxes: BoxReader, _ path: String) -> Bool {
        guard table.track.id < boxes.tracks.count else { return false }
        let track = boxes.tracks[table.track.id]
        let knowsSync = !boxes.hasFragments
        let found = (0..<table.count).map { table[$0] }.map { sample in
            Place(offset: Int(sample.offset ?? -1), byteCount: sample.byteCount, isSync: knowsSync && sample.sync != .none)
        }
        let wanted = track.samples.enumerated().map { index, range in
            Place(offset: range.lowerBound, byteCount: range.count, isSync: knowsSync && track.syncs?.contains(index) ?? true)
        }
        guard let first = found.first, let start = wanted.firstIndex(of: first) else {
            Issue.record("\(path) track \(table.track.id): the first sample is not in the index")
            return false
        }
        // An edit list leaves samples out that lie before the sync sample, or after the end.
        let isWhole = start == 0 && wanted.count == found.count
        let part = Array(wanted[start...].prefix(found.count)), differs = zip(found, part).enumerated().first { $1.0 != $1.1 }
        let isSame = found == part
        #expect(isSame, "\(path) track \(table.track.id): \(String(describing: differs)), \(found.count) and \(part.count) samples")
        #expect(isWhole || boxes.hasEdits, "\(path) track \(table.track.id): \(found.count) of \(wanted.count) samples")
        return true
    }

    private struct Place: Equatable {
        var offset: Int, byteCount: Int
        var isSync: Bool
    }

    private func compare(_ table: SampleTable, _ elements: ElementReader, _ path: String) -> Bool {
        guard elements.lacedBlocks == 0, let wanted = elements.frames[table.track.id + 1] else { return false }
        let name: Comment = "\(path) track \(table.track.id)"
        #expect(wanted.count == table.count, name)
        guard wanted.count == table.count else { return false }
        let samples = (0..<table.count).map { table[$0] }
        let found = samples.map { Place(offset: Int($0.offset ?? -1), byteCount: $0.byteCount, isSync: $0.sync != .none) }
        #expect(found == wanted.map { Place(offset: $0.block, byteCount: $0.byteCount, isSync: $0.isSync) }, name)
        // Ours begin at 0.
        let shifts = Set(
            zip(samples, wanted).map { sample, frame in
                (sample.presentationTime - MediaTime(value: Int64(frame.time), timescale: 1000)).converted(to: 1000).value
            })
        #expect(shifts.count == 1, "\(path) track \(table.track.id): \(shifts)")
        return true
    }
}
