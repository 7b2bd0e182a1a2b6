import Media
import SampleQueue
import TestSupport
import Testing

@testable import Demuxing

/// Seeking in third-party films of every container, against reading them from the beginning.
@Suite("Seeking in films", .enabled(if: MediaCatalog.shared != nil, Comment(rawValue: MediaCatalog.absence)))
struct SeekFilmTests {
    /// Three films of each ending in each group.
    static let films: [String] = {
        var count: [String: Int] = [:]
        return (MediaCatalog.shared?.sweep ?? []).filter { film in
            guard film.group != "malformed", film.frameMD5 != nil else { return false }
            let kind = film.group + (film.path.split(separator: ".").last ?? "")
            count[kind, default: 0] += 1
            return count[kind]! <= 3
        }.map(\.path)
    }()

    private struct Step: Hashable {
        var presentation: MediaTime
        var bytes: Int
    }

    /// Up to the end, or to damage.
    private func samples(_ reader: AssetReader) -> [SampleBuffer] {
        var samples: [SampleBuffer] = []
        while let sample = try? reader.nextSample() { samples.append(sample) }
        return samples
    }

    @Test("lands on a sync sample at or before, from which the film goes on as it was", arguments: films)
    func seek(path: String) throws {
        let catalog = try #require(MediaCatalog.shared)
        let reader = try AssetReader(url: catalog.path(path))
        let track = try #require(reader.tracks.first { $0.kind == .video })
        reader.select([track.id])
        let all = samples(reader)
        // An edit hides what decoding may begin at.
        let times = all.map { $0.presentationTime.isNumeric ? $0.presentationTime : $0.decodeTime }
        for place in [0.0, 0.5, 0.95] {
            let target = times[Int(Double(times.count - 1) * place)]
            guard target >= .zero else { continue }
            do {
                try reader.seek(to: target)
            } catch {
                Issue.record("\(path): no seek to \(target)")
                return
            }
            let rest = samples(reader)
            let first = try #require(rest.first, "\(path): nothing behind \(target)")
            let begin = first.presentationTime.isNumeric ? first.presentationTime : first.decodeTime
            #expect(first.flags.contains(.sync) || rest.count == all.count, "\(path): no sync sample at \(target)")
            #expect(begin <= target || rest.count == all.count, "\(path): \(begin) is behind \(target)")
            let ours = rest.map { Step(presentation: $0.presentationTime, bytes: $0.byteCount) }
            let expected = all.suffix(rest.count).map { Step(presentation: $0.presentationTime, bytes: $0.byteCount) }
            #expect(ours == expected, "\(path): after \(target) \(rest.count) of \(all.count) samples, not as they were")
        }
    }
}
