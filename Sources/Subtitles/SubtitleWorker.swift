internal import DisplaySink
internal import Media
internal import SampleQueue

/// The decoders, the lines and images of every track, and the renderer.
///
/// Thread-safety: none; one thread.
final class SubtitleWorker: SubtitleDrawing {
    /// Everything of one track.
    private final class Content {
        var decoder: (any SubtitleDecoding)?
        var text: TextTrack?
        let images: ImageTrack?
        /// What a track of captions has shown, which `text` draws one after the other; nil for others.
        var captions: CaptionScreens?
        /// The start of the screen that `text` draws.
        var drawn: Int64?
        /// Samples of a track of images that nobody looks at: decoding them would take time and memory.
        var kept: [SubtitleSample] = []
        var keptBytes = 0

        init(decoder: (any SubtitleDecoding)?, images: ImageTrack?) {
            self.decoder = decoder
            self.images = images
        }
    }

    /// 8 MiB of compressed images: some minutes, so that a track that is chosen has what is on. The oldest are dropped.
    private static let mostKept = 8 << 20

    private let tracks: [SubtitleTrack]
    private let film: SubtitleEngine.Film
    private let trouble: (SubtitleTrouble) -> Void
    private var contents: [Int: Content] = [:]
    private var chosen: Int?
    private var renderer: SubtitleRenderer?

    /// - Parameters:
    ///   - renderer: One that has found the system's fonts already; nil: one is made when the first text comes.
    ///   - trouble: Is told of tracks that cannot be shown.
    init(
        _ tracks: [SubtitleTrack], _ film: SubtitleEngine.Film, renderer: SubtitleRenderer? = nil, trouble: @escaping (SubtitleTrouble) -> Void
    ) {
        self.tracks = tracks
        self.film = film
        self.renderer = renderer
        self.trouble = trouble
        renderer?.take(film)
    }

    func obey(_ order: SubtitleEngine.Order) -> [Range<Int64>] {
        switch order {
        case .sample(let sample):
            guard let index = tracks.firstIndex(where: { $0.source == .film(track: sample.trackID) }), let sample = SubtitleSample(sample) else {
                return []
            }
            return add(sample, to: index)
        case .choose(let index):
            guard index != chosen else { return [] }
            chosen = index
            if let index { prepare(index) }
            return [.min..<Int64.max]
        case .seek:
            for content in contents.values {
                content.decoder?.flush()
                content.captions?.seek()
            }
            // A screen of captions is not known to last over what is passed over.
            return chosen.flatMap { contents[$0]?.captions } == nil ? [] : [.min..<Int64.max]
        case .show: return []
        }
    }

    func draw(at time: Int64, _ canvas: OverlayCanvas, _ settings: SubtitleSettings) -> (OverlayImage?, until: Int64) {
        guard settings.isVisible, let chosen, let content = contents[chosen] else { return (nil, .max) }
        if let images = content.images {
            let (event, until) = images.state(at: time)
            return (event.flatMap { images.image($0, on: canvas) }, until)
        }
        guard let text = content.text, let renderer else { return (nil, .max) }
        if let captions = content.captions {
            let (screen, until) = captions.state(at: time)
            guard let screen else { return (nil, until) }
            if content.drawn != screen.start { text.show(screen.text) }
            content.drawn = screen.start
            return (renderer.image(text, at: time, on: canvas, settings), until)
        }
        let state = text.state(at: time)
        return (state.isOn ? renderer.image(text, at: time, on: canvas, settings) : nil, state.until)
    }

    func lines(at time: Int64) -> SubtitleLines {
        guard let chosen, let content = contents[chosen] else { return SubtitleLines() }
        if let images = content.images { return images.lines(at: time) }
        guard let text = content.text else { return SubtitleLines() }
        guard let captions = content.captions else { return text.lines(at: time) }
        let (screen, until) = captions.state(at: time)
        guard let screen else { return SubtitleLines(from: time, until: until) }
        if content.drawn != screen.start { text.show(screen.text) }
        content.drawn = screen.start
        return text.shownLines(from: screen.start, until: until)
    }

