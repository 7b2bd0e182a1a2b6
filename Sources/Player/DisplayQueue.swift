public import Decoding
public import DisplaySink
public import FrameExport
public import Media
public import SampleQueue
public import Sandbox
public import SurfacePool

/// Shows video: compressed samples go in at one end, throttled; decoded pictures light up at the other, each at its time.
///
/// The Linux counterpart of `AVSampleBufferDisplayLayer`. Feed `samples` (it says when it is ready for more) and drive `timebase`:
///
///     let display = try DisplayQueue(sink: WaylandSink())
///     try display.start()
///     display.samples.requestSamples(whenReadyOn: queue) { while display.samples.isReadyForMoreSamples { display.samples.enqueue(next()) } }
///     display.timebase.setRate(1)
///
/// It owns the `decode` thread, and the sink's `present` thread while started. A change of format between samples needs no
/// care: the old decoder's pictures are shown to the last before the new one's.
///
/// Thread-safety: all members may be called from any thread; handlers are called on the library's threads with no lock held.
public final class DisplayQueue: Sendable {
    /// What happens to the pictures.
    public enum Event: Sendable {
        /// The first picture since the start, or since a flush, has been handed to the display.
        case firstFrame(HostTime)
        /// The last picture before an end-of-stream marker has had its time.
        case finished
        /// What the viewer should know about how the film is decoded.
        case notice(String)
        /// A sentence for whoever asks for details: which decoder, and why not another.
        case detail(String)
        /// A sample could not be decoded; playback goes on.
        case decodeError(DecodingError)
        /// No decoder can be made for the stream; nothing more will be shown before the next flush.
        case failed(DecodingError)
        /// What the display or its user reports.
        case sink(SinkEvent)
    }

    /// Where samples are put.
    public let samples: SampleQueue
    public let sink: any DisplaySink
    /// Counters of this queue's picture bytes.
    public let counters: FrameStatistics
    let presentation: PresentationQueue
    private let output: FrameTee
    private let loop: DecodeLoop

    /// - Parameters:
    ///   - sink: where pictures go; owned by this queue from now on.
    ///   - options: how to decode; `holdCount` is raised by what the queue and the sink hold.
    ///   - sandbox: whether the decoder runs in a process of its own.
    ///   - timebase: the time of the film, shared with the sound.
    ///   - exporters: who else gets every decoded picture; the pool is made larger by what they declare to hold.
    public init(
        sink: any DisplaySink, options: DecoderOptions = DecoderOptions(), sandbox: SandboxOptions = SandboxOptions(),
        timebase: Timebase = Timebase(), watermarks: Watermarks = Watermarks(), exporters: [FrameExporter] = [],
        onEvent: @escaping @Sendable (Event) -> Void = { _ in }
    ) {
        let samples = SampleQueue(watermarks: watermarks, controlTimebase: timebase)
        let presentation = PresentationQueue(capacity: Self.decodedAhead, timebase: timebase, pacing: sink.pacing)
        let counters = FrameStatistics()
        var options = options
        let output = FrameTee(presentation: presentation, exporters: exporters)
        output.connect(to: timebase)
        options.holdCount += Self.decodedAhead + sink.surfaceHoldCount + output.surfaceHoldCount
        self.output = output
        self.samples = samples
        self.sink = sink
        self.presentation = presentation
        self.counters = counters
        self.loop = DecodeLoop(
            samples: samples, output: output, counters: counters, options: options,
            sandbox: sandbox, allocator: sink.preferredAllocator, onEvent: onEvent)
        onEventForSink = onEvent
        output.onNotice { onEvent(.notice($0)) }
        samples.onTimebaseChange { [presentation, output] timebase in
            presentation.timebase = timebase
            output.connect(to: timebase)
        }
    }

    private let onEventForSink: @Sendable (Event) -> Void

    /// 4: enough to ride out one slow picture at 60 Hz, little enough to stay in the cache's reach.
    private static let decodedAhead = 4

    /// The time that decides when pictures are shown. Replaceable at any moment, here or as `samples.controlTimebase`; pictures already queued
    /// follow the new one.
    public var timebase: Timebase {
        get { samples.controlTimebase }
        set { samples.controlTimebase = newValue }
    }

    /// Opens the display and starts the threads.
    public func start() throws(SinkError) {
        let onEvent = onEventForSink
        try sink.start(presentation) { event in
            switch event {
            case .firstFrameShown(let time): onEvent(.firstFrame(time))
            case .finished: onEvent(.finished)
            default: onEvent(.sink(event))
            }
        }
        loop.start()
    }

    /// Forgets every sample and picture not yet shown; the picture on the display stays until the next one, which is shown as soon as
    /// it is decoded whatever the timebase says.
    public func flush() {
        samples.flush()
        output.flush(removeImage: false)
    }

    /// As `flush`, and blanks the display.
    public func flushAndRemoveImage() {
        samples.flushAndRemoveImage()
        output.flush(removeImage: true)
    }

    /// Ends both threads and gives every surface back.
    public func stop() {
        output.cancel()
        output.onNotice(nil)
        loop.stop()
        sink.stop()
    }

    /// What the decoder is and has done; nil before the first sample.
    public var decoderReport: DecoderReport? { loop.report }

    /// What has been shown, dropped and missed.
    public var presentationStatistics: PresentationStatistics { presentation.statistics }
}
