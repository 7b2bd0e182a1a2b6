/// A text that is shown for a while: of WebVTT or TTML, in a file of its own or in MP4.
struct TextCue: Sendable, Hashable {
    /// In milliseconds.
    var start: Int64
    var end: Int64
    /// One line or more, with the marks of WebVTT.
    var text: String
}
