internal import CAV
internal import Media
internal import SampleQueue

/// Subtitles that an adaptive film has a list of their own for: parts in WebVTT or TTML, read beside the frames where they
/// are wanted.
///
/// A part that does not come, or is none of these, is a gap in the subtitles; the film goes on.
///
/// Thread-safety: one thread at a time.
final class TextLane {
    let track: AssetTrack
    private let fetcher: PartFetcher
    let lane: Int
    /// Samples that have been read and not been handed out, by their times.
    private var ready: ArraySlice<SampleBuffer> = []
    /// Up to where parts have been read.
    private var covered = MediaTime.negativeInfinity
    private var hasEnded = false
    /// Those that later parts may repeat, because they last.
    private var lasting: Set<Line> = []

    private struct Line: Hashable {
        var start, end: MediaTime
        var text: String
    }

    init(_ fetcher: PartFetcher, lane: Int, id: Int, _ rendition: MasterPlaylist.Rendition, duration: MediaTime) {
        (self.fetcher, self.lane) = (fetcher, lane)
        var track = AssetTrack(
            id: id, kind: .subtitle, format: .other("webvtt"), timeBase: Ratio(1, 1000), duration: duration, bitRate: 0,
            language: rendition.code, title: rendition.title, isDefault: rendition.isDefault,
            isDecodable: unsafe avcodec_find_decoder(AV_CODEC_ID_WEBVTT) != nil)
        (track.isForced, track.isHearingImpaired, track.isApart) = (rendition.isForced, rendition.isHearingImpaired, true)
        self.track = track
    }

    /// The next sample is that of the place where the fetcher has been sent.
    func restart() { (ready, covered, hasEnded, lasting) = ([], .negativeInfinity, false, []) }

    /// When the next sample begins, at `time` or before; nil: there is none. Blocks until the parts up to there are here, or are known not to come.
    /// Of a film that grows nothing is waited for: its subtitles may come late.
    ///
    /// - Parameters:
    ///   - time: nil: whichever comes next.
    ///   - line: says what is added to the times of a part's cues.
    ///   - isLast: nothing else is to come, and subtitles are waited for.
    func next(until time: MediaTime?, on line: AdaptiveTimeline, isLast: Bool) throws(AssetError) -> MediaTime? {
        let grows = !track.duration.isNumeric, waits = !grows || isLast
        while !hasEnded, time.map({ grows || covered <= $0 }) ?? ready.isEmpty {
            guard let part = waits ? try fetcher.nextPart(lane, bytes: .max) : fetcher.wholePart(lane) else {
                hasEnded = waits
                break
            }
            fetcher.state.change { $0.lanes[lane].pass() }
            covered = max(covered, line.time(at: part.part.end))
            guard part.progress == .whole, let file = TextPart(part.bytes, head: part.head), let first = file.cues.first else { continue }
            let start = MediaTime(value: first.start, timescale: 1000)
            let now = grows ? time : nil, isManifest = fetcher.lists.manifest != nil
            let shift = line.shift(of: file.map, first: start, part.part, now: now, countsPeriods: isManifest)
            add(file, shift: shift)
        }
        guard let first = ready.first, first.presentationTime <= time ?? .positiveInfinity else { return nil }
        return first.presentationTime
    }

    /// Takes that sample.
    func pop() -> SampleBuffer? { ready.popFirst() }

    private func add(_ file: TextPart, shift: MediaTime) {
        // Later parts repeat nothing that ends before this one's cues begin.
        let begin = file.cues.map(\.start).min() ?? 0
        lasting = lasting.filter { $0.end > MediaTime(value: begin, timescale: 1000) + shift }
        var all = Array(ready)
        for cue in file.cues {
            let start = MediaTime(value: cue.start, timescale: 1000) + shift, end = MediaTime(value: cue.end, timescale: 1000) + shift
            guard lasting.insert(Line(start: start, end: end, text: cue.text)).inserted else { continue }
            let bytes = Array(cue.text.utf8)
            let block = unsafe bytes.withUnsafeBytes { unsafe BlockBuffer(copying: $0) }
            var sample = SampleBuffer(
                content: .compressed(block, track.format), trackID: track.id, presentationTime: start, decodeTime: start, flags: .sync)
            sample.duration = end - start
            all.append(sample)
        }
        // Cues may stand in any order.
        ready = all.sorted { $0.presentationTime < $1.presentationTime }[...]
    }
}
