internal import Decoding
internal import Dispatch
internal import DisplaySink
internal import FrameExport
internal import Media
internal import PlaySupport
internal import Player
internal import Sandbox

/// One run of `play FILE`.
///
/// Everything that can hang happens on the `session` thread and on those of the player. The main thread sleeps until the session has ended or a
/// signal asks for the end, and looks once whether the system still starts threads. So a signal always ends the program within a second, with its
/// statistics.
final class PlaySession: Sendable {
    let options: PlayOptions
    let terminal: Terminal
    let inbox = Monitor([Message]())
    private let player = Monitor<Player?>(nil)
    private let hasWrittenStatistics = Monitor(false)
    private let result = Monitor<Result<Void, PlayerError>?>(nil)
    /// Dispatch, on which events and commands travel, runs blocks.
    private let hasDispatch = Monitor(false)

    enum Message: Sendable {
        case event(PlayerEvent)
        case opened(Result<Void, PlayerError>)
        case end
    }

    /// How `follow` ended.
    enum End {
        case played
        case failed(PlayerError)
        /// The viewer ended it, by a key, the window or a signal.
        case told(bySignal: Bool)
    }

    /// 850 ms after a signal the main thread writes the statistics itself.
    private static let patience = HostSpan.milliseconds(850)
    /// How long a player may take to close before the program ends without it: after a signal, after a key, and otherwise. Restoring a monitor's
    /// mode takes most.
    private static let closing = (signal: HostSpan.milliseconds(600), key: HostSpan.seconds(2), otherwise: HostSpan.seconds(5))
    /// 5 s: a busy machine starts a thread in less.
    private static let dispatchDeadline = HostSpan.seconds(5)
    /// Time for clients to fetch the last frames and to give them back: 5 s where every frame is delivered, else 1 s, since a client that shows the
    /// last frame for ever is nothing to wait for.
    private static let farewell = (all: HostSpan.seconds(5), newest: HostSpan.seconds(1))

    init(options: PlayOptions, terminal: Terminal) {
        self.options = options
        self.terminal = terminal
    }

    // MARK: The main thread

    /// Plays until the end, and returns or throws then.
    func run() throws(PlayerError) {
        let dispatchLimit = MonotonicClock.shared.now() + Self.dispatchDeadline
        let thread = LoopThread(name: "session") { [self] in
            DispatchQueue.global().async { [hasDispatch] in hasDispatch.change { $0 = true } }
            let outcome: Result<Void, PlayerError>
            do throws(PlayerError) { outcome = .success(try play()) } catch { outcome = .failure(error) }
            result.withLock { $0 = outcome }
            Ending.wake()
        }
        var limit: HostTime?
        while true {
            if let result = result.withLock({ $0 }) {
                thread.join()
                return try result.get()
            }
            let now = MonotonicClock.shared.now(), lacksDispatch = !hasDispatch.withLock { $0 }
            if limit == nil, Ending.isRequested {
                limit = now + Self.patience
                inbox.change { $0.append(.end) }
                player.withLock { $0 }?.cancelOpening()
            }
            if let limit, now >= limit { end() }
            if lacksDispatch, now >= dispatchLimit {
                Ending.claim(ExitCode.system.rawValue)
                terminal.line("\(ProgramName.current): the system starts no more threads.")
                Ending.now(ExitCode.system.rawValue)
            }
            Ending.wait(until: [limit, lacksDispatch ? dispatchLimit : nil].compactMap(\.self).min())
        }
    }

    /// Ends the program although the session has not ended.
    private func end() -> Never {
        var code = ExitCode.played
        do throws(PlayerError) { try writeStatistics() } catch {
            terminal.line("\(ProgramName.current): \(error.description)")
            code = ExitCode(error)
        }
        terminal.restore()
        Ending.now(code.rawValue)
    }

    // MARK: The session

