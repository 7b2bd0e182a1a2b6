public import Decoding
internal import Deinterlacing
internal import DisplaySink
public import Media
public import PixelConversion
internal import SampleQueue
public import Sandbox
public import SurfacePool

/// Describes the decoder of a display queue and counts what it has done.
public struct DecoderReport: Sendable, Hashable {
    /// libavcodec's name of the decoder; empty for frames that need none.
    public var name: String
    /// The codec of the samples.
    public var codec: VideoCodec
    /// The pixel format of the newest frame; nil before the first.
    public var pixelFormat: PixelFormat?
    /// The memory layout of the newest frame; nil before the first.
    public var modifier: FormatModifier?
    /// Frames that were passed on to the display's queue and to the exporters.
    public var framesDecoded = 0
    /// Frames among them that were made of fields.
    public var framesDeinterlaced = 0
    /// Samples that could not be decoded, as reported by `DisplayQueue.Event.decodeError`.
    public var errors = 0
    /// Samples and frames that were dropped before they reached the display's queue, by reason.
    public var droppedInDecoding: [DropReason: Int] = [:]
    /// Hardware or software, and why.
    public var backend = BackendInUse(isHardware: false)
    /// Surfaces of the pool that had memory when the newest frame was decoded.
    public var surfacesAllocated = 0
    /// The largest number of surfaces that the pool may allocate for one layout.
    public var poolCapacity = 0
    /// What the decoder process has given up; nil when libavcodec runs in this process.
    public var sandbox: SandboxReport?
    /// A conversion that the requirements on the output made necessary; nil without.
    public var conversion: ConversionReport?
    /// Decoder processes that died or hung and were replaced.
    public var decoderDeaths = 0
}

/// The `decode` thread: takes samples in order, keeps the decoder that fits them, and hands frames to the presentation queue.
///
/// Back-pressure comes from `PresentationQueue.enqueue`, which waits for room.
final class DecodeLoop: Sendable {
    private let samples: SampleQueue
    private let output: FrameTee
    private let counters: FrameStatistics
    private let options: DecoderOptions
    private let isPrompt: Bool
    private let sandbox: SandboxOptions
    private let allocator: any SurfaceAllocator
    private let beforeFirst: @Sendable (MediaTime) -> Void
    private let onEvent: @Sendable (DisplayQueue.Event) -> Void
    private let shared: Monitor<Shared>
    /// The epoch of the newest flush of output and samples.
    private let flushed = Monitor(Int.min)

    private struct Shared: ~Copyable {
        var thread: LoopThread?
        var isStopping = false
        var report: DecoderReport?
        var onMarker: MarkerHandler?
        var deinterlacing: Deinterlacing
    }

    private struct MarkerHandler: Sendable { let body: @Sendable (SampleBuffer) -> Void }

    /// - Parameters:
    ///   - isPrompt: Whether frames are waited for as they come; see `LoopThread`.
    ///   - beforeFirst: called with the time of the first frame since the start or a flush, before the display gets it.
    init(
        samples: SampleQueue, output: FrameTee, counters: FrameStatistics, options: DecoderOptions, isPrompt: Bool,
        sandbox: SandboxOptions, deinterlacing: Deinterlacing, allocator: any SurfaceAllocator, beforeFirst: @escaping @Sendable (MediaTime) -> Void,
        onEvent: @escaping @Sendable (DisplayQueue.Event) -> Void
    ) {
        shared = Monitor(Shared(deinterlacing: deinterlacing))
        self.samples = samples
        self.output = output
        self.counters = counters
        self.options = options
        self.isPrompt = isPrompt
        self.sandbox = sandbox
        self.allocator = allocator
        self.beforeFirst = beforeFirst
        self.onEvent = onEvent
    }

    /// Which frames are deinterlaced, from the next one on.
    var deinterlacing: Deinterlacing {
        get { shared.withLock { $0.deinterlacing } }
        set { shared.withLock { $0.deinterlacing = newValue } }
    }

    var report: DecoderReport? { shared.withLock { $0.report } }

    /// Counts from zero, and returns what was counted.
    func restartReport() -> DecoderReport? {
        shared.withLock { shared in
            guard var next = shared.report else { return nil }
            defer { shared.report = next }
            let report = next
            (next.framesDecoded, next.errors, next.droppedInDecoding, next.pixelFormat, next.modifier) = (0, 0, [:], nil, nil)
            return report
        }
    }

    func onMarker(_ body: (@Sendable (SampleBuffer) -> Void)?) { shared.withLock { $0.onMarker = body.map(MarkerHandler.init) } }

    func start() {
        // Read before the thread starts: after a flush that comes first, the epochs differ until the thread has carried out that flush.
        let epoch = output.presentation.epoch
        let thread = LoopThread(name: "decode", isPrompt: isPrompt) { [self] in
            var worker = Worker()
            worker.epoch = epoch
            run(&worker)
        }
        shared.withLock { $0.thread = thread }
    }

