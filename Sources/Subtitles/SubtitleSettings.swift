/// How subtitles are shown, whichever track is.
///
/// Thread-safety: a value.
package struct SubtitleSettings: Sendable, Hashable {
    /// Milliseconds by which they come later; negative: earlier.
    package var delay: Int64 = 0
    /// Factor of the size of text.
    package var scale = 1.0
    /// The height of text in percent: 100 is at the lower edge, 0 at the upper one.
    package var position = 100.0
    package var isVisible = true

    package init() {}
}
