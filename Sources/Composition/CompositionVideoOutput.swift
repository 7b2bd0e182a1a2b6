internal import Decoding
internal import Dispatch
public import Media
internal import PixelConversion
public import Reading
public import SurfacePool

/// How the frames of a composition are read.
public struct CompositionReadingOptions: Sendable {
    /// What happens to a frame that the compositor does not finish.
    public enum LatePolicy: Sendable, Hashable {
        /// Reading waits for it, and ends with an error when it cannot be drawn: for files.
        case wait
        /// After this time it is left out, and reading goes on: for screens.
        case drop(after: HostSpan)
    }

    /// How the films are opened and decoded. `decoder.holdCount` frames may be held at once; `decoder.requirements` are the compositor's.
    public var reading: ReadingOptions
    /// Frames that are decoded and drawn ahead.
    public var framesInFlight: Int
    /// What happens to a frame that the compositor does not finish.
    public var latePolicy: LatePolicy

    /// By default three frames are in flight, and each is waited for.
    public init(reading: ReadingOptions = ReadingOptions(), framesInFlight: Int = 3, latePolicy: LatePolicy = .wait) {
        self.reading = reading
        self.framesInFlight = framesInFlight
        self.latePolicy = latePolicy
    }
}

/// Reads the frames of a composition: one for each multiple of its frame duration.
///
///     let output = try CompositionVideoOutput(of: film, video)
///     while let frame = try output.nextFrame() { … }
///
/// The counterpart of `AVAssetReaderVideoCompositionOutput`. Only tracks that an instruction requires are decoded. Where an instruction passes a
/// track through, and its frame has the size and the colours of the result, the surface that the decoder wrote is handed out. Where an instruction
/// does not change and neither do its source frames, the frame drawn before is handed out again.
///
/// Thread-safety: one thread at a time, except `cancel` and `report`, which any thread may call.
public final class CompositionVideoOutput: @unchecked Sendable {
    /// What is read.
    public let composition: Composition
    /// How it is drawn.
    public let videoComposition: VideoComposition
    private let compositor: any VideoCompositing
    private let options: CompositionReadingOptions
    private let ledger = CompositorLedger()
    private let queue = DispatchQueue(label: "compositor")
    private let films = OpenFilms()
    private let shared = Monitor(Shared())
    private var tracks: [Int: TrackFrames] = [:]
    private var context: RenderContext?
    private var color: ColorDescription?
    /// The number of the next frame to be asked for, and the end of those wanted.
    private var number: Int64
    private var end: MediaTime
    private var pending: [Entry] = []
    /// What was drawn last, for instructions that do not change.
    private var last: (instruction: Int, sources: [Int: SharedFrame], request: VideoCompositionRequest)?
    private var sequence: UInt64 = 0

    private struct Shared {
        var requests: [VideoCompositionRequest] = []
        var context: RenderContext?
    }

    private enum Entry {
        case source(SharedFrame, MediaTime)
        case drawn(VideoCompositionRequest, MediaTime, isRepeated: Bool)
    }

    /// Checks the composition; films are opened when their first frames are wanted.
    ///
    /// - Parameter compositor: nil takes a `LayerCompositor`, for 8 bits.
    /// - Throws: `.composition` when a rule of `VideoComposition.isValid` is broken.
    public init(
        of composition: Composition, _ videoComposition: VideoComposition, compositor: (any VideoCompositing)? = nil,
        options: CompositionReadingOptions = CompositionReadingOptions()
    ) throws(ReadingError) {
        var fault: VideoCompositionFault?
        if !videoComposition.isValid(
            for: composition,
            {
                fault = $0; return false
            }), let fault
        {
            throw ReadingError(.composition, fault.description, time: fault.range.start)
        }
        self.composition = composition
        self.videoComposition = videoComposition
        self.compositor = compositor ?? LayerCompositor()
        self.options = options
        number = 0
        end = composition.duration
        var reading = options.reading
        reading.decoder.requirements = self.compositor.sourceRequirements
        // Those in flight, those that wait in `TrackFrames`, and the one that may be shown again.
        reading.decoder.holdCount += options.framesInFlight + 3
        let settings = reading, films = films
        for track in composition.tracks(.video) {
            tracks[track.id] = TrackFrames(track) { source throws(ReadingError) in
                let film = try VideoTrackOutput(url: source.url, track: source.trackID, options: settings)
                films.add(film)
                return film
            }
        }
    }