    /// Forgets the samples. Those that are enqueued afterwards are decoded in `epoch`, which has begun at the output.
    func flush(removeImage: Bool, epoch: Int) {
        // Under the lock: the thread reads the epoch when it comes to the samples' flush, and must not find it before that flush is in the queue.
        flushed.withLock { begun in
            if removeImage { samples.flushAndRemoveImage() } else { samples.flush() }
            begun = max(begun, epoch)
        }
    }

    func stop() {
        shared.withLock { $0.isStopping = true }
        samples.interrupt()
        shared.withLock { $0.thread.take() }?.join()
    }

    /// State that only the decode thread uses.
    private struct Worker {
        var session: (any DecodingSession)?
        var format: VideoFormat?
        /// The next frame is the first one since the start or a flush: it is shown at once.
        var isFirst = true
        /// Counts flushes. Between the owner's flush and the moment at which this thread carries it out, frames of the old position are dropped.
        var epoch = 0
        /// No decoder could be made; samples are discarded until a flush.
        var isBroken = false
        /// How the frames shown last were decoded.
        var backend: BackendInUse?
        /// Why they were converted.
        var conversion: String?
        /// Whose memory they lie in, as told to exporters' programs.
        var place: Place?
        /// Once frames are to be deinterlaced.
        var deinterlacer: DeinterlacingSession?
        /// Whether the viewer knows that they cannot be.
        var hasToldFailure = false
    }

    private struct Place: Hashable {
        var device: DeviceNumber
        var modifier: FormatModifier

        /// What programs that draw on another device cannot import.
        var sentence: String {
            let rest =
                modifier == .linear
                ? "another device can import them if its driver reaches that memory."
                : "their modifier is \(modifier), so other devices cannot import them; exporters that take linear frames get copies."
            return "The frames lie in memory of the device \(device); \(rest)"
        }
    }

    private func run(_ worker: inout Worker) {
        while !shared.withLock({ $0.isStopping }) {
            switch samples.dequeue(waitingUntil: nil) {
            case .none: continue
            case .flush(let removeImage):
                worker.session?.flush { receive($0, &worker) }
                worker.deinterlacer?.flush()
                // A flush of the display queue has begun its epoch already. The program flushes the samples alone as well.
                let begun = flushed.withLock { $0 }
                worker.epoch = begun > worker.epoch ? begun : output.flush(removeImage: removeImage)
                worker.isFirst = true
                worker.isBroken = false
            case .sample(let sample): handle(sample, &worker)
            }
        }
        worker.session?.invalidate()
    }

    private func handle(_ sample: SampleBuffer, _ worker: inout Worker) {
        switch sample.content {
        case .compressed(_, .video(let format)):
            guard prepare(format, &worker), let session = worker.session else { return }
            decode(sample, with: session, &worker)
        case .compressed:
            return
        case .image(let image):
            drain(&worker)
            show(image, of: sample, &worker)
        case .marker(let marker):
            drain(&worker)
            if marker != .drain { worker.session?.flush { receive($0, &worker) } }
            if marker == .endOfStream { output.markEndOfStream(epoch: worker.epoch) }
            shared.withLock { $0.onMarker }?.body(sample)
        }
    }

    /// Shows an image at its sample's time and with its sample's flags; at its own time where the sample has none.
    private func show(_ image: any ImageBuffer, of sample: SampleBuffer, _ worker: inout Worker) {
        guard let image = image as? SharedFrame else { return countDropped(.unsupported) }
        var frame = image.copy(), sample = sample
        if !sample.presentationTime.isNumeric { sample.presentationTime = frame.presentationTime }
        if !sample.duration.isNumeric { sample.duration = frame.duration }
        sample = sample.trimmed
        if sample.flags.contains(.doNotDisplay) { return countDropped(.doNotDisplay) }
        if sample.presentationTime != frame.presentationTime || sample.duration != frame.duration {
            frame = frame.retimed(sample.presentationTime, duration: sample.duration)
        }
        if sample.flags.contains(.displayImmediately) { frame.flags.insert(.displayImmediately) }
        if sample.flags.contains(.corrupt) { frame.flags.insert(.corrupt) }
        if !sample.attachments.isEmpty { frame.attachments = sample.attachments }
        show(frame, &worker)
    }

    private func countDropped(_ reason: DropReason) {
        change { $0.droppedInDecoding[reason, default: 0] += 1 }
    }

    /// Changes the report, which begins here when there is none yet.
    private func change(_ body: (inout DecoderReport) -> Void) {
        shared.withLock { shared in
            var report = shared.report.take() ?? DecoderReport(name: "", codec: VideoCodec(name: ""))
            body(&report)
            shared.report = report
        }
    }

    /// Makes sure that there is a session for `format`; false when there can be none.
    private func prepare(_ format: VideoFormat, _ worker: inout Worker) -> Bool {
        if worker.isBroken { return false }
        if let session = worker.session {
            if worker.format == format || session.canAccept(format) {
                worker.format = format
                return true
            }
            // The process of the new decoder starts while the old decoder delivers its last frames.
            if sandbox.policy != .off { SandboxedSession.prepare(sandbox, options.specification) }
            drain(&worker)
            session.invalidate()
            worker.session = nil
        }
        do {
            let session = try makeSession(format)
            worker.session = session
            worker.format = format
            change { report in
                report.name = session.decoderName
                report.codec = format.codec
                report.sandbox = (session as? SandboxedSession)?.report
                report.backend = session.backend
            }
            return true
        } catch {
            fail(error, &worker)
            return false
        }
    }

