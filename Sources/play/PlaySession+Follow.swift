internal import DisplaySink
internal import Media
internal import MediaControls
internal import PlaySupport
internal import Player
internal import RemoteControl

extension PlaySession {
    /// 100 ms: ten redraws per second look smooth and cost little.
    private static let redraw = HostSpan.milliseconds(100)

    /// Shows what happens and carries the viewer's commands out, until the end of the film, the viewer's command or a failure.
    func follow(_ player: Player, _ screening: inout Screening) -> End {
        let film = screening.film
        var isOpen = false, isAsked = false
        defer {
            if isOpen { screening.manager.tick(MonotonicClock.shared.now(), player) }
        }
        while true {
            // One by one: what follows the end of this film is for the next one.
            let patience = isOpen ? screening.loop.wait(at: player.position, rate: player.isPlaying ? player.rate : 0) : nil
            let message = inbox.wait(until: MonotonicClock.shared.now() + min(patience ?? Self.redraw, Self.redraw)) {
                $0.isEmpty ? nil : $0.removeFirst()
            }
            switch message {
            case nil: break
            case .end: return .told(.quit(bySignal: true))
            case .broken(let error): return .broken(error)
            case .remote(let message): if let order = obey(message, isOpen ? player : nil, &screening) { return .told(order) }
            case .ordered(let action): if let order = perform(action, isOpen ? player : nil, &screening) { return .told(order) }
            case .viewer(.key(let key)), .event(.key(let key), _):
                if let order = obey(key, isOpen ? player : nil, &screening) { return .told(order) }
            case .listed(let films, let failures, let place): if let end = take(films, failures, place, &screening) { return end }
            case .told(let text): screening.screen.isThere ? screening.screen.show(ScreenReply(text)) : terminal.line(text)
            case .done(let ticket, let isDone): screening.remote?.answer(ticket, isDone: isDone)
            case .gesture(let gesture): if isOpen { obey(gesture, player, &screening) }
            case .viewer(.closeRequested): return .told(.quit(bySignal: false))
            case .viewer(let event): report(event)
            case .opened(let outcome, film):
                if case .failure(let error) = outcome { return .failed(error) }
                isOpen = true
                resumed(player, &screening)
                screening.remote?.tell(.fileLoaded)
                prepare(screening.sink.window, player, isFirst: !screening.hasOpened)
                screening.hasOpened = true
            case .event(let event, film):
                screening.note(event)
                // The last frame stays, and the viewer may go back.
                if case .ended = event, options.repetition.keeps(hasNext: screening.playlist.hasNext) { break }
                if let end = receive(event) { return end }
            case .nextWanted: break
            case .nextOpened(let outcome, film): take(outcome, player, &screening)
            case .nextBegan(let last, film): if let end = goOn(after: last, player, &screening) { return end }
            // Of a film before this one.
            case .opened, .event, .nextOpened, .nextBegan: break
            }
            if isOpen, screening.configuration.joins, player.claimNext() { isAsked = true }
            // What follows is asked of the film that has begun: the list goes on to that one first.
            if isAsked, !inbox.withLock({ $0.contains(where: \.isBeginning) }) {
                isAsked = false
                openNext(player, &screening)
            }
            if isOpen { tick(player, &screening) } else { screening.manager.tick(MonotonicClock.shared.now(), nil) }
            if screening.isSeen {
                let now = snapshot(isOpen ? player : nil, screening)
                screening.remote?.tell(now)
                screening.controls?.show(now)
            }
        }
    }

    /// Shows where the film is.
    private func tick(_ player: Player, _ screening: inout Screening) {
        let isPlaying = player.isPlaying
        if isPlaying != screening.wasPlaying { screening.sink.window?.setPlaying(isPlaying) }
        screening.wasPlaying = isPlaying
        if let time = screening.loop.step(at: player.position, seek: player.seekSerial) { player.seek(to: time) }
        screening.screen.tick(player)
        screening.manager.tick(MonotonicClock.shared.now(), player)
        if !options.quiet, terminal.isInteractive { terminal.status(player.statusLine) }
    }

    private func prepare(_ window: (any WindowControl)?, _ player: Player, isFirst: Bool) {
        guard let window else { return }
        window.setTitle(player.title)
        guard isFirst else { return }
        if options.fullscreen { window.setFullscreen(true) }
    }

    /// Reports an event; not nil when it is the last one.
    private func receive(_ event: PlayerEvent) -> End? {
        switch event {
        case .stateChanged, .seekCompleted, .seekFailed, .subtitlesChanged, .cacheChanged, .key: break
        case .ended: return .played
        case .failed(let error): return .failed(error)
        case .notice(let text): if !options.quiet { terminal.line(text) }
        case .detail(let text): if options.verbose { terminal.line(text) }
        case .closeRequested: return .told(.quit(bySignal: false))
        }
        return nil
    }

    /// Says what the display reports between two films.
    private func report(_ event: SinkEvent) {
        switch event {
        case .notice(let text): if !options.quiet { terminal.line(text) }
        case .detail(let text): if options.verbose { terminal.line(text) }
        default: break
        }
    }
}
