internal import DisplaySink
internal import Glibc
internal import Media
internal import SampleQueue

/// What the engine's thread owns: the decoders, the lines and images of every track, and the renderer.
///
/// Thread-safety: none; one thread.
final class SubtitleWorker {
    /// Everything of one track.
    private final class Content {
        var decoder: SubtitleDecoder?
        var text: TextTrack?
        let images: ImageTrack?
        /// Samples of a track of images that nobody looks at: decoding them would take time and memory.
        var kept: [SampleBuffer] = []
        var keptBytes = 0

        init(decoder: SubtitleDecoder?, images: ImageTrack?) {
            self.decoder = decoder
            self.images = images
        }
    }

    /// 8 MiB of compressed images: some minutes, so that a track that is chosen has what is on. The oldest are dropped.
    private static let mostKept = 8 << 20

    private let tracks: [SubtitleTrack]
    private let film: SubtitleEngine.Film
    private let notice: @Sendable (String) -> Void
    private var contents: [Int: Content] = [:]
    private var chosen: Int?
    private var renderer: SubtitleRenderer?

    init(_ tracks: [SubtitleTrack], _ film: SubtitleEngine.Film, notice: @escaping @Sendable (String) -> Void) {
        self.tracks = tracks
        self.film = film
        self.notice = notice
    }

    /// Carries an order out. Returns the times, in milliseconds, in which something else is shown now.
    func obey(_ order: SubtitleEngine.Order) -> [Range<Int64>] {
        switch order {
        case .sample(let sample):
            guard let index = tracks.firstIndex(where: { $0.source == .film(track: sample.trackID) }) else { return [] }
            return add(sample, to: index)
        case .choose(let index):
            guard index != chosen else { return [] }
            chosen = index
            if let index { prepare(index) }
            return [.min..<Int64.max]
        case .seek:
            for content in contents.values { content.decoder?.flush() }
            return []
        case .image: return []
        }
    }

    /// The image at a time of the chosen track, in milliseconds, and until when it stays as it is.
    func draw(at time: Int64, _ canvas: OverlayCanvas, _ settings: SubtitleSettings) -> (OverlayImage?, until: Int64) {
        guard settings.isVisible, let chosen, let content = contents[chosen] else { return (nil, .max) }
        if let images = content.images {
            let (event, until) = images.state(at: time)
            return (event.flatMap { images.image($0, on: canvas) }, until)
        }
        guard let text = content.text, let renderer else { return (nil, .max) }
        let state = text.state(at: time)
        return (state.isOn ? renderer.image(text, at: time, on: canvas, settings) : nil, state.until)
    }

    // MARK: Inside

    private func add(_ sample: SampleBuffer, to index: Int) -> [Range<Int64>] {
        guard case .compressed(let block, _) = sample.content, let content = content(index) else { return [] }
        if content.images != nil, index != chosen {
            content.kept.append(sample)
            content.keptBytes += block.count
            while content.keptBytes > Self.mostKept, let oldest = content.kept.first {
                if case .compressed(let block, _) = oldest.content { content.keptBytes -= block.count }
                content.kept.removeFirst()
            }
            return []
        }
        let spans = decode(sample, block, content)
        return index == chosen ? spans : []
    }

    private func decode(_ sample: SampleBuffer, _ block: BlockBuffer, _ content: Content) -> [Range<Int64>] {
        guard let start = SubtitleEngine.milliseconds(sample.presentationTime) else { return [] }
        return decode(block, start: start, duration: SubtitleEngine.milliseconds(sample.duration), content)
    }

    private func decode(_ block: BlockBuffer, start: Int64, duration: Int64?, _ content: Content) -> [Range<Int64>] {
        guard start > -(1 << 40), start < 1 << 40 else { return [] }
        var spans: [Range<Int64>] = []
        for event in content.decoder?.decode(block, start: start, duration: duration) ?? [] {
            switch event {
            case .line(let start, let duration, let text):
                if content.text?.add(start: start, duration: duration, text: text) == true { spans.append(start..<start + max(1, duration)) }
            case .images(let event):
                content.images?.add(event)
                // It also ends the one before.
                spans.append(event.start..<max(event.start + 1, event.end ?? .max))
            }
        }
        return spans
    }

    /// The content of a track of the film, which begins empty; nil when it cannot be decoded.
    private func content(_ index: Int) -> Content? {
        if let known = contents[index] { return known }
        guard let codec = tracks[index].codec else { return nil }
        let made = make(codec: codec, configuration: tracks[index].configuration)
        if made == nil { notice("Subtitle track \(index + 1) is not shown: libavcodec does not decode \(codec) of this kind.") }
        // One that cannot be decoded is remembered, so that this is said once.
        contents[index] = made ?? Content(decoder: nil, images: nil)
        return contents[index]
    }

    private func make(codec: String, configuration: [UInt8]) -> Content? {
        guard let form = SubtitleForm(codec: codec), let decoder = SubtitleDecoder(codec: codec, configuration: configuration) else { return nil }
        if form == .images { return Content(decoder: decoder, images: ImageTrack(codec: codec, storage: film.storage)) }
        let content = Content(decoder: decoder, images: nil)
        if renderer == nil { renderer = SubtitleRenderer(fonts: film.fonts, storage: film.storage) }
        content.text = renderer.flatMap { TextTrack(form, header: decoder.header, for: $0) }
        return content
    }

    /// Makes a track that was just chosen ready.
    private func prepare(_ index: Int) {
        switch tracks[index].source {
        case .film:
            guard let content = content(index) else { return }
            let kept = content.kept
            (content.kept, content.keptBytes) = ([], 0)
            for sample in kept { if case .compressed(let block, _) = sample.content { _ = decode(sample, block, content) } }
        case .named(let path), .found(let path): if contents[index] == nil { load(path, index) }
        }
    }

    private func load(_ path: String, _ index: Int) {
        contents[index] = Content(decoder: nil, images: nil)
        do throws(SubtitleFileError) {
            let file = try SubtitleFile(path: path)
            guard let content = make(codec: file.codec, configuration: file.configuration) else {
                throw SubtitleFileError("\(path) holds no subtitles that can be shown.")
            }
            contents[index] = content
            file.forEach { block, start, duration in _ = decode(block, start: start, duration: duration, content) }
        } catch { notice(error.description) }
    }
}
