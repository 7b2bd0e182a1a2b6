public import DisplaySink
public import Media
public import PixelConversion
public import PlaySupport

/// What a remote control can see of a program that plays, at one moment.
public struct RemoteSnapshot: Sendable, Hashable {
    /// The file or address of the film, as it was given; nil: none plays.
    public var path: String?
    /// The title in the film, else the file's name; nil until it is open.
    public var title: String?
    /// Seconds from the beginning of the film; nil until it is open.
    public var position: Double?
    /// Seconds; nil when the film has no known end.
    public var duration: Double?
    /// The viewer has paused the film.
    public var isPaused = false
    /// A seek is under way.
    public var isSeeking = false
    /// The film waits for its source.
    public var isStarved = false
    /// The film has ended, and its last frame stays.
    public var hasEnded = false
    /// Time runs.
    public var isRunning = false
    /// Media seconds a second.
    public var speed = 1.0
    /// As heard: 0 is silence, 1 as recorded.
    public var volume = 1.0
    /// The loudest volume that can be set.
    public var greatestVolume = 1.3
    /// The sound is switched off.
    public var isMuted = false
    /// The window fills its monitor; nil: there is no window.
    public var isFullscreen: Bool?
    /// How films fit the display.
    public var framing = Framing()
    /// How brightness and colours are changed on the display.
    public var balance = ColorBalance()
    /// How many times each film begins again at its end, and how many more times the one that plays does; `Int.max`: for ever.
    public var loopCount = 0, loopsLeft = 0
    /// How many more times the list begins again after its last film; `Int.max`: for ever.
    public var listTurns = 0
    /// The list is played in random order.
    public var isShuffled = false
    /// The films, in the order of the list.
    public var entries: [Playlist.Entry] = []
    /// Which of them plays.
    public var entry: Int?
    /// A film follows, or went before.
    public var hasNext = false, hasPrevious = false
    /// The film's tracks, and its chapters in their order; empty until it is open.
    public var tracks: [RemoteTrack] = [], chapters: [RemoteChapter] = []
    /// The number of the subtitles that are shown, counted from 1; nil: none.
    public var subtitle: Int?
    /// How many seconds later the sound is heard.
    public var audioDelay = 0.0
    /// What of the film is deinterlaced: `no`, `auto` or `yes`.
    public var deinterlacing = "no"
    /// The chosen subtitles are shown, and how many seconds later.
    public var showsSubtitles = true, subtitleDelay = 0.0
    /// The height of subtitles of text, 100 at the lower edge, and how many times as large they are.
    public var subtitlePosition = 100.0, subtitleScale = 1.0
    /// What the chosen subtitles say now, shown or not; nil: there are none, or nobody may ask.
    public var subtitles: RemoteSubtitles?
    /// The marks of the part that is repeated, in seconds.
    public var loopStart: Double?, loopEnd: Double?
    /// How much is shown over the film by itself, 0 to 3.
    public var screenLevel = 1
    /// The decoder, with how it runs; nil before the first frame.
    public var decoder: String?
    /// The display; nil before the first frame.
    public var display: String?
    /// Frames that were not shown.
    public var framesDropped = 0
    /// Seconds of film that are read and not decoded.
    public var buffered = 0.0
    /// Bytes of a film from a web server that are in memory; nil for other films.
    public var bytesCached: Int64?
    /// The same in seconds, where that is known; the share that they are of what is to be fetched ahead, 0 to 100; and bytes a second that come.
    public var secondsCached: Double?, percentCached: Int?, bytesPerSecond: Int64?
    /// Seconds that a live film is behind its sender, and those that are held; nil for other films, and where none are.
    public var latency: Double?, latencyTarget: Double?
    /// When the frame that is shown was made, as its sender says; nil where it does not.
    public var programDate: ProgramDate?
    /// The film is made while it is played.
    public var isLive = false
    /// The program's version.
    public var version = ""
    /// The path of the socket.
    public var socket = ""

    /// The chapter that is on, counted from 0; -1 before the first one; nil: the film has none.
    var chapter: Int? {
        guard let position, !chapters.isEmpty else { return nil }
        return chapters.lastIndex { $0.time <= position } ?? -1
    }

    /// Makes a snapshot of a program that plays nothing.
    public init() {}
}
