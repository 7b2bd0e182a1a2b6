internal import Media
internal import SampleQueue

/// A compressed sample of a track of subtitles. Times are milliseconds of the film.
///
/// Thread-safety: a value; its bytes do not change.
struct SubtitleSample: Sendable {
    let block: BlockBuffer
    let start: Int64
    /// Nil when the container does not say.
    let duration: Int64?

    init(_ block: BlockBuffer, start: Int64, duration: Int64?) {
        self.block = block
        self.start = start
        self.duration = duration
    }

    /// Nil for a sample without bytes or without a time.
    init?(_ sample: SampleBuffer) {
        guard case .compressed(let block, _) = sample.content, let start = SubtitleEngine.milliseconds(sample.presentationTime) else { return nil }
        self.init(block, start: start, duration: SubtitleEngine.milliseconds(sample.duration))
    }
}

/// Why a track is not shown.
struct SubtitleTrouble: Sendable, Hashable {
    /// The track's index.
    let track: Int
    /// What follows "… is not shown:".
    let reason: String

    init(_ track: Int, _ reason: String) {
        self.track = track
        self.reason = reason
    }

    /// A sentence for the viewer.
    func sentence(for tracks: [SubtitleTrack]) -> String {
        let path = tracks.indices.contains(track) ? tracks[track].path : nil
        return "\(path ?? "Subtitle track \(track + 1)") is not shown: \(reason)."
    }
}
