internal import ArgumentParser
internal import Decoding
internal import DisplaySink
internal import FrameExport
internal import Glibc
internal import Media
internal import PlaySupport
internal import Player
internal import Sandbox

/// `play FILE`: wires options, sink, player, keys, signals and the status line together.
struct PlayFile: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "file", abstract: "Plays films in a Wayland window, on a bare monitor, into checksums, or into nothing.",
        usage: """
            play [OPTIONS] FILE|URL|-
            play info FILE [--json]
            play devices [--json]
            """,
        discussion: """
            Keys in the window and in the terminal: space pause, q or Esc quit, f full screen, ← → 5 s, ↑ ↓ 1 min, . and , one frame, \
            m mute, 9 and 0 volume, [ and ] speed, Backspace normal speed, o where the film is (kms).

            Exit codes: 0 played (or ended by q, a closed window, SIGINT or SIGTERM), 64 wrong options, 65 nothing playable \
            or damaged, 66 cannot open, 69 no display or device, 70 internal error, 73 cannot write an output file.
            """)

    @OptionGroup var options: PlayOptions

    func run() throws {
        let terminal = Terminal()
        do {
            try Session(options: options, terminal: terminal).run()
        } catch {
            terminal.line("play: \(error.description)")
            throw ArgumentParser.ExitCode(PlaySupport.ExitCode(error).rawValue)
        }
    }
}

/// One run of `play FILE`.
private final class Session {
    private let options: PlayOptions
    private let terminal: Terminal
    private let inbox = Monitor([Message]())
    /// Whether a signal ended playback.
    private var hasBeenEnded = false

    private enum Message: Sendable {
        case event(PlayerEvent)
        case end
    }

    /// 5 s: time for clients to fetch the last frames.
    private static let farewell = HostSpan.seconds(5)
    /// 100 ms: ten redraws per second look smooth and cost little.
    private static let redraw = HostSpan.milliseconds(100)

    init(options: PlayOptions, terminal: Terminal) {
        self.options = options
        self.terminal = terminal
    }

    func run() throws(PlayerError) {
        let inbox = inbox
        let terminal = terminal
        // Opening may wait for its source without limit; a signal cancels it.
        let opening = Monitor<Player?>(nil)
        let keyboard = Monitor<TerminalKeyboard?>(nil)
        let signals = Signals(
            onEnd: {
                inbox.change { $0.append(.end) }
                opening.withLock { $0 }?.cancelOpening()
            },
            onPatienceLost: {
                keyboard.withLock { $0 }?.restore()
                terminal.restore()
            })
        defer { signals.stop() }
        var configuration = configuration
        Player.prepare(configuration)
        let sink = try makeSink()
        let server = try makeServer()
        defer { server?.stop() }
        if let server { configuration.exporters = [server.exporter] }
        let player = Player(sink: sink, configuration: configuration) { event in inbox.change { $0.append(.event(event)) } }
        defer { player.close() }
        opening.change { $0 = player }
        do { try player.open(options.file) } catch {
            guard isEnded else { throw error }
            return try finish(player)
        }
        opening.change { $0 = nil }
        if !sink.readsTerminal, options.file != "-" {
            keyboard.withLock { $0 = TerminalKeyboard { key in inbox.change { $0.append(.event(.key(key))) } } }
        }
        defer { keyboard.withLock { $0.take() }?.stop() }
        if let window = sink.window {
            window.setTitle(player.title)
            window.setGravity(options.gravity.gravity)
            if options.fullscreen { window.setFullscreen(true) }
        }
        let failure = follow(player, sink)
        terminal.keepStatus()
        if failure == nil, options.exportAll, !hasBeenEnded { _ = server?.waitUntilFinished(until: MonotonicClock.shared.now() + Self.farewell) }
        try finish(player)
        if let failure { throw failure }
    }

    private func finish(_ player: Player) throws(PlayerError) {
        player.close()
        if let path = options.stats { try StatisticsFile.write(player.statistics, to: path) }
    }

    /// Whether a signal waits in the inbox.
    private var isEnded: Bool {
        inbox.withLock { messages in
            messages.contains { if case .end = $0 { true } else { false } }
        }
    }

    /// Without a display, an unreadable film is reported first.
    private func makeSink() throws(PlayerError) -> any DisplaySink {
        do { return try SinkFactory.make(options) } catch {
            if options.raw == nil, options.file != "-" { _ = try MediaReport(location: options.file, sandbox: configuration.sandbox) }
            throw error
        }
    }

    private func makeServer() throws(PlayerError) -> FrameServer? {
        guard let export = options.export else { return nil }
        let terminal = terminal, isQuiet = options.quiet
        do {
            return try FrameServer(path: export.path, configuration: FrameServer.Configuration(isLossless: options.exportAll)) { text in
                if !isQuiet { terminal.line(text) }
            }
        } catch { throw PlayerError(.cannotCreate, error.description) }
    }

    private var configuration: PlayerConfiguration {
        var configuration = PlayerConfiguration()
        configuration.startedAt = ProcessStart.time()
        configuration.startTime = options.start?.time
        configuration.playDuration = options.duration?.time
        configuration.rate = options.speed
        configuration.loops = options.loop
        configuration.startsPaused = options.pause
        configuration.pausesWithoutDisplay = options.onUnplug == .pause
        configuration.waitsForSource = options.onStall == .wait
        configuration.playsAudio = !options.noAudio
        configuration.audioDevice = options.audioDevice
        configuration.volume = Double(options.volume) / 100
        configuration.threads = options.threads
        configuration.sandbox.policy = SandboxPolicy(rawValue: options.sandbox.rawValue) ?? .off
        configuration.sandbox.restarts.count = options.decoderRestarts
        configuration.decoder = DecoderSpecification(hardware: options.decoder.hardware, device: options.device)
        configuration.rawCodec = options.raw.map { VideoCodec(name: $0.rawValue) }
        return configuration
    }

    /// Plays until the end, the viewer's command or a failure, and returns the failure.
    private func follow(_ player: Player, _ sink: any DisplaySink) -> PlayerError? {
        let window = sink.window
        var wasPlaying = false
        var manager = ServiceManager()
        var overlay = OverlayTimer(options.osd ? sink.statusOverlay : nil)
        defer {
            manager.tick(MonotonicClock.shared.now(), isShowing: player.statistics.framesPresented > 0)
            manager.stopping()
        }
        while true {
            let messages = inbox.wait(until: MonotonicClock.shared.now() + Self.redraw) { $0.isEmpty ? nil : $0 } ?? []
            inbox.withLock { $0.removeFirst(messages.count) }
            for message in messages {
                switch message {
                case .end:
                    hasBeenEnded = true
                    return nil
                case .event(.stateChanged): break
                case .event(.ended): return nil
                case .event(.failed(let error)): return error
                case .event(.notice(let text)): if !options.quiet { terminal.line(text) }
                case .event(.detail(let text)): if options.verbose { terminal.line(text) }
                case .event(.closeRequested): return nil
                case .event(.key(let key)):
                    let command = PlayerCommand(key, isFullscreen: window?.isFullscreen ?? false)
                    if !player.perform(command, window: window) { return nil }
                    overlay.told(command)
                }
            }
            let isPlaying = player.isPlaying
            if isPlaying != wasPlaying { window?.setPlaying(isPlaying) }
            overlay.tick(player)
            wasPlaying = isPlaying
            manager.tick(MonotonicClock.shared.now(), isShowing: player.statistics.framesPresented > 0)
            if !options.quiet, terminal.isInteractive { terminal.status(player.statusLine) }
        }
    }
}
