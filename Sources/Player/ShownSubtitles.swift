internal import DisplaySink
public import Media
internal import Subtitles

/// What subtitles are on at a moment of a film: their text, and, where a canvas is named, how they look on it.
///
/// Thread-safety: a value.
public struct ShownSubtitles: Sendable, Hashable {
    /// A line of text, or an image.
    public struct Line: Sendable, Hashable {
        /// Film time from which it is on.
        public var start: MediaTime
        /// Film time at which it goes; positive infinity: when the next one comes, which has not been read yet.
        public var end: MediaTime
        /// The text without tags, with `\n` between its rows; empty for images and drawings. It comes from the film.
        public var text: String
        /// The text as a line of an ASS script has it, with override tags. Other formats than ASS are turned into it; nil for an image.
        public var ass: String?
        /// The name of its style in the film's ASS script; nil for other formats.
        public var style: String?
        /// Where an image lies on `canvas`; nil for text.
        public var place: PixelRect?
        /// The size that `place` is counted on, which is that of the disc or broadcast; nil where the film does not say.
        public var canvas: PixelSize?

        init(_ line: SubtitleLine) {
            start = ShownSubtitles.time(line.start)
            end = line.end.map(ShownSubtitles.time) ?? .positiveInfinity
            (text, ass, style, place) = (line.text, line.ass, line.style, line.place)
            canvas = line.place == nil || line.canvas.width == 0 ? nil : line.canvas
        }
    }

    /// What is on, in the order of the starts. Of more than 256 lines at once the first are told.
    public var lines: [Line]
    /// Film times in which nothing changes, the moment that was asked about among them, as far as the film has been read. Counted in milliseconds;
    /// infinite where nothing is known before or behind. Of text that moves the picture changes with each frame: then it begins at that moment.
    public var range: MediaTimeRange
    /// The text of all lines, one below the other; what follows itself stands there once. Empty: nothing is on, or only images.
    public var text: String { PlainText.joined(lines.lazy.map(\.text)) }
    /// The subtitles as they look on the canvas that was named; nil: nothing is to be drawn, or none was named.
    public var image: SubtitleImage?
    /// The same number as the last one for this canvas where `image` is the same: then there is nothing to upload.
    public var serial: UInt64

    init(_ drawn: DrawnSubtitles) {
        lines = drawn.shown.lines.map(Line.init)
        range = MediaTimeRange(start: Self.time(drawn.shown.from), end: Self.time(drawn.shown.until))
        image = drawn.image.map(SubtitleImage.init)
        serial = drawn.serial
    }

    /// Milliseconds as a time of the film.
    private static func time(_ milliseconds: Int64) -> MediaTime {
        switch milliseconds {
        case .min: .negativeInfinity
        case .max: .positiveInfinity
        default: MediaTime(value: milliseconds, timescale: 1000)
        }
    }
}

/// Drawn subtitles, to be laid over a frame.
///
/// Thread-safety: a value.
public struct SubtitleImage: Sendable, Hashable {
    /// Where it lies on the canvas, in its pixels.
    public let place: PixelRect
    /// Row by row from the top, without padding: alpha, red, green and blue from the highest byte to the lowest, premultiplied. With the bytes of a
    /// little-endian machine that is `DRM_FORMAT_ARGB8888`, or BGRA.
    public let pixels: [UInt32]

    init(_ image: OverlayImage) { (place, pixels) = (image.place, image.pixels) }
}

/// What a program draws subtitles on.
///
/// Thread-safety: a value.
public struct SubtitleCanvas: Sendable, Hashable {
    /// The whole picture that the program makes, in pixels; at most 16384 on a side.
    public var size: PixelSize
    /// Where the film lies on it. Plain text may lie beside the film; what has a place in the film lies there.
    public var film: PixelRect

    /// - Parameter film: nil: the film covers the canvas.
    public init(_ size: PixelSize, film: PixelRect? = nil) {
        self.size = size
        self.film = film ?? PixelRect(size)
    }

    /// For the engine; nil for a size that nothing is drawn on.
    var overlay: OverlayCanvas? {
        guard size.width > 0, size.height > 0, film.width > 0, film.height > 0, max(size.width, size.height) <= Self.longestSide,
            max(film.width, film.height) <= Self.longestSide * 4, max(abs(film.x), abs(film.y)) <= Self.longestSide * 4
        else { return nil }
        return OverlayCanvas(size: size, film: film)
    }

    /// 16,384: what graphics devices draw at most.
    private static let longestSide = 1 << 14
}
