internal import Decoding
internal import Demuxing
internal import Media
internal import PixelConversion
internal import Reading
internal import SurfacePool

/// Prepares the frames of a composition one after the other: decodes what each needs, and asks the compositor for it.
///
/// Thread-safety: one thread at a time, except `films` and `open`, which any thread may use.
final class FrameComposer {
    /// A frame that is there, or that is being drawn.
    struct Entry {
        enum Content {
            case source(SharedFrame)
            case drawn(VideoCompositionRequest, isRepeated: Bool)
        }

        let time: MediaTime
        let content: Content

        var request: VideoCompositionRequest? { if case .drawn(let request, _) = content { request } else { nil } }
        /// Whether nobody has to be waited for.
        var isThere: Bool { request?.isAnswered ?? true }
    }

    let composition: Composition
    private(set) var video: VideoComposition
    let films = OpenFilms()
    let open: OpenRequests
    private let compositor: any VideoCompositing
    private let options: CompositionReadingOptions
    private let ledger: CompositorLedger
    private var thread = CompositorThread()
    private var tracks: [Int: TrackFrames] = [:]
    /// Empty where all frames are decoded into a form that the compositor reads.
    private var conversions: [Int: SourceConversion] = [:]
    private var plan = PreparationPlan()
    private var context: RenderContext?
    private var color: ColorDescription?
    /// What was drawn last, for instructions that do not change.
    private var last: (instruction: Int, sources: [Int: SharedFrame], request: VideoCompositionRequest)?

    init(
        _ composition: Composition, _ video: VideoComposition, _ compositor: any VideoCompositing, _ options: CompositionReadingOptions,
        _ ledger: CompositorLedger
    ) {
        self.composition = composition
        self.video = video
        self.compositor = compositor
        self.options = options
        self.ledger = ledger
        open = OpenRequests(compositor)
        var reading = options.reading
        if !options.passesAnyFormat { reading.decoder.requirements = compositor.sourceRequirements }
        // Those in flight, those that wait in `TrackFrames`, the one that may be shown again, and the one that was converted last.
        reading.decoder.holdCount += options.framesInFlight + (options.passesAnyFormat ? 4 : 3)
        let settings = reading, films = films
        for track in composition.tracks(.video) {
            if options.passesAnyFormat {
                conversions[track.id] = SourceConversion(compositor.sourceRequirements, films) { target in
                    PixelTransferSession(
                        to: target, allocator: settings.allocator, holdCount: settings.decoder.holdCount,
                        maximumByteCount: settings.decoder.maximumSurfaceBytes, statistics: settings.statistics ?? FrameStatistics())
                }
            }
            tracks[track.id] = TrackFrames(track) { source throws(ReadingError) in
                // A film that is given up must not take the others along.
                var options = settings
                options.source.cancellation = AssetCancellation(following: settings.source.cancellation)
                films.add(options.source.cancellation)
                let film = try VideoTrackOutput(url: source.url, track: source.trackID, options: options)
                films.add(film, notice: film.notice)
                return film
            }
        }
        makePlan()
    }

    private func makePlan() { plan = options.preparedAhead > .zero ? PreparationPlan(composition, video) : PreparationPlan() }

    /// Nobody waits for what has been prepared. Who does not let go of a cancelled request loses the decoders and the surfaces that it holds.
    func withdraw() {
        last = nil
        for conversion in conversions.values { conversion.restart() }
        guard !open.withdraw() else { return }
        context?.close()
        context = nil
        open.use(nil)
        for track in tracks.values { track.close() }
        // A `start` that does not return would keep all others waiting.
        thread = CompositorThread()
    }

    /// Any time may come next.
    func restart() { for track in tracks.values { track.restart() } }

    /// Draws in another way from the next frame on.
    func replace(_ new: VideoComposition) {
        if new.size != video.size || new.renderScale != video.renderScale || new.color != video.color {
            context = nil
            open.use(nil)
            color = nil
        }
        video = new
        makePlan()
    }

