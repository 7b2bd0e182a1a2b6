public import Decoding
public import Deinterlacing
public import DisplaySink
public import FrameExport
public import Media
internal import PixelConversion
public import SampleQueue
public import Sandbox
public import SurfacePool

/// Shows video: takes compressed samples, decodes them and shows each frame at its time.
///
/// The Linux counterpart of `AVSampleBufferDisplayLayer`. Feed `samples`, which says when it is ready for more:
///
///     let display = try DisplayQueue(sink: WaylandSink())
///     try display.start()
///     display.samples.requestSamples(whenReadyOn: queue) { while display.samples.isReadyForMoreSamples { display.samples.enqueue(next()) } }
///
/// Without a timebase of the program's own, the film runs on the host clock from its first frame on; see `init`.
///
/// It owns the `decode` thread, and the sink's `present` thread while started. The format may change between samples: the last frame of the
/// old format is shown before the first of the new one.
///
/// Thread-safety: all members may be called from any thread; handlers are called on the library's threads with no lock held.
public final class DisplayQueue: Sendable {
    /// What the queue reports.
    public enum Event: Sendable {
        /// The first frame since the start, or since a flush, has been handed to the display at this moment.
        case firstFrame(HostTime)
        /// The duration of the last frame before an end-of-stream marker has ended.
        case finished
        /// A sentence for the viewer about how the film is decoded.
        case notice(String)
        /// A sentence for verbose output: which decoder is used, and why not another.
        case detail(String)
        /// A sample could not be decoded; playback continues.
        case decodeError(DecodingError)
        /// No decoder can be made for the stream; nothing more is shown before the next flush.
        case failed(DecodingError)
        /// What the display or its viewer reports.
        case sink(SinkEvent)
    }

    /// Takes the samples.
    public let samples: SampleQueue
    /// Where frames are shown.
    public let sink: any DisplaySink
    /// Counts the bytes that decoding has written and copied.
    public let counters: FrameStatistics
    let presentation: PresentationQueue
    private let output: FrameTee
    private let claims: ExporterClaims
    private let loop: DecodeLoop
    private let automatic: DefaultTimebase?

    /// Makes a queue that is not started.
    ///
    /// - Parameters:
    ///   - sink: where frames are shown; owned by this queue from now on.
    ///   - options: how to decode; `holdCount` is raised by what the queue and the sink hold.
    ///   - sandbox: whether the decoder runs in a process of its own.
    ///   - timebase: the time of the film, driven by the program and shared with the sound. nil: the queue's own, which runs on the host clock.
    ///     Samples whose times are readings of CLOCK_MONOTONIC are then shown at those moments. With other times (the first frame is late, or more
    ///     than ten seconds ahead) the first frame since the start or a flush is shown at once, and time runs from there. Setting the time or
    ///     the rate of `timebase` ends this.
    ///   - watermarks: when `samples` is ready for more.
    ///   - isPrompt: whether samples come from a source with a rhythm of its own and are to be shown as they come, such as a camera's frames: where
    ///     processors are short, the queue's thread runs sooner and for a shorter time.
    ///   - deinterlacing: which frames are deinterlaced, for the display and the exporters.
    ///   - exporters: clients that get every decoded frame as well; the pool grows by what they declare to hold. Each serves one queue or player
    ///     at a time, until that is stopped: `start` throws when one of them is in use.
    ///   - onEvent: called on the library's threads with no lock held.
    public init(
        sink: any DisplaySink, options: DecoderOptions = DecoderOptions(), sandbox: SandboxOptions = SandboxOptions(),
        timebase: Timebase? = nil, watermarks: Watermarks = Watermarks(), isPrompt: Bool = false, deinterlacing: Deinterlacing = .no,
        exporters: [FrameExporter] = [],
        onEvent: @escaping @Sendable (Event) -> Void = { _ in }
    ) {
        let automatic = timebase == nil ? DefaultTimebase() : nil
        let timebase = timebase ?? automatic?.timebase ?? Timebase()
        self.automatic = automatic
        let samples = SampleQueue(watermarks: watermarks, controlTimebase: timebase)
        let presentation =
            (sink as? LastingSink)?.queue(for: timebase)
            ?? PresentationQueue(capacity: Self.decodedAhead, timebase: timebase, pacing: sink.pacing)
        let counters = FrameStatistics()
        var options = options
        let claims = ExporterClaims(exporters, epoch: presentation.epoch)
        let output = FrameTee(presentation: presentation, exporters: claims.exporters)
        output.connect(to: timebase)
        options.holdCount += Self.decodedAhead + sink.surfaceHoldCount + output.surfaceHoldCount
        let wishes = ExportWishes(options, claims.exporters.map { ($0.number, $0.configuration.wishes) })
        (options.requirements, options.rowAlignment) = (wishes.requirements, wishes.rowAlignment)
        // Frames whose neighbours are looked at are held a little longer.
        if deinterlacing != .no { options.holdCount += Self.heldByDeinterlacer }
        self.output = output
        self.claims = claims
        self.samples = samples
        self.sink = sink
        self.presentation = presentation
        self.counters = counters
        self.loop = DecodeLoop(
            samples: samples, output: output, counters: counters, options: options, isPrompt: isPrompt,
            sandbox: sandbox, deinterlacing: deinterlacing, allocator: sink.preferredAllocator, beforeFirst: { automatic?.willShowFirst($0) },
            onEvent: onEvent)
        onEventForSink = onEvent
        unmetWishes = wishes.unmet
        output.onNotice { onEvent(.notice($0)) }
        samples.onTimebaseChange { [presentation, output] timebase in
            presentation.timebase = timebase
            output.connect(to: timebase)
        }
    }

