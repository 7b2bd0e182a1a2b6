internal import Composition
internal import Decoding
internal import DisplaySink
public import Media
internal import PixelConversion
internal import Sandbox
internal import SurfacePool

/// Measures what a playback did and cost. Every number is counted; none is estimated.
public struct PlaybackStatistics: Sendable, Hashable {
    /// A conversion that frames needed before the display accepted them, or a compositor could read them.
    public struct Conversion: Sendable, Hashable {
        /// The pixel format before, as in `ConversionReport.from`.
        public var from: String
        /// The pixel format after, as in `ConversionReport.to`.
        public var to: String
        /// The reason, half a sentence.
        public var why: String
        /// Creates the description of a conversion.
        public init(from: String, to: String, why: String) { self.from = from; self.to = to; self.why = why }
    }

    /// Microseconds between the time when a frame was due and the time when it was shown, as percentiles of the absolute value.
    public struct PresentationError: Sendable, Hashable {
        public var p50 = 0.0, p95 = 0.0, p99 = 0.0, max = 0.0
        /// Creates a value without measurements: all 0.
        public init() {}
    }

    /// Milliseconds by which frames were shown after (above zero) or before their sound.
    public struct AVOffset: Sendable, Hashable {
        /// The mean; above zero, frames come after their sound.
        public var mean: Double
        /// The largest distance from zero.
        public var max: Double
        /// Creates an offset from its mean and its largest distance from zero, in milliseconds.
        public init(mean: Double, max: Double) { self.mean = mean; self.max = max }
    }

    /// What has come of a film from a web server, in bytes.
    public struct Network: Sendable, Hashable {
        /// All that has come, those bytes included that were forgotten and fetched again.
        public var bytesFetched: Int64
        /// In memory or on disk, from where the film is being read on, without a hole.
        public var bytesAhead: Int64
        /// The same in seconds of the film; nil where its length is not known.
        public var secondsAhead: Double?
        /// The share that these are of what is to be fetched ahead, 0 to 100; 100 also where all is there up to the film's end.
        public var percentAhead = 0
        /// Bytes a second: the mean of the last three seconds; 0 where none came.
        public var bytesPerSecond: Int64 = 0
        /// The variant that is being fetched of a film whose variant may change, by its place in the list; nil for other films.
        public var variant: Int?
        /// How often the variant has changed.
        public var variantSwitches = 0
        /// Creates a count from its two numbers, of a film in one variant.
        public init(bytesFetched: Int64, bytesAhead: Int64) { self.bytesFetched = bytesFetched; self.bytesAhead = bytesAhead }
    }

    /// How far a live film is behind its sender.
    public struct Live: Sendable, Hashable {
        /// Seconds that are held; nil: none.
        public var target: Double?
        /// Seconds between what the sender has sent and what is shown; nil before anything has come, and where frames are taken as fast as they come.
        public var latency: Double?
        /// Seconds since the frame that is shown was made, by the sender's date and this machine's clock: right as far as the two clocks agree; nil
        /// where the sender says no dates.
        public var latencyByDate: Double?
        /// How often the film jumped because it was far behind.
        public var jumps: Int
        /// How often a lost connection was made again.
        public var reconnections: Int
        /// Creates a report.
        public init(target: Double?, latency: Double?, jumps: Int = 0, reconnections: Int = 0) {
            (self.target, self.latency, self.jumps, self.reconnections) = (target, latency, jumps, reconnections)
        }
    }

    /// What has become of a camera's frames. The frames counted are those delivered, those dropped for any reason, and at most one that waits.
    public struct Camera: Sendable, Hashable {
        /// Frames of one reason.
        public struct Drop: Sendable, Hashable {
            /// As in `CaptureDrop.Reason`.
            public var reason: String
            /// How many frames.
            public var count: Int
            /// Creates a count.
            public init(reason: String, count: Int) { self.reason = reason; self.count = count }
        }

