public import Media
public import PixelConversion
public import Reading
public import SurfacePool

/// Reads the frames of a composition: one for each multiple of its frame duration.
///
///     let output = try CompositionVideoOutput(of: film, video)
///     while let frame = try output.nextFrame() { … }
///
/// The counterpart of `AVAssetReaderVideoCompositionOutput`. Only tracks that an instruction requires are decoded. Where an instruction passes a
/// track through, and its frame has the size and the colours of the result, the surface that the decoder wrote is handed out. Where an instruction
/// does not change and neither do its source frames, the frame drawn before is handed out again.
///
/// Thread-safety: one thread at a time, except `cancel`, `interrupt`, `report`, `notices` and `conversion`, which any thread may
/// call.
public final class CompositionVideoOutput: @unchecked Sendable {
    /// What is read.
    public let composition: Composition
    /// How it is drawn; `replace` changes it.
    public var videoComposition: VideoComposition { composer.video }
    private let options: CompositionReadingOptions
    private let ledger: CompositorLedger
    private let composer: FrameComposer
    /// How long the next frame is waited for.
    private var patience: CompositorPatience
    /// The number of the next frame to be asked for, and the end of those wanted.
    private var number: Int64 = 0
    private var end: MediaTime
    /// In flight, in order.
    private var pending: [FrameComposer.Entry] = []
    private var sequence: UInt64 = 0
    private let queue = ReadingQueue()

    /// Checks the composition; films are opened when their first frames are wanted.
    ///
    /// - Parameter compositor: nil takes a `LayerCompositor`, for 8 bits.
    /// - Throws: `.composition` when a rule of `VideoComposition.isValid` is broken.
    public init(
        of composition: Composition, _ videoComposition: VideoComposition, compositor: (any VideoCompositing)? = nil,
        options: CompositionReadingOptions = CompositionReadingOptions()
    ) throws(ReadingError) {
        if let error = ReadingError({ videoComposition.isValid(for: composition, $0) }) { throw error }
        self.composition = composition
        self.options = options
        ledger = CompositorLedger()
        composer = FrameComposer(composition, videoComposition, compositor ?? LayerCompositor(), options, ledger)
        patience = CompositorPatience(options.latePolicy)
        end = composition.duration
    }

    deinit { composer.withdraw() }

    /// What became of the frames so far. Any thread.
    public var report: CompositorReport { ledger.report }

    /// Sentences for the viewer about the films opened so far, such as why one is not decoded in the process that was asked for. Any thread.
    public var notices: [String] { composer.films.notices }

    /// How frames of a film are converted before they are drawn or handed out, because the compositor cannot read what the decoder makes; nil while
    /// all are used where they were decoded. Any thread.
    public var conversion: ConversionReport? { composer.films.conversion }

    /// Films opened so far; one that is closed and opened again counts twice. Any thread.
    package var filmsOpened: Int { composer.films.outputCount }

    // MARK: Position

    /// Reads this range from now on: the frames that are on the screen during some of it. Any number of times.
    public func reset(forReadingTimeRange range: MediaTimeRange) {
        goOn(with: range)
        composer.restart()
    }

    /// The same where decoding on from where the films stand costs less than seeking: the range begins little later than the frame read last.
    func goOn(with range: MediaTimeRange) {
        composer.open.endInterruption()
        abandon()
        let part = range.intersection(composition.range)
        end = part.end
        number = frameNumber(at: part.start)
    }

    /// Draws in another way from the next frame on; what is in flight is drawn anew.
    /// - Throws: `.composition` when a rule of `VideoComposition.isValid` is broken; nothing has changed then.
    public func replace(_ videoComposition: VideoComposition) throws(ReadingError) {
        if let error = ReadingError({ videoComposition.isValid(for: composition, $0) }) { throw error }
        let time = nextTime
        abandon()
        composer.replace(videoComposition)
        number = frameNumber(at: time)
    }

    /// When the next frame is shown.
    private var nextTime: MediaTime { pending.first?.time ?? time(of: number) }

    private func time(of number: Int64) -> MediaTime { videoComposition.frameDuration.multiplied(by: number) }

    /// The number of the frame that is on the screen at a time.
    private func frameNumber(at time: MediaTime) -> Int64 {
        let step = videoComposition.frameDuration
        let (n, d) = (Int128(time.value) * Int128(step.timescale), Int128(time.timescale) * Int128(step.value))
        return Int64(n / d)
    }

    /// Nobody waits for what is in flight. What comes next is a first frame.
    private func abandon() {
        pending = []
        patience = CompositorPatience(options.latePolicy)
        composer.withdraw()
    }

