internal import CAV
internal import Media
internal import SampleQueue

/// Subtitles that an adaptive film has a list of their own for: parts in WebVTT, read beside the frames where they are wanted.
///
/// A part that does not come, or is none of WebVTT, is a gap in the subtitles; the film goes on.
///
/// Thread-safety: one thread at a time.
final class TextLane {
    let track: AssetTrack
    private let fetcher: PartFetcher
    let lane: Int
    /// Samples that have been read and not been handed out, by their times.
    private var ready: ArraySlice<SampleBuffer> = []
    /// Up to where parts have been read, in the time of the list.
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

    /// The next sample at `time` or before; nil: there is none. Blocks until the parts up to there are here, or are known not to come.
    ///
    /// - Parameter line: says what is added to the times of a part's cues.
    func next(until time: MediaTime, on line: AdaptiveTimeline) throws(AssetError) -> SampleBuffer? {
        while !hasEnded, covered <= time {
            guard let part = try fetcher.nextPart(lane, bytes: .max) else {
                hasEnded = true
                break
            }
            fetcher.state.change { $0.lanes[lane].pass() }
            covered = max(covered, MediaTime(value: part.part.end, timescale: 1_000_000))
            guard part.progress == .whole, let file = WebVTTFile(part.bytes), let first = file.cues.first else { continue }
            let start = MediaTime(value: first.start, timescale: 1000)
            let begin = MediaTime(value: part.part.start, timescale: 1_000_000)
            add(file, at: begin, shift: line.shift(of: file.map, first: start, part.part, countsPeriods: fetcher.lists.manifest != nil))
        }
        guard let first = ready.first, first.presentationTime <= time else { return nil }
        return ready.popFirst()
    }

    /// - Parameter begin: of the part.
    private func add(_ file: WebVTTFile, at begin: MediaTime, shift: MediaTime) {
        lasting = lasting.filter { $0.end > begin }
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
