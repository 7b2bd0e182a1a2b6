public import Media
public import PixelConversion

/// Which frames a `FrameGenerator` finds, and in what form it hands them out.
public struct FrameGeneratorOptions: Sendable {
    /// Which frame belongs to a time.
    public enum Selection: Sendable, Hashable, CaseIterable {
        /// The one on the screen then: the last that begins at or before the time; before the first frame, that one.
        case onScreen
        /// The first that begins at or after the time.
        case next
        /// The one that begins nearest to the time, the earlier of two.
        case nearest
    }

    /// What becomes of a film's alpha where `format` has none.
    public enum Alpha: Sendable, Hashable, CaseIterable {
        /// Frames are opaque, with the colours that transparent pixels were coded with.
        case leftOut
        /// Frames lie over black, as displays show them. Only with a `format` that is RGB.
        case overBlack
        /// Frames with alpha come in the format with alpha of the same order: `rgba` for `rgb24` and `rgb0`, `bgra` for `bgr24` and `bgr0`. The
        /// alpha is straight: the colours are not multiplied by it.
        case kept
    }

    /// How the film is read and decoded.
    public var reading: ReadingOptions
    /// Which frame belongs to a time.
    public var selection: Selection
    /// A frame that begins up to this much earlier will do when it costs less: `.positiveInfinity` takes the frame of the sync sample before the
    /// time, and decodes nothing else. Zero, the default, is exact.
    public var toleranceBefore: MediaTime
    /// The pixel format wanted; nil takes the decoder's.
    public var format: PixelFormat?
    /// What becomes of a film's alpha where `format` has none.
    public var alpha = Alpha.leftOut
    /// Frames that are larger are made smaller, keeping their shape; a side of 0 may be of any length. nil keeps their size. With
    /// `appliesOrientation` it is the size as a viewer sees it.
    public var maximumSize: PixelSize?
    /// Makes the pixels square.
    public var appliesPixelAspect: Bool
    /// Turns frames upright. Formats with several planes cannot be turned: without a wanted format such frames become `bgra`.
    public var appliesOrientation: Bool
    /// How frames in high dynamic range become standard dynamic range; nil keeps them. Only with a `format` that is RGB.
    public var toneMapping: ToneMapping?
    /// Frames of another form than the decoder's that may be held at once. Those in the decoder's form count as
    /// `DecoderOptions.holdCount` says.
    public var holdCount: Int

    /// By default the exact frame on the screen, as the decoder makes it.
    public init(
        reading: ReadingOptions = ReadingOptions(), selection: Selection = .onScreen, toleranceBefore: MediaTime = .zero,
        format: PixelFormat? = nil, maximumSize: PixelSize? = nil, appliesPixelAspect: Bool = false, appliesOrientation: Bool = false,
        toneMapping: ToneMapping? = nil, holdCount: Int = 256
    ) {
        self.reading = reading
        self.selection = selection
        self.toleranceBefore = toleranceBefore
        self.format = format
        self.maximumSize = maximumSize
        self.appliesPixelAspect = appliesPixelAspect
        self.appliesOrientation = appliesOrientation
        self.toneMapping = toneMapping
        self.holdCount = holdCount
    }
}
