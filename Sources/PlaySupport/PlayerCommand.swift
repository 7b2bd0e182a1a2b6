public import DisplaySink
public import Media
public import Player

/// A command that a viewer gives at the keyboard.
public enum PlayerCommand: Sendable, Hashable {
    /// Ends the program.
    case quit
    /// Pauses a film that plays; plays one that does not.
    case togglePlaying
    /// Enters or leaves full screen.
    case toggleFullscreen, leaveFullscreen
    /// Moves by this span from the present position.
    case seek(by: MediaTime)
    /// Pauses and shows the next or the previous frame.
    case stepForward, stepBackward
    /// Switches the sound off or on.
    case toggleMute
    /// Adds this much to the volume, where 1 is full volume.
    case changeVolume(by: Double)
    /// Multiplies the playback rate by this factor.
    case multiplyRate(by: Double)
    /// Goes to the next chapter, or with -1 to the one before.
    case moveChapter(by: Int)
    /// Plays at the recorded rate.
    case resetRate
    /// Shows the position over the film.
    case showStatus
    /// Shows the next track of subtitles, or with -1 the one before; after the last one none.
    case cycleSubtitles(by: Int)
    /// Hides the subtitles or shows them.
    case toggleSubtitles
    /// Makes the subtitles come later by this much.
    case delaySubtitles(by: MediaTime)
    /// Plays the next or the previous film of the playlist.
    case next, previous

    /// The command of a key. The keys are those of mpv.
    ///
    /// - Parameter isFullscreen: whether there is a window and it covers its monitor.
    public init(_ key: PlayerKey, isFullscreen: Bool) {
        switch key {
        case .q: self = .quit
        case .escape: self = isFullscreen ? .leaveFullscreen : .quit
        case .f: self = .toggleFullscreen
        case .space, .p: self = .togglePlaying
        case .left: self = .seek(by: MediaTime(value: -5, timescale: 1))
        case .right: self = .seek(by: MediaTime(value: 5, timescale: 1))
        case .up: self = .seek(by: MediaTime(value: 60, timescale: 1))
        case .down: self = .seek(by: MediaTime(value: -60, timescale: 1))
        case .shiftLeft: self = .seek(by: MediaTime(value: -1, timescale: 1))
        case .shiftRight: self = .seek(by: MediaTime(value: 1, timescale: 1))
        case .shiftUp: self = .seek(by: MediaTime(value: 5, timescale: 1))
        case .shiftDown: self = .seek(by: MediaTime(value: -5, timescale: 1))
        case .pageUp: self = .moveChapter(by: 1)
        case .pageDown: self = .moveChapter(by: -1)
        case .period: self = .stepForward
        case .comma: self = .stepBackward
        case .m: self = .toggleMute
        case .nine, .slash: self = .changeVolume(by: -0.05)
        case .zero, .asterisk: self = .changeVolume(by: 0.05)
        case .leftBracket: self = .multiplyRate(by: 1 / 1.1)
        case .rightBracket: self = .multiplyRate(by: 1.1)
        case .leftBrace: self = .multiplyRate(by: 0.5)
        case .rightBrace: self = .multiplyRate(by: 2)
        case .backspace: self = .resetRate
        case .o: self = .showStatus
        case .j: self = .cycleSubtitles(by: 1)
        case .capitalJ: self = .cycleSubtitles(by: -1)
        case .v: self = .toggleSubtitles
        case .z: self = .delaySubtitles(by: MediaTime(value: -100, timescale: 1000))
        case .x: self = .delaySubtitles(by: MediaTime(value: 100, timescale: 1000))
        case .enter, .greater: self = .next
        case .less: self = .previous
        }
    }

    /// The volume after `changeVolume(by:)`: 0 to 1; a volume that is already above 1 stays when it is raised.
    static func volume(_ volume: Double, changedBy change: Double) -> Double { min(max(volume + change, 0), max(volume, 1)) }

    /// The rate after `multiplyRate(by:)`: 0.1 to 16.
    static func rate(_ rate: Double, multipliedBy factor: Double) -> Double { min(max(rate * factor, 0.1), 16) }
}

extension Player {
    /// Carries out a viewer's command. Full-screen commands go to `window`.
    ///
    /// - Returns: False for `quit`: the program ends the player. The program also carries out `showStatus`, `next` and `previous`.
    public func perform(_ command: PlayerCommand, window: (any WindowControl)? = nil) -> Bool {
        switch command {
        case .quit: return false
        case .togglePlaying: togglePlaying()
        case .toggleFullscreen: window?.toggleFullscreen()
        case .leaveFullscreen: window?.setFullscreen(false)
        case .seek(let span): seek(by: span)
        case .stepForward: stepForward()
        case .stepBackward: stepBackward()
        case .toggleMute: isMuted.toggle()
        case .changeVolume(let change): volume = PlayerCommand.volume(volume, changedBy: change)
        case .multiplyRate(let factor): rate = PlayerCommand.rate(rate, multipliedBy: factor)
        case .resetRate: rate = 1
        case .moveChapter(let step): moveChapter(by: step)
        case .cycleSubtitles(let step): cycleSubtitles(by: step)
        case .toggleSubtitles: showsSubtitles.toggle()
        case .delaySubtitles(let span): subtitleDelay = subtitleDelay + span
        case .showStatus, .next, .previous: break
        }
        return true
    }
}