    deinit { abandon() }

    /// What became of the frames so far. Any thread.
    public var report: CompositorReport { ledger.report }

    /// Reads this range from now on: the frames that are on the screen during some of it. Any number of times.
    public func reset(forReadingTimeRange range: MediaTimeRange) {
        abandon()
        let part = range.intersection(composition.range), step = videoComposition.frameDuration
        end = part.end
        let (n, d) = (Int128(part.start.value) * Int128(step.timescale), Int128(part.start.timescale) * Int128(step.value))
        number = Int64(n / d)
        for track in tracks.values { track.restart() }
    }

    /// Nobody waits for what is in flight.
    private func abandon() {
        last = nil
        let requests = shared.withLock { shared in
            defer { shared.requests = [] }
            return shared.requests
        }
        pending = []
        guard !requests.isEmpty else { return }
        compositor.cancelAllPendingRequests()
        let isStuck = requests.contains { !$0.isAnswered }
        for request in requests { request.cancel() }
        guard isStuck else { return }
        // Who does not answer keeps surfaces, perhaps for ever: those of the decoders and its own.
        context?.close()
        context = nil
        for track in tracks.values { track.close() }
        shared.withLock { $0.context = nil }
    }

    /// The next frame; nil at the end. Blocks while the films, their decoders and the compositor work, and while more frames are held than
    /// `options.reading.decoder.holdCount`.
    /// - Throws: What keeps a film from being read; `.composition` when a frame cannot be drawn and `.wait` is the policy; `.cancelled`.
    public func nextFrame() throws(ReadingError) -> VideoFrame? {
        while true {
            try films.check()
            while pending.count < max(options.framesInFlight, 1), let entry = try prepareNext() { pending.append(entry) }
            if pending.isEmpty { return nil }
            switch pending.removeFirst() {
            case .source(let frame, let time):
                ledger.count { $0.framesPassedThrough += 1 }
                return timed(frame, time)
            case .drawn(let request, let time, let isRepeated):
                if let frame = try result(request, time) {
                    ledger.count { if isRepeated { $0.framesRepeated += 1 } else { $0.framesDrawn += 1 } }
                    return timed(frame, time)
                }
            }
        }
    }

    /// What a request became; nil when it is left out.
    private func result(_ request: VideoCompositionRequest, _ time: MediaTime) throws(ReadingError) -> SharedFrame? {
        var deadline: HostTime?
        if case .drop(let span) = options.latePolicy { deadline = MonotonicClock.shared.now() + span }
        let answer = request.wait(until: deadline)
        try films.check()
        if !isPending(request) { shared.withLock { $0.requests.removeAll { $0 === request } } }
        let fault: String
        switch answer {
        case .frame(let frame): return frame
        case .error(let sentence): fault = sentence
        case .cancelled: fault = "the compositor cancelled a request that nobody had cancelled"
        case nil: fault = "the compositor did not finish in time"
        }
        if last?.request === request { last = nil }
        let sentence = "At \(time): \(fault)."
        guard deadline != nil else { throw ReadingError(.composition, sentence, time: time) }
        let isLate = answer == nil
        ledger.count({ if isLate { $0.framesLate += 1 } else { $0.framesFailed += 1 } }, sentence)
        if isLate { request.cancel() }
        return nil
    }

    private func isPending(_ request: VideoCompositionRequest) -> Bool {
        pending.contains { if case .drawn(let other, _, _) = $0 { other === request } else { false } }
    }

