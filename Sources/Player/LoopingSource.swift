internal import AudioSink
internal import Demuxing
internal import DisplaySink
internal import Media
internal import SampleQueue

/// The samples of a film that begins again at its end, without an end: the times go on, so that the first frame of each turn is due when the last
/// one's duration ends, and the sound follows sample by sample.
///
/// A source that cannot go back ends, as it does without this.
///
/// Thread-safety: as `SampleSource`. The feeder's thread reads ahead; `filmTime` may be asked on any thread.
final class LoopingSource: SampleSource, @unchecked Sendable {
    private let source: any SampleSource
    private let video: Int?, audio: Int?
    private let beginning: MediaTime
    private let frameDuration: MediaTime
    /// The part that is played, if its end is known.
    private let turn: MediaTimeRange?
    private let timebase: Timebase
    private let timeline = Monitor(FilmTimeline())
    /// What was read of this turn, in the film's own time.
    private var extent = FilmExtent()
    private var shift = MediaTime.zero
    /// Read already, in the film's own time.
    private var begun: ArraySlice<SampleBuffer> = []
    /// For the decoders, before those.
    private var markers: ArraySlice<SampleBuffer> = []

    /// 64: turns of 31 ms fill the two seconds that are read ahead. A film of which nothing can be decoded would be read for ever.
    private static let mostAhead = 64
    /// Samples that are looked at for the first frame and the first sound of a turn, and their bytes.
    private static let longestLook = 512, largestLook = 16 << 20
    /// 16: no codec puts a frame behind more frames than that.
    private static let mostReordered = 16

    /// - Parameters:
    ///   - source: reads `film`, whose tracks are chosen.
    ///   - timebase: what the times are shown by.
    init(_ film: OpenedSource, timebase: Timebase) {
        source = film.samples
        (video, audio) = (film.videoTrack, film.audio?.track)
        (beginning, frameDuration) = (film.beginning, film.frameDuration)
        turn = film.duration.isNumeric ? MediaTimeRange(start: film.beginning, end: max(film.duration, film.beginning)) : nil
        self.timebase = timebase
    }

    /// The film's own time at a time of the samples.
    func filmTime(at time: MediaTime) -> MediaTime { timeline.withLock { $0.filmTime(at: time, turn: turn) } }

    func nextSample() throws(AssetError) -> SampleBuffer? {
        if let marker = markers.popFirst() { return marker }
        while true {
            if let sample = begun.popFirst() { return delivered(sample) }
            if let sample = try source.nextSample() { return delivered(sample) }
            guard beginTurn() else { return nil }
            if let marker = markers.popFirst() { return marker }
        }
    }

    func seek(to time: MediaTime) throws(AssetError) {
        try source.seek(to: time)
        (begun, markers, shift, extent) = ([], [], .zero, FilmExtent())
        timeline.withLock { $0.restart() }
    }

    func cancel() { source.cancel() }
    func setHeld(_ isHeld: Bool) { source.setHeld(isHeld) }

    /// Goes back and finds out where the next turn begins. False when it cannot.
    private func beginTurn() -> Bool {
        let now = timebase.time, last = extent.shifted(by: shift)
        guard last.begin != nil, timeline.withLock({ $0.count(after: now) < Self.mostAhead }) else { return false }
        do throws(AssetError) { try source.seek(to: beginning) } catch { return false }
        var next = FilmExtent(), read: [SampleBuffer] = [], bytes = 0, frames = 0, hasFirst = video == nil
        while read.count < Self.longestLook, bytes < Self.largestLook, !hasFirst || (audio != nil && !next.sound.isKnown),
            let sample = try? source.nextSample()
        {
            note(sample, in: &next)
            if sample.trackID == video, next.frames.isKnown {
                frames += 1
                // Frames that are decoded later may be shown earlier, but none before it is decoded.
                hasFirst = sample.decodeTime.isNumeric ? sample.decodeTime >= next.frames.begin : frames > Self.mostReordered
            }
            read.append(sample)
            bytes += sample.byteCount
        }
        guard let shift = last.shift(of: next), let begin = next.begin else { return false }
        begun = read[...]
        (self.shift, extent) = (shift, FilmExtent())
        timeline.withLock { $0.append(.init(start: begin + shift, shift: shift), now: now) }
        markers = []
        if let video { markers.append(SampleBuffer(marker: .discontinuity, trackID: video)) }
        if let audio {
            var marker = SampleBuffer(marker: .drain, trackID: audio)
            if next.sound.isKnown { marker.presentationTime = next.sound.begin + shift }
            markers.append(marker)
        }
        return true
    }

    private func delivered(_ sample: SampleBuffer) -> SampleBuffer {
        note(sample, in: &extent)
        // Subtitles keep the film's own times.
        guard shift != .zero, sample.trackID == video || sample.trackID == audio else { return sample }
        var sample = sample
        if sample.presentationTime.isNumeric { sample.presentationTime = sample.presentationTime + shift }
        if sample.decodeTime.isNumeric { sample.decodeTime = sample.decodeTime + shift }
        // It counts the film's own time.
        sample.sourcePresentationTimestamp = nil
        sample.sourceDecodeTimestamp = nil
        return sample
    }

    private func note(_ sample: SampleBuffer, in extent: inout FilmExtent) {
        if sample.trackID == video {
            let shown = sample.trimmed
            guard !shown.flags.contains(.doNotDisplay) else { return }
            extent.frames.add(shown.presentationTime, shown.duration.isNumeric && shown.duration > .zero ? shown.duration : frameDuration)
        } else if sample.trackID == audio, !sample.flags.contains(.doNotDisplay) {
            let padding = sample.soundPadding
            extent.sound.add(sample.presentationTime + padding.start, sample.duration - padding.start - padding.end)
        }
    }
}

/// Subtitles, which count the film's own time, over the frames of a film that loops.
final class LoopingOverlay: OverlaySource {
    private let subtitles: any OverlaySource
    private let source: LoopingSource

    private init(_ subtitles: any OverlaySource, _ source: LoopingSource) { (self.subtitles, self.source) = (subtitles, source) }

    /// What lies over the frames of `source`; nil: over a film that keeps its own times.
    static func of(_ subtitles: (any OverlaySource)?, _ source: LoopingSource?) -> (any OverlaySource)? {
        guard let subtitles, let source else { return subtitles }
        return LoopingOverlay(subtitles, source)
    }

    func setCanvas(_ canvas: OverlayCanvas) { subtitles.setCanvas(canvas) }
    func expect(_ time: MediaTime) { subtitles.expect(source.filmTime(at: time)) }
    func image(at time: MediaTime) -> OverlayImage? { subtitles.image(at: source.filmTime(at: time)) }
}