    /// Which frames are deinterlaced, from the next one that is decoded.
    public var deinterlacing: Deinterlacing {
        get { loop.deinterlacing }
        set { loop.deinterlacing = newValue }
    }

    /// 4: bwdif looks at three frames, and takes one more.
    private static let heldByDeinterlacer = 4

    private let onEventForSink: @Sendable (Event) -> Void
    /// Wishes of exporters that others stand against; told when the queue starts.
    private let unmetWishes: [String]

    /// 4: enough for one slow frame at 60 Hz, few enough to stay in the processor's cache.
    package static let decodedAhead = 4

    /// The time that decides when frames are shown. It may be replaced at any moment, here or as `samples.controlTimebase`; queued frames follow
    /// the new one.
    public var timebase: Timebase {
        get { samples.controlTimebase }
        set { samples.controlTimebase = newValue }
    }

    /// Opens the display and starts the threads.
    public func start() throws(SinkError) {
        if let conflict = claims.conflict { throw conflict }
        for sentence in unmetWishes { onEventForSink(.detail(sentence)) }
        let onEvent = onEventForSink
        try sink.start(presentation) { [presentation, automatic] event in
            switch event {
            case .firstFrameShown(let time):
                // Flushed meanwhile: this frame is of the old position.
                guard presentation.firstEpoch == presentation.epoch else { return }
                automatic?.didShowFirst(at: presentation.refresh(notBefore: time))
                onEvent(.firstFrame(time))
            case .finished: onEvent(.finished)
            default: onEvent(.sink(event))
            }
        }
        loop.start()
    }

    /// Forgets every sample and frame not yet shown. The frame on the display stays until the next one, which is shown as soon as it is decoded,
    /// whatever the timebase says.
    public func flush() { flush(removeImage: false) }

    /// - Parameter serial: The seek that the samples enqueued from now on follow; nil: the same as before.
    func flush(removeImage: Bool, serial: UInt64? = nil) {
        // The output is flushed first, so that the decode thread does not wait in it.
        let epoch = output.flush(removeImage: removeImage, serial: serial)
        loop.flush(removeImage: removeImage, epoch: epoch)
    }

    /// The seek `serial` has failed, and the frames go on.
    func adopt(_ serial: UInt64) { output.adopt(serial) }

    /// Does what `flush` does, and blanks the display.
    public func flushAndRemoveImage() { flush(removeImage: true) }

    /// Whether the film has no clock: frames are taken as fast as they are decoded.
    var isUntimed: Bool { presentation.pacing == .untimed }

    /// Holds a film that has no clock, since the sink is untimed; see `FrameTee`.
    func hold() { output.hold() }

    /// Lets such a film go on.
    func endHold() { output.endHold() }

    /// Shows the next frame of a film that stands still, and sets its time.
    func showNext(_ timebase: Timebase) { output.showNext(timebase) }

    /// The media time that a film without a clock has reached; nil for one with a clock.
    var reached: MediaTime? { output.reached }

    /// Ends both threads and releases every surface.
    public func stop() {
        output.cancel()
        output.onNotice(nil)
        loop.stop()
        sink.stop()
        claims.release()
    }

    /// Calls `body` with each marker, its time and its attachments, when every frame before it has been handed to the display's queue. On the
    /// decode thread, with no lock held; nil removes it.
    public func onMarker(_ body: (@Sendable (SampleBuffer) -> Void)?) { loop.onMarker(body) }

    /// Which decoder is used and what it has done; nil before the first sample.
    public var decoderReport: DecoderReport? { loop.report }

    /// Counts what is decoded from zero, and returns what was counted.
    func restartDecoderReport() -> DecoderReport? { loop.restartReport() }

    /// How many frames were shown, dropped and late.
    public var presentationStatistics: PresentationStatistics { presentation.statistics }
}