    /// Decodes a sample of the film's track `index`, or keeps it.
    func add(_ sample: SubtitleSample, to index: Int) -> [Range<Int64>] {
        guard let content = content(index) else { return [] }
        if content.images != nil, index != chosen {
            content.kept.append(sample)
            content.keptBytes += sample.block.count
            while content.keptBytes > Self.mostKept, let oldest = content.kept.first {
                content.keptBytes -= oldest.block.count
                content.kept.removeFirst()
            }
            return []
        }
        let spans = decode(sample, content)
        return index == chosen ? spans : []
    }

    /// Makes a file's track ready, whose bytes these are, and which is not known yet.
    func add(_ bytes: [UInt8], to index: Int) { load(index) { bytes } }

    // MARK: Inside

    private func decode(_ sample: SubtitleSample, _ content: Content) -> [Range<Int64>] {
        guard sample.start > -(1 << 40), sample.start < 1 << 40 else { return [] }
        var spans: [Range<Int64>] = []
        let reached = content.captions?.reach(sample.start)
        if let time = reached?.changed { spans.append(time..<Int64.max) }
        for event in content.decoder?.decode(sample.block, start: sample.start, duration: sample.duration) ?? [] {
            switch event {
            case .line(let start, let duration, let text):
                if content.text?.add(start: start, duration: duration, text: text) == true { spans.append(start..<start + max(1, duration)) }
            case .screen(let start, let text):
                guard reached?.isNews == true else { break }
                content.captions?.add(CaptionScreens.Screen(start: start, text: text))
                content.drawn = nil
                spans.append(start..<Int64.max)
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
        if made == nil { trouble(SubtitleTrouble(index, "libavcodec does not decode \(codec) of this kind")) }
        // One that cannot be decoded is remembered, so that this is said once.
        contents[index] = made ?? Content(decoder: nil, images: nil)
        return contents[index]
    }

    private func make(codec: String, configuration: [UInt8]) -> Content? {
        guard let form = SubtitleForm(codec: codec), let decoder = decoder(codec, configuration) else { return nil }
        if form == .images { return Content(decoder: decoder, images: ImageTrack(codec: codec, storage: film.storage)) }
        let content = Content(decoder: decoder, images: nil)
        if renderer == nil {
            renderer = SubtitleRenderer()
            renderer?.take(film)
        }
        if form == .captions { content.captions = CaptionScreens() }
        content.text = renderer.flatMap { TextTrack(form, header: decoder.header, for: $0) }
        return content
    }

    private func decoder(_ codec: String, _ configuration: [UInt8]) -> (any SubtitleDecoding)? {
        if codec == "eia_708" { return ServiceDecoder(configuration: configuration, film: film.storage) }
        return SubtitleDecoder(codec: codec, configuration: configuration)
    }

    /// Makes a track that was just chosen ready.
    private func prepare(_ index: Int) {
        switch tracks[index].source {
        case .film:
            guard let content = content(index) else { return }
            let kept = content.kept
            (content.kept, content.keptBytes) = ([], 0)
            for sample in kept { _ = decode(sample, content) }
        case .named(let path), .found(let path):
            guard contents[index] == nil else { return }
            load(index) { () throws(SubtitleFileError) in try SubtitleFile.read(path) }
        }
    }

    private func load(_ index: Int, _ bytes: () throws(SubtitleFileError) -> [UInt8]) {
        contents[index] = Content(decoder: nil, images: nil)
        do throws(SubtitleFileError) {
            let file = try SubtitleFile(try bytes(), name: tracks[index].path ?? "")
            guard let content = make(codec: file.codec, configuration: file.configuration) else {
                throw SubtitleFileError("it holds no subtitles that can be shown")
            }
            contents[index] = content
            file.forEach { _ = decode($0, content) }
        } catch { trouble(SubtitleTrouble(index, error.reason)) }
    }
}
