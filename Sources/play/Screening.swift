internal import DisplaySink
internal import FrameExport
internal import Media
internal import MediaControls
internal import PixelConversion
internal import PlaySupport
internal import Player
internal import RemoteControl

/// What lasts from one film to the next: the display, the list, and what the viewer has set.
///
/// Thread-safety: the session's thread.
struct Screening {
    /// Shows every film. A display stays as it is between two.
    let sink: any DisplaySink
    /// Serves the frames of every film to other programs; nil: nobody wants them.
    let server: FrameServer?
    let terminal: Terminal
    /// Whether there are several films, or a list that may have any number.
    let isList: Bool
    var playlist: Playlist
    /// How the next film is played: as the options say, and as the viewer has changed it since.
    var configuration: PlayerConfiguration
    var isMuted: Bool
    /// The number of the film that plays, from 1.
    var film = 0
    var manager = ServiceManager()
    /// What tells the viewer of the player over the film.
    var screen: ScreenDesk
    /// The part of the film that is repeated.
    var loop: ABLoop
    /// How many times each film begins again; `Int.max`: for ever.
    var loopCount: Int
    /// How films fit the display.
    var framing: Framing { didSet { if framing != oldValue { sink.window?.setFraming(framing) } } }
    /// How the display changes brightness and colours.
    var balance: ColorBalance { didSet { if balance != oldValue { sink.window?.setColorBalance(balance) } } }
    /// What keys mean.
    let bindings: KeyBindings
    /// The sound and the subtitles that the viewer has chosen for this film; nil: those that the options and the film say.
    var chosenSound: TrackPreferences.Choice?, chosenSubtitles: TrackPreferences.Choice?
    /// What was kept of the film that is being opened; nil: nothing, or it is open.
    var resumed: WatchLaterState?
    /// The place of the film has been kept, and the program ends.
    var hasKeptPlace = false
    /// The remote controls; nil: there can be none.
    var remote: RemoteDesk?
    /// The desktop's media keys and panels; nil: they are left alone.
    var controls: MediaControls?
    /// What follows the film without a gap, as far as that is known.
    var next: NextFilm?
    /// A seek or the beginning is under way, which remote controls were told of.
    private var isPreparing = false
    /// No film plays, and one is waited for.
    var isIdle = false
    /// A film has been open.
    var hasOpened = false
    /// The window was told last that the film plays.
    var wasPlaying = false
    /// The exit code that a remote control has asked for.
    var wantedCode: Int32?
    /// What the program's exit code tells of, in a list.
    private(set) var firstFailure = ExitCode.played
    /// Nothing more is to be played, whatever the list says.
    private(set) var isOver = false

    init(
        _ playlist: Playlist, isList: Bool, sink: any DisplaySink, server: FrameServer?, options: PlayOptions, terminal: Terminal, screen: ScreenDesk,
        bindings: KeyBindings
    ) {
        self.playlist = playlist
        self.isList = isList
        self.sink = sink
        self.server = server
        self.terminal = terminal
        configuration = PlayerConfiguration(options)
        // In a list 5 s: long enough to read a sign.
        configuration.imageDuration = options.imageDuration?.time ?? (isList ? MediaTime(value: 5, timescale: 1) : .positiveInfinity)
        if let server { configuration.exporters = [server.exporter] }
        configuration.joins = isList && !options.repetition.keepOpenAlways && options.raw == nil && options.camera.camera == nil
        isMuted = options.mute
        framing = options.framing.framing
        sink.window?.setFraming(framing)
        balance = options.colors.balance
        sink.window?.setColorBalance(balance)
        self.screen = screen
        loopCount = options.repetition.loopCount
        loop = ABLoop(a: options.abLoopA?.time, b: options.abLoopB?.time)
        self.bindings = bindings
    }

    /// Whether the film that has just ended was the last one.
    var hasEnded: Bool { isOver || playlist.current == nil }