    /// Leaves out frames that are over at `time`, because it is too late to show them; a frame in flight that is there, or else the oldest, is
    /// handed out all the same, so that a compositor that is always late shows something. Does nothing where the policy is to wait.
    public func skip(to time: MediaTime) {
        guard options.latePolicy != .wait, time.isNumeric, time > .zero else { return }
        let over = pending.prefix { $0.time + videoComposition.frameDuration <= time }
        var left = 0
        if !over.isEmpty {
            let kept = over.lastIndex { $0.isThere } ?? 0
            let dropped = pending[..<kept] + pending[(kept + 1)..<over.endIndex]
            pending = [pending[kept]] + pending[over.endIndex...]
            for request in dropped.compactMap(\.request) where !isPending(request) && !composer.mayRepeat(request) {
                request.cancel()
                composer.open.remove(request)
            }
            left = dropped.count
        }
        let wanted = frameNumber(at: min(time, composition.duration))
        left += Int(max(wanted - number, 0))
        number = max(number, wanted)
        if left > 0 { ledger.count { $0.framesSkipped += left } }
    }

    // MARK: Frames

    /// The next frame; nil at the end. Blocks while the films, their decoders and the compositor work, and while more frames are held than
    /// `options.reading.decoder.holdCount`.
    /// - Throws: What keeps a film from being read; `.composition` when a frame cannot be drawn and `.wait` is the policy; `.cancelled`.
    public func nextFrame() throws(ReadingError) -> VideoFrame? {
        while true {
            try composer.films.check()
            if composer.open.isInterrupted { throw interruption(at: nextTime) }
            // The first frame is not kept waiting by those after it.
            let most = patience.isFirst ? 1 : max(options.framesInFlight, 1)
            while pending.count < most, let entry = try prepareNext() { pending.append(entry) }
            if pending.isEmpty { return nil }
            let entry = pending.removeFirst()
            switch entry.content {
            case .source(let frame):
                patience.notePassedThrough()
                ledger.count { $0.framesPassedThrough += 1 }
                return timed(frame, entry.time)
            case .drawn(let request, let isRepeated):
                if let frame = try result(request, entry.time) {
                    ledger.count { if isRepeated { $0.framesRepeated += 1 } else { $0.framesDrawn += 1 } }
                    return timed(frame, entry.time)
                }
            }
        }
    }

    /// The frames that are still to be read, for `for try await`.
    public var frames: FrameSequence {
        FrameSequence(on: queue) { [self] () throws(ReadingError) in
            guard let frame = try nextFrame() else { return nil }
            return SharedFrame(frame)
        } onCancel: { [self] in
            cancel()
        }
    }

    /// Decodes what the next frame needs, and asks for it; nil at the end.
    private func prepareNext() throws(ReadingError) -> FrameComposer.Entry? {
        let time = time(of: number)
        guard time < end, let entry = try composer.entry(at: time) else { return nil }
        number += 1
        return entry
    }

    /// What a request became; nil when it is left out.
    private func result(_ request: VideoCompositionRequest, _ time: MediaTime) throws(ReadingError) -> SharedFrame? {
        let deadline = patience.span.map { MonotonicClock.shared.now() + $0 }
        let answer = request.wait(until: deadline)
        try composer.films.check()
        // Still open, so that the interruption waits for its end.
        if answer?.isCancelled == true, composer.open.isInterrupted { throw interruption(at: time) }
        if !isPending(request) { composer.open.remove(request) }
        let fault: String
        switch answer {
        case .frame(let frame):
            patience.note(isLate: false)
            return frame
        case .error(let sentence): fault = sentence
        case .cancelled: fault = "the compositor cancelled a request that nobody had cancelled"
        case nil: fault = "the compositor did not finish in time"
        }
        composer.forget(request)
        let sentence = "At \(time): \(fault)."
        guard deadline != nil else { throw ReadingError(.composition, sentence, time: time) }
        let isLate = answer == nil
        patience.note(isLate: isLate)
        ledger.count({ if isLate { $0.framesLate += 1 } else { $0.framesFailed += 1 } }, sentence)
        if isLate { composer.giveUp(request) }
        return nil
    }

    private func isPending(_ request: VideoCompositionRequest) -> Bool { pending.contains { $0.request === request } }

    /// The frame at its time.
    private func timed(_ frame: SharedFrame, _ time: MediaTime) -> VideoFrame {
        let copy = frame.copy()
        let (visible, attributes) = (copy.visible, copy.attributes)
        defer { sequence += 1 }
        let duration = min(time + videoComposition.frameDuration, composition.duration) - time
        return VideoFrame(
            use: copy.takeUse(), visible: visible, attributes: attributes, presentationTime: time, duration: duration, sequence: sequence)
    }

    // MARK: Ending a wait

    /// Makes a blocked call, and every later one, fail soon with `.cancelled`. Any thread; idempotent.
    public func cancel() {
        composer.films.cancel()
        composer.open.close()
    }

    /// Makes a call of `nextFrame` that waits, or else the next one, fail soon with `.cancelled`. The one after that goes on with the same frame.
    /// For a seek: what the compositor has been asked for is not wanted any more. Any thread; `reset` ends it.
    public func interrupt() { composer.open.interrupt() }

    private func interruption(at time: MediaTime) -> ReadingError {
        composer.open.endInterruption()
        abandon()
        number = frameNumber(at: time)
        return ReadingError(.cancelled, "Reading the composition was interrupted.")
    }
}
