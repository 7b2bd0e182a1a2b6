internal import DisplaySink
internal import Media
internal import PlaySupport
internal import Player

/// Shows the position over the film for a while after a command that changes it.
struct OverlayTimer {
    /// 2 s: long enough to read.
    private static let span = HostSpan.seconds(2)

    private let overlay: (any StatusOverlay)?
    private var end: HostTime?
    private var shown: PlaybackStatus?

    /// - Parameter overlay: nil: nothing is shown.
    init(_ overlay: (any StatusOverlay)?) { self.overlay = overlay }

    /// The viewer gave a command.
    mutating func told(_ command: PlayerCommand) {
        switch command {
        case .showStatus, .togglePlaying, .seek, .stepForward, .stepBackward: end = MonotonicClock.shared.now() + Self.span
        default: break
        }
    }

    mutating func tick(_ player: Player) {
        guard let overlay else { return }
        if let time = end, MonotonicClock.shared.now() >= time { end = nil }
        let status = end.map { _ in
            PlaybackStatus(
                isPlaying: player.isPlaying, position: Int(player.position.seconds),
                duration: player.duration.isNumeric ? Int(player.duration.seconds) : nil)
        }
        guard status != shown else { return }
        shown = status
        overlay.showStatus(status)
    }
}