        /// The device file.
        public var device: String
        /// The camera's own name.
        public var name: String
        /// The driver's code of the format, and the size: `NV12 1280x720`.
        public var format: String
        /// Frames a second as the driver states it.
        public var rate: Ratio
        /// How pixels came into surfaces: `imported`, `exported`, `copied` or `decoded`, as `BufferPath` says.
        public var buffers: String
        /// Frames that the driver counted.
        public var framesCounted: Int
        /// Frames that were passed on.
        public var framesDelivered: Int
        /// Frames that were not, by reason; every reason is present.
        public var framesDropped: [Drop]
        /// How often it was unplugged and waited for.
        public var interruptions: Int
        /// How much faster than its stated rate the camera makes frames, measured on CLOCK_MONOTONIC (`CaptureSession.drift`); nil: not known yet.
        public var drift: Double?
        /// The time from the camera's stamp of a frame to the refresh that showed it; nil before the first.
        public var delay: Delay?

        /// Microseconds.
        public struct Delay: Sendable, Hashable {
            /// The median, and the time that 95 of 100 frames do not exceed.
            public var p50, p95: Double
            /// The longest.
            public var max: Double
            /// Creates a report.
            public init(p50: Double, p95: Double, max: Double) { (self.p50, self.p95, self.max) = (p50, p95, max) }
        }

        /// Creates a report.
        public init(
            device: String, name: String, format: String, rate: Ratio, buffers: String, framesCounted: Int, framesDelivered: Int,
            framesDropped: [Drop], interruptions: Int = 0, drift: Double? = nil
        ) {
            self.device = device
            self.name = name
            self.format = format
            self.rate = rate
            self.buffers = buffers
            self.framesCounted = framesCounted
            self.framesDelivered = framesDelivered
            self.framesDropped = framesDropped
            self.interruptions = interruptions
            self.drift = drift
        }
    }

    /// What has become of a composition's frames.
    public struct Composition: Sendable, Hashable {
        /// Frames that the compositor drew.
        public var framesDrawn = 0
        /// Frames of a source that went to the display where the decoder wrote them.
        public var framesPassedThrough = 0
        /// Frames drawn before that were shown again, because nothing had changed.
        public var framesRepeated = 0
        /// Frames left out because the compositor did not finish in time.
        public var framesLate = 0
        /// Frames left out because the compositor could not draw them.
        public var framesFailed = 0
        /// Frames left out because their time was over before they were drawn.
        public var framesSkipped = 0
        /// Answers of the compositor that came a second time or after a cancellation.
        public var answersIgnored = 0
        /// Creates a report in which nothing has been counted.
        public init() {}
    }