    /// Forgets a frame that was drawn and that nothing can be repeated from.
    func forget(_ request: VideoCompositionRequest) { if last?.request === request { last = nil } }

    /// Does not wait for the answer to a request any more: a `start` that does not return keeps no other waiting.
    func giveUp(_ request: VideoCompositionRequest) {
        thread.leave(request)
        request.cancel()
    }

    /// Whether a later frame may be this one shown again.
    func mayRepeat(_ request: VideoCompositionRequest) -> Bool { last?.request === request }

    /// The frame at a time; nil where there is no instruction.
    func entry(at time: MediaTime) throws(ReadingError) -> Entry? {
        guard let index = video.index(at: time) else { return nil }
        let needed = plan.needed(after: time, until: time + options.preparedAhead)
        for (id, track) in tracks where track.isPreparing || !needed.isEmpty {
            track.prepare(needed.lazy.filter { $0.track == id }, now: time, ahead: options.preparedAhead)
        }
        let instruction = video.instructions[index]
        var sources: [Int: SharedFrame] = [:]
        do {
            if let id = instruction.passthroughTrack, let frame = try tracks[id]?.frame(at: time) {
                if isFit(frame) { return Entry(time: time, content: .source(frame)) }
                sources[id] = frame
            }
            for id in instruction.requiredTracks where sources[id] == nil { sources[id] = try tracks[id]?.frame(at: time) }
            for (id, frame) in sources { sources[id] = try conversions[id]?.frame(frame) ?? frame }
        } catch {
            try films.check()
            throw error
        }
        if !instruction.containsTweening, let last, last.instruction == index, Self.areSame(last.sources, sources) {
            return Entry(time: time, content: .drawn(last.request, isRepeated: true))
        }
        let request = VideoCompositionRequest(time, instruction, currentContext(sources), sources, ledger)
        open.add(request)
        if !instruction.containsTweening { last = (index, sources, request) } else { last = nil }
        thread.call(for: request) { [compositor] in
            guard request.begin() else { return }
            do { try compositor.start(request) } catch { request.finish(throwing: error) }
        }
        return Entry(time: time, content: .drawn(request, isRepeated: false))
    }

    private static func areSame(_ a: [Int: SharedFrame], _ b: [Int: SharedFrame]) -> Bool {
        a.count == b.count && a.allSatisfy { b[$0.key] === $0.value }
    }

    /// Whether a frame can be shown as it is.
    private func isFit(_ frame: SharedFrame) -> Bool {
        let copy = frame.copy(), own = copy.attributes.color.resolved(for: copy.pixelFormat, size: copy.visible.size), wanted = resultColor(own)
        let isSquare = !copy.attributes.pixelAspect.isKnown || copy.attributes.pixelAspect.numerator == copy.attributes.pixelAspect.denominator
        // What lies below a frame with alpha is seen.
        if copy.pixelFormat.description.hasColorAndAlpha { return false }
        return copy.visible.size == video.size && isSquare && copy.attributes.orientation == .upright && own.matrix == wanted.matrix
            && own.range == wanted.range && (options.passesAnyFormat || copy.pixelFormat == compositor.renderFormat)
    }

    /// The colours of the result: what the composition does not say, the first frame says.
    private func resultColor(_ first: ColorDescription) -> ColorDescription {
        if let color { return color }
        let made = video.color.completed(by: first)
        color = made
        return made
    }

    private func currentContext(_ sources: [Int: SharedFrame]) -> RenderContext {
        if let context { return context }
        var first = ColorDescription.unspecified.resolved(width: video.size.width, height: video.size.height)
        if let frame = sources.min(by: { $0.key < $1.key })?.value.copy() {
            first = frame.attributes.color.resolved(for: frame.pixelFormat, size: frame.visible.size)
        }
        let made = RenderContext(
            size: video.size, renderScale: video.renderScale, format: compositor.renderFormat, color: resultColor(first),
            allocator: options.reading.allocator, count: options.reading.decoder.holdCount + options.framesInFlight + 2)
        context = made
        open.use(made)
        thread.call { [compositor] in compositor.renderContextChanged(made) }
        return made
    }
}
