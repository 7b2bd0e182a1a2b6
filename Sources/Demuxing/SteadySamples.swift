package import Media
package import SampleQueue

/// Hands out a film's samples with times that a player can wait for: reads ahead where one is doubtful, and has `SteadyTimes` decide.
///
/// Whoever names the times does not matter: the film, or a process without rights that says what it likes.
///
/// Thread-safety: one thread at a time, as the reader behind it.
package struct SteadySamples: ~Copyable {
    /// What the samples are for.
    package enum Purpose: Sendable {
        /// A decoder derives the presentation time of a frame that has lost it.
        case decoding
        /// They are written as they are. Such a frame is shown when it is decoded, if others of its track have presentation times.
        case copying
    }

    private let reader: any AssetReading
    private let purpose: Purpose
    private var times: SteadyTimes
    /// Reading ahead waits for nobody but a disk or a network: the film is all there.
    private let mayReadAhead: Bool
    private var ahead: ArraySlice<SampleBuffer> = []
    /// Bytes of those.
    private var bytes = 0
    private var isAtEnd = false
    /// Tracks of which a sample has had a presentation time.
    private var timed: Set<Int> = []
    /// Comes behind the samples that have been read ahead.
    private var failure: AssetError?

    /// 1000 samples, or 8 MiB: more than a cluster of Matroska has, whose samples share one time.
    private static let mostSamples = 1000, mostBytes = 8 << 20

    /// - Parameters:
    ///   - reader: Nobody else reads from it or seeks in it from now on.
    ///   - start: Where it stands.
    package init(_ reader: any AssetReading, for purpose: Purpose = .decoding, from start: MediaTime = .zero) {
        (self.reader, self.purpose) = (reader, purpose)
        let steady = reader.tracks.filter { $0.kind == .video || $0.kind == .audio }.map(\.id)
        times = SteadyTimes(steady: Set(steady), length: reader.duration.nanoseconds().map { $0 / 1000 })
        times.begin(at: (start.nanoseconds() ?? 0) / 1000)
        mayReadAhead = reader.isSeekable || reader.duration.isNumeric
    }

    /// As `AssetReading.nextSample`, and without samples that are decoded after the reader's time range.
    package mutating func next() throws(AssetError) -> SampleBuffer? {
        let end = reader.timeRange.end
        while let sample = try take() {
            let wasBeyond = sample.presentationTime.isNumeric && sample.presentationTime >= end
            var placed = placed(sample)
            let order = placed.decodeTime.isNumeric ? placed.decodeTime : placed.presentationTime
            if order.isNumeric, order >= end { continue }
            // The reader has judged by the container's time.
            let isBeyond = placed.presentationTime.isNumeric && placed.presentationTime >= end
            if isBeyond { placed.flags.insert(.doNotDisplay) } else if wasBeyond { placed.flags.remove(.doNotDisplay) }
            if purpose == .decoding { placed.endFrame(by: end) }
            return placed
        }
        return nil
    }

    private mutating func placed(_ sample: SampleBuffer) -> SampleBuffer {
        var sample = sample
        sample.forgetEndlessTimes()
        guard let stamp = SteadyTimes.Stamp(sample) else { return sample }
        if purpose == .copying, sample.presentationTime.isNumeric { timed.insert(sample.trackID) }
        if mayReadAhead, times.isDoubtful(stamp) { readAhead() }
        let placement = times.place(stamp, following: ahead.lazy.compactMap(SteadyTimes.Stamp.init), isAll: isAtEnd)
        if placement.losesDuration { sample.duration = .invalid }
        if placement.losesPresentation { sample.forgetPresentationTime() }
        if purpose == .copying, !sample.presentationTime.isNumeric, timed.contains(sample.trackID) { sample.presentationTime = sample.decodeTime }
        return placement.shift == 0 ? sample : sample.shifted(by: MediaTime(value: placement.shift, timescale: 1_000_000))
    }

    /// As `AssetReading.seek`.
    package mutating func seek(to time: MediaTime) throws(AssetError) {
        (ahead, bytes, isAtEnd, failure) = ([], 0, false, nil)
        times.begin(at: (time.nanoseconds() ?? 0) / 1000)
        try reader.seek(to: time)
    }

    private mutating func take() throws(AssetError) -> SampleBuffer? {
        if let sample = ahead.popFirst() {
            bytes -= sample.byteCount
            return sample
        }
        if let failure {
            self.failure = nil
            throw failure
        }
        return try reader.nextSample()
    }

    private mutating func readAhead() {
        while !isAtEnd, failure == nil, ahead.count < Self.mostSamples, bytes < Self.mostBytes {
            do throws(AssetError) {
                guard let sample = try reader.nextSample() else { return isAtEnd = true }
                ahead.append(sample)
                bytes += sample.byteCount
            } catch { failure = error }
        }
    }
}

extension SteadyTimes.Stamp {
    /// Nil for what has no time.
    init?(_ sample: SampleBuffer) {
        func count(_ time: MediaTime) -> Int64? { time.isNumeric ? time.nanoseconds().map { $0 / 1000 } : nil }
        let decode = count(sample.decodeTime), presentation = count(sample.presentationTime)
        guard let order = decode ?? presentation else { return nil }
        self.init(
            track: sample.trackID, order: order, presentation: decode == nil ? nil : presentation, duration: count(sample.duration) ?? 0)
    }
}

extension SampleBuffer {
    /// A frame that lasts beyond the end is shown until then.
    fileprivate mutating func endFrame(by end: MediaTime) {
        guard case .compressed(_, .video) = content, end.isNumeric, duration.isNumeric, shownTime.isNumeric, shownTime < end else { return }
        duration = min(duration, end - shownTime)
    }

    /// The decoder derives it from the decode time.
    fileprivate mutating func forgetPresentationTime() {
        if case .compressed(_, .video) = content { presentationTime = .invalid } else { presentationTime = decodeTime }
        sourcePresentationTimestamp = nil
    }

    /// Times that lie centuries away are none.
    fileprivate mutating func forgetEndlessTimes() {
        if presentationTime.isNumeric, presentationTime.nanoseconds() == nil {
            (presentationTime, sourcePresentationTimestamp) = (.invalid, nil)
        }
        if decodeTime.isNumeric, decodeTime.nanoseconds() == nil { (decodeTime, sourceDecodeTimestamp) = (.invalid, nil) }
    }
}
