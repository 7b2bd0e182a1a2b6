internal import DisplaySink
internal import Media
internal import Subtitles

/// Subtitles, which count their film's own time, over the frames of films that follow each other without a gap.
///
/// Thread-safety: as `OverlaySource`.
final class JoiningOverlay: OverlaySource {
    private let source: JoiningSource
    private let canvas = Monitor<OverlayCanvas?>(nil)

    init(_ source: JoiningSource) { self.source = source }

    func setCanvas(_ canvas: OverlayCanvas) {
        self.canvas.withLock { $0 = canvas }
        for film in source.films { film.subtitles?.setCanvas(canvas) }
    }

    func expect(_ time: MediaTime) {
        let (film, own) = source.place(at: time)
        prepared(film)?.expect(own)
    }

    func image(at time: MediaTime) -> OverlayImage? {
        let (film, own) = source.place(at: time)
        return prepared(film)?.image(at: own)
    }

    /// A film that has come since does not know the canvas.
    private func prepared(_ film: JoiningSource.Film) -> SubtitleEngine? {
        guard let engine = film.subtitles else { return nil }
        if let canvas = canvas.withLock({ $0 }) { engine.setCanvas(canvas) }
        return engine
    }
}
