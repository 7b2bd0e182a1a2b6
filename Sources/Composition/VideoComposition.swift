public import Media

/// How the frames of a composition's tracks become one: the size and rate of the result, and instructions that cover the time line without gap or
/// overlap.
///
/// The counterpart of `AVVideoComposition`.
///
///     var video = VideoComposition(frameDuration: MediaTime(value: 1, timescale: 25), renderSize: PixelSize(width: 1280, height: 720))
///     video.instructions = [.crossDissolve(from: a, to: b, in: film.range)]
///     guard video.isValid(for: film, { print($0); return true }) else { … }
///
/// Thread-safety: a value.
public struct VideoComposition: Sendable {
    /// How long each frame of the result lasts. A frame is drawn at each multiple of it, from zero on.
    public var frameDuration: MediaTime
    /// In pixels. Both sides must be even.
    public var renderSize: PixelSize
    /// The result is this many times as wide and high as `renderSize`: less than 1 for a preview.
    public var renderScale = 1.0
    /// The colours of the result. Frames of another matrix or range are converted; what is not said follows from the size.
    public var color = ColorDescription.unspecified
    /// In order.
    public var instructions: [any VideoCompositionInstructing]

    /// Instructions may be added later.
    public init(frameDuration: MediaTime, renderSize: PixelSize, instructions: [any VideoCompositionInstructing] = []) {
        self.frameDuration = frameDuration
        self.renderSize = renderSize
        self.instructions = instructions
    }

    /// Shows, at each time, the frames of the uppermost track that has some, and black where none has: what most cuts are.
    public init(showing composition: Composition, frameDuration: MediaTime, renderSize: PixelSize, fit: LayerFit = .fit) {
        self.init(frameDuration: frameDuration, renderSize: renderSize)
        let tracks = composition.tracks(.video)
        var borders = Set<MediaTime>([.zero, composition.duration])
        for track in tracks {
            for segment in track.segments { borders.formUnion([segment.range.start, segment.range.end]) }
        }
        let times = borders.sorted()
        var made: [VideoCompositionInstruction] = []
        for (start, end) in zip(times, times.dropFirst()) {
            let top = tracks.last { $0.segment(at: start)?.isEmpty == false }
            let layers = top.map { [VideoCompositionLayer(track: $0.id, fit: fit)] } ?? []
            if let last = made.last, last.layers == layers {
                made[made.count - 1].timeRange = MediaTimeRange(start: last.timeRange.start, end: end)
            } else {
                made.append(VideoCompositionInstruction(timeRange: MediaTimeRange(start: start, end: end), layers: layers))
            }
        }
        instructions = made
    }

    /// The size of the result's frames.
    public var size: PixelSize {
        func side(_ length: Int) -> Int { Int((Double(length) * renderScale / 2).rounded()) * 2 }
        return renderScale == 1 ? renderSize : PixelSize(width: side(renderSize.width), height: side(renderSize.height))
    }

    /// The instruction at a time; nil where none is.
    public func instruction(at time: MediaTime) -> (any VideoCompositionInstructing)? { index(at: time).map { instructions[$0] } }

    func index(at time: MediaTime) -> Int? { instructions.firstIndex { $0.timeRange.contains(time) } }
}
