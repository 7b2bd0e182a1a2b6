import Foundation
import TestSupport
import Testing

/// The third-party films through the program itself: `--sink md5` against the reference, and no harm from the damaged ones.
@Suite struct ThirdPartyFilmTests {
    /// Films whose sums or times differ, each with the reason. One that begins to agree must leave the list.
    static let differing: [String: String] = [
        "av1/dav1d-test-data/test5606.obu": "times only: the reference numbers frames that bear no times",
        "vp9/moviepy/transparent.webm": "the reference is of FFmpeg's own decoder, which leaves the alpha out",
        "hevc/oxideav/r413-rdpcm-explicit.hevc": "libavcodec 5.1 decodes it wrongly, and differently with several threads",
    ]

    private struct Verdict { var film: String; var agrees: Bool; var note: String }

    /// Every fourth film, with `--full` each: the session that decodes them decodes each of them in a test of its own.
    @Test(.enabled(if: MediaCatalog.shared != nil, "\(MediaCatalog.absence)"))
    func `the md5 sink writes the reference's sums and times`() throws {
        let catalog = try #require(MediaCatalog.shared), step = TestExtent.rounds(4, full: 1)
        let all = catalog.sweep.filter { $0.frameMD5 != nil && $0.group != "malformed" }
        let films = all.enumerated().filter { $0.offset % step == 0 || Self.differing[$0.element.path] != nil }.map(\.element)
        #expect(films.count > 380 / MediaCatalog.sweepStep / step)
        let verdicts = concurrently(films) { film -> Verdict in
            guard let reference = FrameMD5File(path: catalog.path(film.frameMD5!)) else {
                return Verdict(film: film.path, agrees: false, note: "no reference")
            }
            guard let outcome = try? PlayProgram.run(["--sink", "md5=-", catalog.path(film.path)]), let ours = FrameMD5File(outcome.output) else {
                return Verdict(film: film.path, agrees: false, note: "no sums")
            }
            let sums = ours.lines.map(\.hash) == reference.lines.map(\.hash)
            let times = ours.timeBase == reference.timeBase && ours.lines.map(\.timestamp) == reference.lines.map(\.timestamp)
            return Verdict(film: film.path, agrees: sums && times, note: sums ? "times" : "sums, \(ours.lines.count) of \(reference.lines.count)")
        }
        for verdict in verdicts where !verdict.agrees && Self.differing[verdict.film] == nil {
            Issue.record(Comment(rawValue: "\(verdict.film): \(verdict.note)"))
        }
        for verdict in verdicts where verdict.agrees && Self.differing[verdict.film] != nil && verdict.film != "hevc/oxideav/r413-rdpcm-explicit.hevc"
        {
            Issue.record(Comment(rawValue: "\(verdict.film) agrees now; take it off the list"))
        }
    }

    @Test(.enabled(if: MediaCatalog.shared != nil, "\(MediaCatalog.absence)"))
    func `damaged films end with an exit code and at most one sentence`() throws {
        let catalog = try #require(MediaCatalog.shared)
        let films = catalog.sweep.filter { $0.group == "malformed" }
        #expect(films.count > 200 / MediaCatalog.sweepStep)
        let troubles = concurrently(films) { film -> String? in
            guard let outcome = try? PlayProgram.run(["--sink", "md5=/dev/null", catalog.path(film.path)], limit: 60) else {
                return "\(film.path): did not run"
            }
            if outcome.crashed { return "\(film.path): crashed or hung" }
            if ![0, 65, 66, 74].contains(outcome.code) { return "\(film.path): exit code \(outcome.code)" }
            return outcome.code != 0 && outcome.errors.split(separator: "\n").count != 1 ? "\(film.path): \(outcome.errors)" : nil
        }
        for trouble in troubles.compactMap({ $0 }) { Issue.record(Comment(rawValue: trouble)) }
    }

    /// The results of `body` for every element, two at a time, in order.
    private func concurrently<Element: Sendable, Result>(_ elements: [Element], _ body: @escaping @Sendable (Element) -> Result) -> [Result] {
        let results = Results<Result>(count: elements.count)
        let pairs = OperationQueue()
        pairs.maxConcurrentOperationCount = 2
        for (index, element) in elements.enumerated() { pairs.addOperation { results.set(index, body(element)) } }
        pairs.waitUntilAllOperationsAreFinished()
        return results.all
    }

    private final class Results<Value>: @unchecked Sendable {
        private let lock = NSLock()
        private var values: [Value?]
        init(count: Int) { values = Array(repeating: nil, count: count) }
        func set(_ index: Int, _ value: Value) { lock.withLock { values[index] = value } }
        var all: [Value] { lock.withLock { values.map { $0! } } }
    }
}
