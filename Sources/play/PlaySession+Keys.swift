internal import DisplaySink
internal import Media
internal import OnScreen
internal import Player
internal import RemoteControl

/// What the viewer orders by keys, the pointer and a finger.
extension PlaySession {
    /// Carries out what a key means; not nil when it ends this film.
    ///
    /// - Parameter player: Of the film; nil until it is open.
    func obey(_ key: PlayerKey, _ player: Player?, _ screening: inout Screening) -> Order? {
        for order in screening.bindings.orders(for: key) {
            for action in order.actions(snapshot(player, screening, isWhole: true)) ?? [] {
                if let end = perform(action, player, &screening) { return end }
                screening.screen.show(order.reply(to: action, snapshot(player, screening, isWhole: true)))
            }
        }
        return nil
    }

    /// Carries out what the pointer or a finger does over the film.
    func obey(_ gesture: ScreenOverlay.Gesture, _ player: Player, _ screening: inout Screening) {
        screening.screen.point()
        switch gesture {
        case .moved: break
        case .picked(let share): if player.duration.isNumeric { player.seek(to: MediaTime(seconds: player.duration.seconds * share)) }
        case .toggled: player.togglePlaying()
        }
    }

    /// Hands a gesture to the session's thread. Of a pointer that moves, the newest place counts.
    func receive(_ gesture: ScreenOverlay.Gesture) {
        inbox.change { inbox in
            if case .gesture(let last)? = inbox.last, last.isFollowed(by: gesture) { inbox.removeLast() }
            inbox.append(.gesture(gesture))
        }
    }
}

extension ScreenOverlay.Gesture {
    fileprivate func isFollowed(by other: ScreenOverlay.Gesture) -> Bool {
        switch (self, other) {
        case (.moved, .moved), (.picked, .picked): true
        default: false
        }
    }
}
