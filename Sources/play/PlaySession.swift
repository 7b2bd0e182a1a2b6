internal import Decoding
internal import Demuxing
internal import Dispatch
internal import DisplaySink
internal import FrameExport
internal import Media
internal import OnScreen
internal import PlaySupport
internal import Player
internal import RemoteControl
internal import Sandbox

/// One run of `play FILE …`.
///
/// Everything that can hang happens on the `session` thread and on those of the player. The main thread sleeps until the session has ended or a
/// signal asks for the end, and looks once whether the system still starts threads. So a signal always ends the program within a second, with its
/// statistics.
final class PlaySession: Sendable {
    let options: PlayOptions
    let terminal: Terminal
    let inbox = Monitor([Message]())
    /// The film that plays, whose statistics are not written yet.
    let player = Monitor<Player?>(nil)
    let statistics: StatisticsFile?
    /// There may be more than one film; a remote control may add some.
    let isList: Bool
    /// Held while a screenshot is written.
    let screenshots = Monitor(())
    /// Ends a wait for a list.
    let loading = AssetCancellation()
    /// Ends the search for the film of a page.
    let pageSearch = Monitor<AssetCancellation?>(nil)
    private let result = Monitor<Result<Int32, PlayerError>?>(nil)
    /// Dispatch, on which events and commands travel, runs blocks.
    private let hasDispatch = Monitor(false)

    enum Message: Sendable {
        /// Of the film with this number.
        case event(PlayerEvent, film: Int)
        case opened(Result<Void, PlayerError>, film: Int)
        /// What follows the film is to be said now.
        case nextWanted
        /// The film that is to follow without a gap has been opened, or cannot be.
        case nextOpened(Result<Bool, PlayerError>, film: Int)
        /// It is shown, and the one before has ended.
        case nextBegan(FilmEnd, film: Int)
        /// Of a display that shows one film after the other, or of the terminal.
        case viewer(SinkEvent)
        /// Of the remote controls.
        case remote(RemoteServer.Message)
        /// Of the desktop's media keys and panels.
        case ordered(RemoteAction)
        /// Of the pointer or a finger over the film.
        case gesture(ScreenOverlay.Gesture)
        /// What a list that a remote control has named holds, and what of it cannot be read.
        case listed([Playlist.Entry], [PlayerError], RemoteAction.Place)
        /// A sentence for the viewer.
        case told(String)
        /// What a remote control has ordered is done, or cannot be.
        case done(RemoteTicket, Bool)
        /// The frame server cannot go on.
        case broken(PlayerError)
        case end

        /// A film has followed another one.
        var isBeginning: Bool { if case .nextBegan = self { true } else { false } }
    }

    /// How a film ended.
    enum End {
        case played
        case failed(PlayerError)
        /// Something has failed that every film needs.
        case broken(PlayerError)
        /// The viewer ended it.
        case told(Order)
    }

    /// What a viewer orders by a key, the window or a signal.
    enum Order {
        case quit(bySignal: Bool), next, previous
        /// The list has been changed, and says what plays now.
        case elsewhere
    }

    /// 850 ms after a signal the main thread writes the statistics itself.
    private static let patience = HostSpan.milliseconds(850)
    /// 5 s: a busy machine starts a thread in less.
    private static let dispatchDeadline = HostSpan.seconds(5)
    init(options: PlayOptions, terminal: Terminal) {
        self.options = options
        self.terminal = terminal
        isList = options.isList || options.inputIpcServer != nil || options.repetition.waits
        statistics = StatisticsFile(path: options.stats, isList: isList)
    }

    // MARK: The main thread

    /// Plays until the end, and returns the exit code or throws then.
    func run() throws(PlayerError) -> Int32 {
        try requireDescriptors()
        let dispatchLimit = MonotonicClock.shared.now() + Self.dispatchDeadline
        let thread = LoopThread(name: "session") { [self] in
            DispatchQueue.global().async { [hasDispatch] in hasDispatch.change { $0 = true } }
            let _: Void? = hasDispatch.wait { $0 ? () : nil }
            let outcome: Result<Int32, PlayerError>
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
                loading.cancel()
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

    /// Dispatch opens an epoll and an eventfd with its first block and ends the program where it cannot, so it begins while nothing else runs that
    /// could take the last ones.
    private func requireDescriptors() throws(PlayerError) {
        do { _ = (try EventFD(), try EventFD()) } catch {
            throw PlayerError(.system, "the system has no descriptor left: \(error.reason).")
        }
    }

    /// Ends the program although the session has not ended.
    private func end() -> Never {
        var code = ExitCode.played
        do throws(PlayerError) {
            let player = player.withLock { $0.take() }
            if player != nil || !isList { try statistics?.add(player?.statistics ?? PlaybackStatistics()) }
            if isList { try statistics?.finish() }
        } catch {
            terminal.line("\(ProgramName.current): \(error.description)")
            code = ExitCode(error)
        }
        terminal.restore()
        Ending.now(code.rawValue)
    }
}
