package import DisplaySink
package import Media

// For programs that show subtitles themselves.

extension SubtitleEngine {
    /// What is on at the frame of this time, from everything that the engine was given before; drawn for `canvas` unless that is nil.
    ///
    /// - Parameter reply: Called once: in this call where nothing has changed since the last answer, else on the engine's thread. nil: the time is
    ///   not known, or the engine ends.
    package func show(at time: MediaTime, on canvas: OverlayCanvas?, _ reply: @escaping @Sendable (DrawnSubtitles?) -> Void) {
        guard let time = Self.milliseconds(time) else { return reply(nil) }
        let known = state.withLock { state in
            state.orders.isEmpty && !state.isObeying && !state.isStopping ? state.answers.answer(at: time, on: canvas) : nil
        }
        if let known { return reply(known) }
        if !order(.show(at: time, canvas, Reply(call: reply))) { reply(nil) }
    }

    /// The same. Waits for the answer, until `deadline` (nil: without limit); nil: it did not come.
    package func shown(at time: MediaTime, on canvas: OverlayCanvas?, until deadline: HostTime?) -> DrawnSubtitles? {
        let answer = Monitor<DrawnSubtitles??>(nil)
        show(at: time, on: canvas) { drawn in answer.change { $0 = .some(drawn) } }
        return answer.wait(until: deadline) { $0 } ?? nil
    }

    /// What is on at a time of the film.
    static func drawn(
        at time: Int64, _ canvas: OverlayCanvas?, _ settings: SubtitleSettings, _ drawing: any SubtitleDrawing
    ) -> DrawnSubtitles {
        let own = time - settings.delay, lines = drawing.lines(at: own)
        var shown = SubtitleLines(
            lines.lines.map { $0.moved(by: settings.delay) }, from: added(lines.from, settings.delay),
            until: max(time + 1, added(lines.until, settings.delay)))
        guard let canvas else { return DrawnSubtitles(shown) }
        let (image, until) = drawing.draw(at: own, canvas, settings)
        // It moves.
        if until <= own + 1 { shown.from = time }
        shown.until = max(time + 1, min(shown.until, added(until, settings.delay)))
        return DrawnSubtitles(shown, image: image)
    }
}

extension SubtitleEngine.State {
    /// Gives an answer its number. One that was drawn before `generation` changed is not given again.
    mutating func keep(_ drawn: DrawnSubtitles, on canvas: OverlayCanvas?, _ generation: Int) -> DrawnSubtitles {
        defer { if generation != self.generation { answers.forgetAll() } }
        return answers.add(drawn, on: canvas)
    }
}
