/// What a film's subtitles say at one moment, for remote controls.
public struct RemoteSubtitles: Sendable, Hashable {
    /// All lines that are on, one below the other; empty where none is, or only images are.
    public var text: String
    /// The same with the override tags of ASS.
    public var ass: String
    /// Seconds of the film from which the first of them is on, and until which the last one is; nil: none is on, or its end is not known.
    public var start: Double?, end: Double?

    /// Makes what a remote control sees of subtitles.
    public init(text: String = "", ass: String = "", start: Double? = nil, end: Double? = nil) {
        (self.text, self.ass, self.start, self.end) = (text, ass, start, end)
    }
}
