internal import CAV
internal import CAVFormat
public import Media
internal import SampleQueue

extension AssetReader {
    /// Goes to the sync sample at or before `time`; samples that end before `time` come marked `doNotDisplay`.
    ///
    /// If a video track is selected, only its sync samples count. Containers without an index (MPEG-TS, raw streams) let libavformat
    /// land anywhere, so the reader checks where it landed and seeks further back until the place is right. Where that fails, the
    /// film is read from its beginning, and opened again if necessary.
    /// - Throws: `notSeekable` for pipes and live streams, `cancelled`.
    public func seek(to time: MediaTime) throws(AssetError) {
        let target = max(time, .zero)
        guard target.isNumeric else { throw AssetError.notSeekable(location) }
        if target > .zero {
            for step in Self.steps where step == .zero || target > step {
                guard try jump(to: target - step) else { continue }
                if try hasLanded(before: target) { return prepare(target) }
            }
        }
        try jumpToBeginning()
        if target > .zero { try readOn(to: target) }
        prepare(target)
    }

    /// How far before the target to try: groups of frames rarely last longer than 40 s.
    private static let steps = [0, 1, 4, 12, 40].map { MediaTime(value: $0, timescale: 1) }
    /// 1 s, in microseconds: an encoder puts some hundredths of a second before the beginning.
    private static let priming: Int64 = 1_000_000
    /// Samples looked at in one place: more than ten seconds of sound and video.
    private static let longestLook = 2000

    private func prepare(_ target: MediaTime) {
        showFrom = target > .zero ? max(target, timeRange.start) : .negativeInfinity
        for index in readAhead.indices { readAhead[index] = marked(readAhead[index]) }
    }

    /// Seeks near `time` with libavformat; false when it cannot.
    private func jump(to time: MediaTime) throws(AssetError) -> Bool {
        guard let nanoseconds = time.nanoseconds() else { return false }
        let stamp = Ticks.add(nanoseconds / 1000, timeline.origin)
        // Sound may begin before zero, with the samples that its decoder needs first.
        var status = time == .zero ? unsafe avformat_seek_file(context, -1, .min, Ticks.add(stamp, -Self.priming), stamp, 0) : -1
        if status < 0 { status = unsafe avformat_seek_file(context, -1, .min, stamp, stamp, 0) }
        // Some demuxers find nothing before the first index entry; the beginning is always there.
        if status < 0 { status = unsafe avformat_seek_file(context, -1, .min, stamp, .max, 0) }
        try check(status)
        if status >= 0 { restart(toBeginning: time == .zero) }
        return status >= 0
    }

    private func jumpToBeginning() throws(AssetError) {
        // Broadcasts have no index: only their first byte is sure to be their beginning.
        if mayJump, try jumpToFirstByte(), try yieldsSample() { return }
        if !mayJump, try jump(to: .zero), try yieldsSample() { return }
        // Some demuxers cannot go back once they have seen the end, though they say so; a fresh one can.
        if try reopen() { return restart(toBeginning: true) }
        if try !jumpToFirstByte() { throw AssetError.notSeekable(location) }
    }

    /// Whether there is another sample, which is kept.
    private func yieldsSample() throws(AssetError) -> Bool {
        guard let sample = try readTolerantly() else { return false }
        readAhead.append(sample)
        return true
    }

    private func jumpToFirstByte() throws(AssetError) -> Bool {
        let status = unsafe avformat_seek_file(context, -1, 0, 0, 0, AVSEEK_FLAG_BYTE)
        try check(status)
        if status >= 0 { restart(toBeginning: true) }
        return status >= 0
    }

    private func check(_ status: Int32) throws(AssetError) {
        if status == cav_error_exit { throw AssetError(.cancelled, "\(location): seeking was cancelled.") }
    }

    private func restart(toBeginning: Bool) {
        timeline.restart(toBeginning: toBeginning)
        finishedTracks = []
        trackEnds.begin()
        packets = []
        readAhead = []
        captions.restart()
        showFrom = .negativeInfinity
    }

    /// The selected video tracks, whose sync samples count.
    private var film: Set<Int> { Set(tracks.filter { $0.kind == .video && streams.contains($0.id) }.map(\.id)) }

    /// Whether decoding from here gives the frame shown at `target`. Keeps what it reads, except for frames that cannot be decoded.
    private func hasLanded(before target: MediaTime) throws(AssetError) -> Bool {
        let film = film
        if film.isEmpty { return true }
        for _ in 0..<Self.longestLook {
            guard let sample = try readTolerantly() else { return false }
            guard film.contains(sample.trackID) else {
                readAhead.append(sample)
                continue
            }
            let shown = sample.shownTime
            guard shown.isNumeric else { return false }
            if sample.flags.contains(.sync) {
                readAhead.append(sample)
                return shown <= target
            }
            if sample.decodeTime.isNumeric, sample.decodeTime > target { return false }
        }
        return false
    }

    /// Reads from the beginning until `target` has come, and keeps what is needed from the last sync sample before it on.
    private func readOn(to target: MediaTime) throws(AssetError) {
        let film = film
        while readAhead.count < Self.longestLook, let sample = try readTolerantly() {
            let shown = sample.shownTime, isFilm = film.contains(sample.trackID)
            if shown.isNumeric, shown <= target, sample.flags.contains(.sync), isFilm || film.isEmpty { readAhead = [] }
            readAhead.append(sample)
            let order = sample.decodeTime.isNumeric ? sample.decodeTime : shown
            if isFilm || film.isEmpty, order.isNumeric, order > target { return }
        }
    }

    /// The next sample; nil at the end and at damage, which the next read will meet again.
    private func readTolerantly() throws(AssetError) -> SampleBuffer? {
        do throws(AssetError) {
            return try readSample()
        } catch {
            if error.code == .cancelled { throw error }
            return nil
        }
    }
}
