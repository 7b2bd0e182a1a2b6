internal import DisplaySink
internal import Media
internal import PlaySupport
internal import Player

extension PlaySession {
    /// 100 ms: ten redraws per second look smooth and cost little.
    private static let redraw = HostSpan.milliseconds(100)

    /// Shows what happens and carries the viewer's commands out, until the end, the viewer's command or a failure.
    func follow(_ player: Player, _ sink: any DisplaySink) -> End {
        var manager = ServiceManager()
        var overlay = OverlayTimer(options.osd ? sink.statusOverlay : nil)
        var isOpen = false, wasPlaying = false
        defer {
            if isOpen {
                manager.tick(MonotonicClock.shared.now(), isShowing: player.statistics.framesPresented > 0)
                manager.stopping()
            }
        }
        while true {
            let messages = inbox.wait(until: MonotonicClock.shared.now() + Self.redraw) { $0.isEmpty ? nil : $0 } ?? []
            inbox.withLock { $0.removeFirst(messages.count) }
            for message in messages {
                switch message {
                case .end: return .told(bySignal: true)
                case .opened(.failure(let error)): return .failed(error)
                case .opened(.success):
                    isOpen = true
                    prepare(sink.window, player)
                case .event(.key(let key)):
                    let command = PlayerCommand(key, isFullscreen: sink.window?.isFullscreen ?? false)
                    if !player.perform(command, window: sink.window) { return .told(bySignal: false) }
                    overlay.told(command)
                case .event(let event): if let end = receive(event) { return end }
                }
            }
            guard isOpen else { continue }
            let isPlaying = player.isPlaying
            if isPlaying != wasPlaying { sink.window?.setPlaying(isPlaying) }
            overlay.tick(player)
            wasPlaying = isPlaying
            manager.tick(MonotonicClock.shared.now(), isShowing: player.statistics.framesPresented > 0)
            if !options.quiet, terminal.isInteractive { terminal.status(player.statusLine) }
        }
    }

    private func prepare(_ window: (any WindowControl)?, _ player: Player) {
        guard let window else { return }
        window.setTitle(player.title)
        window.setGravity(options.gravity.gravity)
        if options.fullscreen { window.setFullscreen(true) }
    }

    /// Reports an event; not nil when it is the last one.
    private func receive(_ event: PlayerEvent) -> End? {
        switch event {
        case .stateChanged, .seekCompleted, .seekFailed, .key: break
        case .ended: return .played
        case .failed(let error): return .failed(error)
        case .notice(let text): if !options.quiet { terminal.line(text) }
        case .detail(let text): if options.verbose { terminal.line(text) }
        case .closeRequested: return .told(bySignal: false)
        }
        return nil
    }
}