    /// The frame at its time.
    private func timed(_ frame: SharedFrame, _ time: MediaTime) -> VideoFrame {
        let copy = frame.copy()
        let (visible, attributes) = (copy.visible, copy.attributes)
        defer { sequence += 1 }
        let duration = min(time + videoComposition.frameDuration, composition.duration) - time
        return VideoFrame(
            use: copy.takeUse(), visible: visible, attributes: attributes, presentationTime: time, duration: duration, sequence: sequence)
    }

    /// Makes a blocked call, and every later one, fail soon with `.cancelled`. Any thread; idempotent.
    public func cancel() {
        films.cancel()
        let (requests, context) = shared.withLock { ($0.requests, $0.context) }
        for request in requests { request.cancel() }
        context?.close()
    }

    // MARK: Requests

    /// Decodes what the next frame needs, and asks the compositor for it; nil at the end.
    private func prepareNext() throws(ReadingError) -> Entry? {
        let time = videoComposition.frameDuration.multiplied(by: number)
        guard time < end, let index = videoComposition.index(at: time) else { return nil }
        number += 1
        let instruction = videoComposition.instructions[index]
        var sources: [Int: SharedFrame] = [:]
        do {
            if let id = instruction.passthroughTrack, let frame = try tracks[id]?.frame(at: time) {
                if isFit(frame) { return .source(frame, time) }
                sources[id] = frame
            }
            for id in instruction.requiredTracks where sources[id] == nil { sources[id] = try tracks[id]?.frame(at: time) }
        } catch {
            try films.check()
            throw error
        }
        if !instruction.containsTweening, let last, last.instruction == index, Self.areSame(last.sources, sources) {
            return .drawn(last.request, time, isRepeated: true)
        }
        let request = VideoCompositionRequest(time, instruction, currentContext(sources), sources, ledger)
        shared.withLock { $0.requests.append(request) }
        if films.isCancelled { request.cancel() }
        if !instruction.containsTweening { last = (index, sources, request) } else { last = nil }
        queue.async { [compositor] in
            guard !request.isCancelled else { return }
            do { try compositor.start(request) } catch { request.finish(throwing: error) }
        }
        return .drawn(request, time, isRepeated: false)
    }

    private static func areSame(_ a: [Int: SharedFrame], _ b: [Int: SharedFrame]) -> Bool {
        a.count == b.count && a.allSatisfy { b[$0.key] === $0.value }
    }

    /// Whether a frame can be shown as it is.
    private func isFit(_ frame: SharedFrame) -> Bool {
        let copy = frame.copy(), own = copy.attributes.color.resolved(for: copy.pixelFormat, size: copy.visible.size), wanted = resultColor(own)
        let isSquare = !copy.attributes.pixelAspect.isKnown || copy.attributes.pixelAspect.numerator == copy.attributes.pixelAspect.denominator
        return copy.visible.size == videoComposition.size && isSquare && copy.attributes.orientation == .upright && own.matrix == wanted.matrix
            && own.range == wanted.range && copy.pixelFormat == compositor.renderFormat
    }

    /// The colours of the result: what the composition does not say, the first frame says.
    private func resultColor(_ first: ColorDescription) -> ColorDescription {
        if let color { return color }
        let made = videoComposition.color.completed(by: first)
        color = made
        return made
    }

    private func currentContext(_ sources: [Int: SharedFrame]) -> RenderContext {
        if let context { return context }
        var first = ColorDescription.unspecified.resolved(width: videoComposition.size.width, height: videoComposition.size.height)
        if let frame = sources.min(by: { $0.key < $1.key })?.value.copy() {
            first = frame.attributes.color.resolved(for: frame.pixelFormat, size: frame.visible.size)
        }
        let made = RenderContext(
            size: videoComposition.size, renderScale: videoComposition.renderScale, format: compositor.renderFormat, color: resultColor(first),
            allocator: options.reading.allocator, count: options.reading.decoder.holdCount + options.framesInFlight + 2)
        context = made
        shared.withLock { $0.context = made }
        if films.isCancelled { made.close() }
        queue.async { [compositor] in compositor.renderContextChanged(made) }
        return made
    }
}
