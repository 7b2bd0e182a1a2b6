internal import CScanout
internal import Decoding
internal import DisplaySink
internal import FrameExport
internal import Media
internal import Player
internal import Sandbox

/// What `scanout_player *` points to: a player and the events that the program has not fetched yet.
final class PlayerHandle: Handle {
    let player: Player
    let events: EventBox

    /// Opens `location` with the sink of a `scanout_output` number.
    init(_ location: String, output: UInt32, _ configuration: PlayerConfiguration) throws(PlayerError) {
        let sink: (any DisplaySink)?, events: EventBox
        do throws(SinkError) { sink = try makeSink(output) } catch { throw PlayerError(error) }
        guard let sink else { throw PlayerError(.invalidArgument, "There is no output number \(output).") }
        do throws(SystemError) { events = try EventBox() } catch { throw PlayerError(.system, error.description) }
        self.events = events
        player = Player(sink: sink, configuration: configuration) { event in
            if let news = News(event) { events.post(news) }
        }
        // The previous film ended the exporters; they accept frames again.
        for exporter in configuration.exporters { exporter.resume() }
        try player.open(location)
    }
}

extension PlayerConfiguration {
    /// Nil when a number is out of range.
    init?(_ options: scanout_options) {
        guard let specification = unsafe DecoderSpecification(forC: options.decoder),
            let exporters = unsafe ExporterHandle.list(options.exporters, options.exporter_count),
            let sandbox = unsafe SandboxOptions(forC: options.sandbox)
        else { return nil }
        self.init()
        self.sandbox = sandbox
        decoder = specification
        self.exporters = exporters
        threads = unsafe Int(min(options.threads, 64))
        startsPaused = unsafe options.starts_paused != 0
        playsAudio = unsafe options.is_silent == 0
        loops = unsafe options.loops != 0
        let start = unsafe options.start_time, length = unsafe options.play_duration
        if start > 0 { startTime = MediaTime(nanoseconds: start) }
        if length > 0 { playDuration = MediaTime(nanoseconds: length) }
    }
}
