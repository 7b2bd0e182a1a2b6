internal import Decoding
internal import DisplaySink
public import Media
internal import PixelConversion
internal import Sandbox
internal import SurfacePool

/// What a playback did and cost, counted and never estimated.
public struct PlaybackStatistics: Sendable, Hashable {
    /// A conversion that a sink had to make of every frame.
    public struct Conversion: Sendable, Hashable {
        public var from: String
        public var to: String
        public var why: String
        public init(from: String, to: String, why: String) { self.from = from; self.to = to; self.why = why }
    }

    /// Microseconds between when frames were to light up and when they did.
    public struct PresentationError: Sendable, Hashable {
        public var p50 = 0.0, p95 = 0.0, p99 = 0.0, max = 0.0
        public init() {}
    }

    /// Milliseconds by which frames came after (above zero) or before the sound.
    public struct AVOffset: Sendable, Hashable {
        public var mean: Double
        /// The largest distance from zero.
        public var max: Double
        public init(mean: Double, max: Double) { self.mean = mean; self.max = max }
    }

    public var file = ""
    /// libavcodec's name of the decoder, with how it runs: `h264 (software)`.
    public var decoder: String?
    /// The display's name; nil for a film without a frame, which needs none.
    public var sink: String?
    public var pixelFormat: PixelFormat?
    public var modifier: FormatModifier?
    public var framesDecoded = 0
    public var framesPresented = 0
    /// By reason; every reason is present.
    public var framesDropped: [(reason: String, count: Int)] {
        get { dropped.map { ($0.name, $0.count) } }
        set { dropped = newValue.map { Drop(name: $0.reason, count: $0.count) } }
    }
    private struct Drop: Hashable { var name: String; var count: Int }
    private var dropped = DropReason.allCases.map { Drop(name: $0.rawValue, count: 0) }
    public var bytesWritten: Int64 = 0
    public var bytesCopied: Int64 = 0
    public var conversion: Conversion?
    /// What the decoder process gave up, in words; nil when the decoder ran in this process.
    public var sandbox: String?
    /// Decoder processes that died or hung and were replaced.
    public var decoderDeaths = 0
    public var surfacesAllocated = 0
    public var poolCapacity = 0
    /// From `PlayerConfiguration.startedAt` until the first frame was handed to the display; nil when none was shown.
    public var startupMilliseconds: Double?
    public var presentationError = PresentationError()
    /// Measured at each frame that lit up while sound was heard: the frame's distance from its time, by the display's word, plus the
    /// sound's, by the sound device's. Nil where none was heard.
    public var avOffset: AVOffset?
    public var wallSeconds = 0.0
    /// User and system time of the whole process.
    public var cpuSeconds = 0.0
    public var peakRSSBytes: Int64 = 0

    public init() {}

    /// Takes over what a display queue has counted.
    mutating func add(_ display: DisplayQueue) {
        sink = display.sink.name
        bytesWritten = Int64(display.counters.bytesWritten)
        bytesCopied = Int64(display.counters.bytesCopied + display.sink.bytesCopied)
        conversion = display.sink.conversion.map { Conversion(from: $0.from, to: $0.to, why: $0.why) }
        let shown = display.presentationStatistics
        framesPresented = shown.framesPresented
        presentationError.p50 = shown.error(percentile: 0.5)
        presentationError.p95 = shown.error(percentile: 0.95)
        presentationError.p99 = shown.error(percentile: 0.99)
        presentationError.max = shown.maximumError
        let report = display.decoderReport
        framesDropped = DropReason.allCases.map { reason in
            (reason.rawValue, shown.dropped(reason) + (report?.droppedInDecoding[reason] ?? 0))
        }
        guard let report else { return }
        if conversion == nil { conversion = report.conversion.map { Conversion(from: $0.from, to: $0.to, why: $0.why) } }
        decoder = report.backend.label(report.name)
        pixelFormat = report.pixelFormat
        modifier = report.modifier
        framesDecoded = report.framesDecoded
        sandbox = report.sandbox?.summary
        decoderDeaths = report.decoderDeaths
        surfacesAllocated = report.surfacesAllocated
        poolCapacity = report.poolCapacity
    }
}