    private func makeSession(_ format: VideoFormat) throws(DecodingError) -> any DecodingSession {
        try DecoderBackends.makeSession(for: format, options, sandbox: sandbox, allocator: allocator, statistics: counters) {
            onEvent(.notice($0))
        }
    }

    private func decode(_ sample: SampleBuffer, with session: any DecodingSession, _ worker: inout Worker) {
        do throws(DecodingError) {
            try session.decode(sample, DecodeInstructions(isFollowed: samples.count > 0)) { output in receive(output, &worker) }
        } catch {
            count(error)
            if error.code == .decoderLost { fail(error, &worker) }
        }
    }

    /// Nothing more can be decoded before a flush.
    private func fail(_ error: DecodingError, _ worker: inout Worker) {
        worker.isBroken = true
        samples.fail("\(error)")
        onEvent(.failed(error))
        output.markEndOfStream(epoch: worker.epoch)
    }

    private func drain(_ worker: inout Worker) {
        guard let session = worker.session else { return }
        session.finishDelayedFrames { output in receive(output, &worker) }
        if let deinterlacer = worker.deinterlacer { deinterlacer.finish { show($0, &worker) } }
    }

    /// Shows a frame, or the frames of its fields.
    private func deinterlace(_ frame: consuming VideoFrame, _ worker: inout Worker) {
        let mode = deinterlacing
        guard mode != .no || worker.deinterlacer != nil else { return show(frame, &worker) }
        let deinterlacer =
            worker.deinterlacer ?? DeinterlacingSession(mode, allocator: allocator, holdCount: options.holdCount, statistics: counters)
        worker.deinterlacer = deinterlacer
        deinterlacer.mode = mode
        deinterlacer.pass(frame) { show($0, &worker) }
        if let failure = deinterlacer.failure, !worker.hasToldFailure {
            worker.hasToldFailure = true
            onEvent(.notice(failure))
        }
        if deinterlacer.framesMade > 0 { change { $0.framesDeinterlaced = deinterlacer.framesMade } }
    }

    private func receive(_ output: consuming DecodeOutput, _ worker: inout Worker) {
        switch consume output {
        case .frame(let frame): deinterlace(frame, &worker)
        case .dropped(_, let reason): countDropped(reason)
        case .failed(_, let error):
            count(error)
            // Every other frame would fail for the same reason.
            if error.code == .requirements, !worker.isBroken { fail(error, &worker) }
            if error.code == .decoderDied, let session = worker.session as? SandboxedSession {
                let deaths = session.statistics.deaths
                change { $0.decoderDeaths = deaths }
            }
        }
    }

    private func show(_ frame: consuming VideoFrame, _ worker: inout Worker) {
        if worker.isFirst {
            frame.flags.insert(.displayImmediately)
            worker.isFirst = false
            beforeFirst(frame.presentationTime)
        }
        let layout = frame.surface.layout
        let pool = worker.session?.poolStatistics, backend = worker.session?.backend
        var sandbox: SandboxReport?
        if let backend, backend != worker.backend {
            worker.backend = backend
            // Another decoder is another process, with other rights.
            sandbox = (worker.session as? SandboxedSession)?.report
            let decoder = worker.session?.decoderName ?? ""
            let reason = backend.reason.map { ", because \($0)" } ?? ""
            let place = sandbox == nil ? "" : " in a process of its own"
            onEvent(.detail("Decoder: \(backend.label(decoder))\(place)\(reason)\(reason.hasSuffix(".") ? "" : ".")"))
        }
        let conversion = worker.session?.conversion
        if let conversion, conversion.why != worker.conversion { onEvent(.detail(conversion.sentence)) }
        worker.conversion = conversion?.why
        let place = frame.surface.device.map { Place(device: $0, modifier: layout.modifier) }
        if !output.exporters.isEmpty, let place, place != worker.place { onEvent(.detail(place.sentence)) }
        worker.place = place
        shared.withLock { shared in
            // Frames that need no decoding have no decoder.
            var report = shared.report.take() ?? DecoderReport(name: "", codec: VideoCodec(name: ""))
            report.conversion = conversion
            report.framesDecoded += 1
            report.pixelFormat = layout.format
            report.modifier = layout.modifier
            if let backend { report.backend = backend }
            if let sandbox { report.sandbox = sandbox }
            if let pool {
                report.surfacesAllocated = pool.allocated
                report.poolCapacity = pool.capacity
            }
            shared.report = report
        }
        output.enqueue(frame, epoch: worker.epoch)
    }

    private func count(_ error: DecodingError) {
        change { $0.errors += 1 }
        onEvent(.decodeError(error))
    }
}