    private func play() throws(PlayerError) {
        var configuration = PlayerConfiguration(options)
        Player.prepare(configuration)
        let sink = try makeSink()
        let server = try makeServer()
        if let server {
            configuration.exporters = [server.exporter]
            Ending.keep(socket: server.path)
        }
        defer {
            server?.stop()
            Ending.keep(socket: nil)
        }
        let player = Player(sink: sink, configuration: configuration) { [inbox] event in inbox.change { $0.append(.event(event)) } }
        self.player.withLock { $0 = player }
        if Ending.isRequested { player.cancelOpening() }
        // Before the film is open, so that q ends the wait for it.
        let keyboard =
            sink.readsTerminal
            ? nil : TerminalKeyboard(besidesFilm: options.file == "-") { [inbox] key in inbox.change { $0.append(.event(.key(key))) } }
        defer { keyboard?.stop() }
        let opening = LoopThread(name: "open") { [inbox, options] in
            let outcome: Result<Void, PlayerError>
            do throws(PlayerError) { outcome = .success(try player.open(options.file)) } catch { outcome = .failure(error) }
            inbox.change { $0.append(.opened(outcome)) }
        }
        let end = follow(player, sink)
        terminal.keepStatus()
        if case .played = end, let server {
            let limit = options.exportAll ? Self.farewell.all : Self.farewell.newest
            _ = server.waitUntilFinished(until: MonotonicClock.shared.now() + limit)
        }
        var failure: PlayerError?, limit = Self.closing.otherwise
        switch end {
        case .played: break
        case .failed(let error): failure = error
        case .told(let bySignal): limit = bySignal ? Self.closing.signal : Self.closing.key
        }
        let isClosed = close(player, opening, within: limit)
        do throws(PlayerError) {
            try writeStatistics()
            if isClosed, let error = player.outputFailure { throw PlayerError(error) }
        } catch { failure = failure ?? error }
        // What hangs would hang when it is freed, too.
        if !isClosed {
            keyboard?.restore()
            if let failure { terminal.line("\(ProgramName.current): \(failure.description)") }
            Ending.now(failure.map { ExitCode($0).rawValue } ?? ExitCode.played.rawValue)
        }
        if let failure { throw failure }
    }

    /// Closes the player; false when that takes too long.
    private func close(_ player: Player, _ opening: LoopThread, within limit: HostSpan) -> Bool {
        let isClosed = Monitor(false)
        let deadline = MonotonicClock.shared.now() + limit
        let thread = LoopThread(name: "close") {
            player.cancelOpening()
            opening.join()
            player.close()
            isClosed.change { $0 = true }
        }
        guard isClosed.wait(until: deadline, { $0 ? () : nil }) != nil else { return false }
        thread.join()
        return true
    }

    private func writeStatistics() throws(PlayerError) {
        guard let path = options.stats,
            !hasWrittenStatistics.withLock({ hasWritten in
                defer { hasWritten = true }
                return hasWritten
            })
        else { return }
        try StatisticsFile.write(player.withLock { $0 }?.statistics ?? PlaybackStatistics(), to: path)
    }

    /// Without a display, an unreadable film is reported first.
    private func makeSink() throws(PlayerError) -> any DisplaySink {
        do { return try SinkFactory.make(options) } catch {
            if options.raw == nil, options.file != "-" {
                _ = try MediaReport(location: options.file, sandbox: PlayerConfiguration(options).sandbox)
            }
            throw error
        }
    }

    private func makeServer() throws(PlayerError) -> FrameServer? {
        guard let export = options.export else { return nil }
        let terminal = terminal, isQuiet = options.quiet
        do {
            return try FrameServer(path: export.path, configuration: FrameServer.Configuration(isLossless: options.exportAll)) { text in
                if !isQuiet { terminal.line(text) }
            } onFailure: { [inbox] error in
                inbox.change { $0.append(.event(.failed(PlayerError(.unsupportedFormat, error.description)))) }
            }
        } catch { throw PlayerError(.cannotCreate, error.description) }
    }
}
