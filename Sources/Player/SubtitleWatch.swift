internal import Media
internal import Subtitles

/// Says when other subtitles are on at the film's position than before: as time runs, after a seek, and when another track is chosen.
///
/// It asks what is on and sets a timer for the moment at which that ends. Without a clock there is no such moment: programs ask with each frame.
///
/// Thread-safety: all of it. No call blocks.
final class SubtitleWatch: Sendable {
    private struct State: Sendable {
        /// Counts the questions, and the newest that has been answered.
        var asked: UInt64 = 0, answered: UInt64 = 0
        /// What is on; nil: nobody has said.
        var shown: DrawnSubtitles?
        var timer: TimebaseTimer?
        var isStopped = false
    }

    private let link: PipelineLink
    private let report: @Sendable (DrawnSubtitles) -> Void
    private let state = Monitor(State())

    /// - Parameter report: Is called when something else is on, mostly on the engine's thread.
    init(_ link: PipelineLink, report: @escaping @Sendable (DrawnSubtitles) -> Void) {
        self.link = link
        self.report = report
    }

    /// What is on now, as far as it has been told.
    var shown: DrawnSubtitles? { state.withLock { $0.shown } }

    /// Looks again.
    func check() {
        let number = state.withLock { state -> UInt64? in
            guard !state.isStopped else { return nil }
            state.asked += 1
            return state.asked
        }
        guard let number, let pipeline = link.pipeline else { return }
        let (position, time) = (pipeline.position, pipeline.time)
        guard let engine = pipeline.subtitles else { return settle(number, DrawnSubtitles(SubtitleLines()), position, time) }
        engine.show(at: position, on: nil) { [weak self] drawn in
            if let drawn { self?.settle(number, drawn, position, time) }
        }
    }

    /// No report follows, but one that is under way.
    func stop() {
        state.withLock { state in
            state.isStopped = true
            return state.timer.take()
        }?.cancel()
    }

    /// - Parameters:
    ///   - position: The film's time that was asked about.
    ///   - time: That of the timebase then.
    private func settle(_ number: UInt64, _ drawn: DrawnSubtitles, _ position: MediaTime, _ time: MediaTime) {
        let answered = state.withLock { state -> (isNews: Bool, old: TimebaseTimer?)? in
            guard !state.isStopped, number > state.answered else { return nil }
            state.answered = number
            let isNews = (state.shown?.shown.lines ?? []) != drawn.shown.lines
            state.shown = drawn
            return (isNews, state.timer.take())
        }
        guard let (isNews, old) = answered else { return }
        old?.cancel()
        if isNews { report(drawn) }
        guard let pipeline = link.pipeline, let wait = Self.wait(from: position, until: drawn.shown.until, end: pipeline.source.duration) else {
            return
        }
        let timer = pipeline.timebase.addTimer(at: time + wait) { [weak self] in self?.check() }
        let unused = state.withLock { state -> TimebaseTimer? in
            guard !state.isStopped, state.answered == number else { return timer }
            state.timer = timer
            return nil
        }
        unused?.cancel()
    }

    /// How much film passes until something else may be on; nil: nothing is known to come. At its end a film may begin again.
    ///
    /// - Parameters:
    ///   - until: milliseconds of the film.
    ///   - end: the film's; not numeric when it is not known.
    static func wait(from position: MediaTime, until: Int64, end: MediaTime) -> MediaTime? {
        guard position.isNumeric else { return nil }
        var next = until == .max ? MediaTime.positiveInfinity : MediaTime(value: until, timescale: 1000)
        if end.isNumeric, position < end { next = min(next, end) }
        return next.isNumeric ? max(next - position, MediaTime(value: 1, timescale: 1000)) : nil
    }
}