    /// Moves on in the list after a film has ended in this way.
    mutating func move(after end: PlaySession.End) {
        switch end {
        case .played, .told(.next): playlist.next()
        case .told(.previous): playlist.previous()
        case .told(.elsewhere): break
        case .told(.quit): isOver = true
        case .failed(let error): isOver = !isList || endsAll(error); playlist.skip()
        case .broken: isOver = true
        }
    }

    /// Changes the list, also as it stands when the film plays that follows without a gap. That film may be one that the list has no more.
    mutating func edit(_ change: (inout Playlist) -> Void) {
        change(&playlist)
        if var next {
            change(&next.playlist)
            self.next = next
        }
    }

    /// A film of the list is being opened.
    mutating func begin(_ number: Int) {
        isPreparing = true
        (chosenSound, chosenSubtitles, resumed) = (nil, nil, nil)
        remote?.tell(.startFile(entry: number))
    }

    /// A film plays that has followed the one before without a gap.
    mutating func continued() {
        isPreparing = false
        remote?.tell(.fileLoaded)
        remote?.tell(.playbackRestart)
        controls?.sought()
    }

    /// Whether anybody sees what plays.
    var isSeen: Bool { controls?.isConnected == true || remote?.observes == true }

    /// Tells remote controls of what the player does.
    mutating func note(_ event: PlayerEvent) {
        switch event {
        case .stateChanged(.preparing):
            if !isPreparing { remote?.tell(.seek) }
            isPreparing = true
        case .stateChanged(.playing), .stateChanged(.paused):
            if isPreparing {
                remote?.tell(.playbackRestart)
                controls?.sought()
            }
            isPreparing = false
        default: break
        }
    }

    /// Tells remote controls how a film has ended.
    func tellEnd(_ end: PlaySession.End, _ number: Int) {
        switch end {
        case .played: remote?.tell(.endFile(.eof, entry: number, error: nil))
        case .told(.quit): remote?.tell(.endFile(.quit, entry: number, error: nil))
        case .told: remote?.tell(.endFile(.stop, entry: number, error: nil))
        case .failed(let error), .broken(let error): remote?.tell(.endFile(.error, entry: number, error: error.description.printable))
        }
    }

    /// The viewer has chosen a track of sound; nil: of a film that is not open.
    mutating func choseSound(of player: Player?) { if let number = player?.soundNumber { chosenSound = .number(number) } }

    /// The viewer has chosen subtitles; nil: of a film that is not open.
    mutating func choseSubtitles(of player: Player?) {
        if let player { chosenSubtitles = player.subtitleNumber.map { .number($0) } ?? TrackPreferences.Choice.none }
    }

    /// What the viewer has set stays for the next film.
    mutating func keepSettings(of player: Player) {
        configuration.startedAt = nil
        configuration.volume = player.volume
        configuration.audioDelay = player.audioDelay
        configuration.rate = player.rate
        configuration.loopCount = loopCount
        configuration.startsPaused = !player.wantsToPlay
        configuration.subtitles.isVisible = player.showsSubtitles
        configuration.deinterlacing = player.deinterlacing
        configuration.subtitles.position = player.subtitlePosition
        configuration.subtitles.scale = player.subtitleScale
        isMuted = player.isMuted
    }

    /// Takes note of a failure. In a list it is said at once, and the exit code is that of the first one; a film alone ends the program with it.
    mutating func report(_ error: PlayerError) throws(PlayerError) {
        guard isList else { throw error }
        terminal.line("\(ProgramName.current): \(error.description)")
        if firstFailure == .played { firstFailure = ExitCode(error) }
    }

    /// Tells the service manager that the program ends.
    func stopping() { if hasOpened { manager.stopping() } }

    /// An output failed, which fails for the next film, too.
    mutating func end() { isOver = true }

    /// Whether the display, an output or the machine has failed rather than the film.
    private func endsAll(_ error: PlayerError) -> Bool {
        if (sink as? LastingSink)?.loss != nil || sink.failure != nil { return true }
        return [.system, .cannotCreate, .cannotWrite, .notOpen, .cancelled].contains(error.code)
    }
}
