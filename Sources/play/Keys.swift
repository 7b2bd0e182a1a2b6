internal import DisplaySink
internal import Media
internal import Player

/// The window's keys, as mpv's users know them.
enum Keys {
    /// Does what `key` stands for; false when that is to quit.
    static func act(on key: PlayerKey, player: Player, window: (any WindowControl)?) -> Bool {
        switch key {
        case .q: return false
        case .escape:
            guard let window, window.isFullscreen else { return false }
            window.setFullscreen(false)
        case .space: player.togglePlaying()
        case .f: window?.toggleFullscreen()
        case .left: player.seek(by: MediaTime(value: -5, timescale: 1))
        case .right: player.seek(by: MediaTime(value: 5, timescale: 1))
        case .up: player.seek(by: MediaTime(value: 60, timescale: 1))
        case .down: player.seek(by: MediaTime(value: -60, timescale: 1))
        case .period: player.stepForward()
        case .comma: player.stepBackward()
        case .m: player.isMuted.toggle()
        case .nine: player.volume = max(player.volume - 0.05, 0)
        case .zero: player.volume = min(player.volume + 0.05, 1)
        case .leftBracket: player.rate = max(player.rate / 1.1, 0.1)
        case .rightBracket: player.rate = min(player.rate * 1.1, 16)
        case .backspace: player.rate = 1
        }
        return true
    }
}