    /// The path or URL of the film, as it was passed to `open`.
    public var file = ""
    /// libavcodec's name of the decoder, with how it runs: `h264 (software)`.
    public var decoder: String?
    /// The display's name; nil for a film without a frame, which needs none.
    public var sink: String?
    /// The pixel format of the decoded frames; nil when no frame was decoded.
    public var pixelFormat: PixelFormat?
    /// The memory layout of the decoded frames; nil when no frame was decoded.
    public var modifier: FormatModifier?
    /// Frames that were decoded and passed on to the display.
    public var framesDecoded = 0
    /// Frames among them that were made of fields.
    public var framesDeinterlaced = 0
    /// Frames that the display reported as shown, or that an untimed sink took.
    public var framesPresented = 0
    /// Dropped frames by reason. Every reason is present, in the order of `DropReason`.
    public var framesDropped: [(reason: String, count: Int)] {
        get { dropped.map { ($0.name, $0.count) } }
        set { dropped = newValue.map { Drop(name: $0.reason, count: $0.count) } }
    }
    private struct Drop: Hashable { var name: String; var count: Int }
    private var dropped = DropReason.allCases.map { Drop(name: $0.rawValue, count: 0) }
    /// Pixel bytes that the decoder wrote.
    public var bytesWritten: Int64 = 0
    /// Pixel bytes that were copied or converted after decoding; 0 on a path without copies.
    public var bytesCopied: Int64 = 0
    /// The conversion by the display, else that by the decoder; nil: none.
    public var conversion: Conversion?
    /// What the decoder process gave up, in words; nil when the decoder ran in this process.
    public var sandbox: String?
    /// Decoder processes that died or hung and were replaced.
    public var decoderDeaths = 0
    /// What the process that decodes the sound gave up, in words; nil when there is no sound, or it is decoded in this process.
    public var soundSandbox: String?
    /// Processes that decoded the sound, and died or hung and were replaced.
    public var soundDecoderDeaths = 0
    /// What has come from a web server; nil for a film that is not on one.
    public var network: Network?
    /// How far a live film is behind its sender; nil for other films.
    public var live: Live?
    /// The camera and its frames; nil for a film.
    public var camera: Camera?
    /// The composition's frames; nil for a film.
    public var composition: Composition?
    /// The display's measurement for `camera`.
    var captureDelay: Camera.Delay?
    /// Surfaces of the decoder's pool that had memory when the newest frame was decoded.
    public var surfacesAllocated = 0
    /// The largest number of surfaces that the pool may allocate for one layout.
    public var poolCapacity = 0
    /// From `PlayerConfiguration.startedAt` until the first frame was handed to the display; nil when none was shown.
    public var startupMilliseconds: Double?
    /// How far from their times frames were shown.
    public var presentationError = PresentationError()
    /// The offset between frames and sound, measured at each frame that was shown while sound was heard: the frame's delay, as the display
    /// reports it, plus the sound's lead, as the sound device reports it. Nil when no sound was heard.
    public var avOffset: AVOffset?
    /// How often the film had to wait because its source was slower, or had stopped.
    public var stalls = 0
    /// Seconds that it waited so, in all.
    public var stalledSeconds = 0.0
    /// Seconds from the creation of the player to the end of playback, or until now while it plays.
    public var wallSeconds = 0.0
    /// User and system time of all threads of this process, in seconds; decoder processes are not included.
    public var cpuSeconds = 0.0
    /// The largest resident memory of this process, in bytes (`ru_maxrss` of `getrusage(2)`).
    public var peakRSSBytes: Int64 = 0

    /// Creates statistics in which nothing has been counted.
    public init() {}

    /// Adds what a display queue has counted for a film.
    mutating func add(_ display: DisplayQueue, _ decoded: FilmAccounts.Account, _ shown: PresentationStatistics, sinkCopied: Int) {
        sink = display.sink.name
        bytesWritten = Int64(decoded.bytesWritten)
        bytesCopied = Int64(decoded.bytesCopied + sinkCopied)
        conversion = display.sink.conversion.map { Conversion(from: $0.from, to: $0.to, why: $0.why) }
        framesPresented = shown.framesPresented
        presentationError.p50 = shown.error(percentile: 0.5)
        presentationError.p95 = shown.error(percentile: 0.95)
        presentationError.p99 = shown.error(percentile: 0.99)
        presentationError.max = shown.maximumError
        if shown.captureFrames > 0 {
            captureDelay = Camera.Delay(
                p50: shown.captureDelay(percentile: 0.5), p95: shown.captureDelay(percentile: 0.95), max: shown.maximumCaptureDelay)
        }
        let report = decoded.report
        framesDropped = DropReason.allCases.map { reason in
            (reason.rawValue, shown.dropped(reason) + (report?.droppedInDecoding[reason] ?? 0))
        }
        guard let report else { return }
        if conversion == nil { conversion = report.conversion.map { Conversion(from: $0.from, to: $0.to, why: $0.why) } }
        if !report.name.isEmpty { decoder = report.backend.label(report.name) }
        pixelFormat = report.pixelFormat
        modifier = report.modifier
        framesDecoded = report.framesDecoded
        framesDeinterlaced = report.framesDeinterlaced
        sandbox = report.sandbox?.summary
        decoderDeaths = report.decoderDeaths
        surfacesAllocated = report.surfacesAllocated
        poolCapacity = report.poolCapacity
    }
}

extension PlaybackStatistics.Composition {
    init(_ report: CompositorReport) {
        framesDrawn = report.framesDrawn
        framesPassedThrough = report.framesPassedThrough
        framesRepeated = report.framesRepeated
        framesLate = report.framesLate
        framesFailed = report.framesFailed
        framesSkipped = report.framesSkipped
        answersIgnored = report.answersIgnored
    }
}
