/// The cues of a part of subtitles: a WebVTT file, a TTML document, or either in fragmented MP4. A pure value.
struct TextPart: Sendable {
    private(set) var cues: [TextCue] = []
    /// Which time of the film's containers is which of the cues; nil: the part does not say.
    private(set) var map: WebVTTFile.Map?

    /// nil where the bytes are none of these.
    ///
    /// - Parameter head: what stands before its bytes; empty: nothing.
    init?(_ bytes: [UInt8], head: [UInt8]) {
        if !head.isEmpty {
            guard let cues = MovieText(head: head)?.cues(bytes) else { return nil }
            // Their times are those of the container.
            (self.cues, map) = (cues, WebVTTFile.Map())
        } else if let file = WebVTTFile(bytes) {
            (cues, map) = (file.cues, file.map)
        } else {
            guard let document = TimedText(bytes[...]) else { return nil }
            cues = document.cues
        }
    }
}
