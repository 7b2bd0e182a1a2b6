internal import AudioSink
internal import Deinterlacing
internal import Media
internal import Subtitles

/// What a viewer has set that holds for whatever is shown: it waits while a film is being opened, and where a film has nothing that it applies to.
struct ViewerSettings: Sendable {
    var volume: Double
    var isMuted = false
    var audioDelay: MediaTime
    var deinterlacing: Deinterlacing
    var subtitles: SubtitleSettings

    init(_ configuration: PlayerConfiguration) {
        (volume, audioDelay, deinterlacing) = (configuration.volume, configuration.audioDelay, configuration.deinterlacing)
        subtitles = configuration.subtitles.settings
    }

    /// What is set already stays untouched: it may be costly.
    func apply(to pipeline: PlaybackPipeline) {
        if let audio = pipeline.audio {
            if audio.volume != volume { audio.volume = volume }
            if audio.isMuted != isMuted { audio.isMuted = isMuted }
            if audio.delay != audioDelay { audio.delay = audioDelay }
        }
        if let display = pipeline.display, display.deinterlacing != deinterlacing { display.deinterlacing = deinterlacing }
        for engine in pipeline.subtitleEngines { engine.settings = subtitles }
    }
}

extension Player {
    /// Keeps what a viewer sets, and applies it to the film that is open. Any thread.
    func changeSettings(_ change: (inout ViewerSettings) -> Void) {
        // Applied under the lock, so that of two changes the later one is applied last.
        settings.withLock { settings in
            change(&settings)
            if let pipeline = storage.withLock({ $0.pipeline }) { settings.apply(to: pipeline) }
        }
    }
}
