package import Media
public import Reading
internal import SurfacePool

extension FrameGenerator {
    /// Finds the frames of a composition, as they are drawn. Films are opened when their frames are wanted; `toleranceBefore` has no meaning here.
    ///
    /// - Parameters:
    ///   - compositor: nil takes a `LayerCompositor`, for 8 bits.
    ///   - name: What sentences call the composition.
    /// - Throws: `.composition` when a rule of `VideoComposition.isValid` is broken.
    public convenience init(
        of composition: Composition, _ videoComposition: VideoComposition, compositor: (any VideoCompositing)? = nil,
        name: String = "the composition", options: FrameGeneratorOptions = FrameGeneratorOptions()
    ) throws(ReadingError) {
        let reading = CompositionReadingOptions(reading: options.reading, framesInFlight: 1, preparedAhead: .zero)
        let output = try CompositionVideoOutput(of: composition, videoComposition, compositor: compositor, options: reading)
        self.init(ComposedFrames(output, name, options.selection), name, options)
    }
}

/// Finds the frames of a composition at any times.
///
/// Thread-safety: as `FrameFinding`.
private final class ComposedFrames: FrameFinding, @unchecked Sendable {
    private let output: CompositionVideoOutput
    private let name: String
    private let selection: FrameGeneratorOptions.Selection
    /// The number of the frame found last, and the frame.
    private var last: (number: Int64, frame: SharedFrame)?

    init(_ output: CompositionVideoOutput, _ name: String, _ selection: FrameGeneratorOptions.Selection) {
        self.output = output
        self.name = name
        self.selection = selection
    }

    var notice: String? { output.notices.first }
    var duration: MediaTime { output.composition.duration }
    var cost: Int { output.report.framesDrawn + output.report.framesPassedThrough }

    func forget() { last = nil }

    func cancel() { output.cancel() }

    /// A second: decoding on costs less than seeking.
    private static let shortWay = MediaTime(value: 1, timescale: 1)

    func find(_ time: MediaTime) throws(ReadingError) -> SharedFrame {
        let step = output.videoComposition.frameDuration
        var number = selection.number(of: max(time, .zero), step)
        // Nothing follows the last frame that could be nearer.
        if selection == .nearest { number = min(number, FrameGeneratorOptions.Selection.next.number(of: duration, step) - 1) }
        let start = step.multiplied(by: number)
        if let last, last.number == number { return last.frame }
        guard time < duration || selection != .onScreen, start < duration else {
            throw ReadingError(.noFrame, "\(name): there is no frame at \(time).", time: time)
        }
        let range = MediaTimeRange(start: start, end: duration)
        if let last, number > last.number, step.multiplied(by: number - last.number) < Self.shortWay {
            output.goOn(with: range)
        } else {
            output.reset(forReadingTimeRange: range)
        }
        guard let frame = try output.nextFrame() else { throw ReadingError(.noFrame, "\(name): there is no frame at \(time).", time: time) }
        let found = SharedFrame(frame)
        last = (number, found)
        return found
    }
}

extension FrameGeneratorOptions.Selection {
    /// The number of the frame for a time, where each lasts `step`.
    package func number(of time: MediaTime, _ step: MediaTime) -> Int64 {
        let (a, b) = (Int128(time.value) * Int128(step.timescale), Int128(time.timescale) * Int128(step.value))
        switch self {
        case .onScreen: return Int64(a / b)
        case .next: return Int64((a + b - 1) / b)
        // The earlier of two.
        case .nearest: return Int64((2 * a + b - 1) / (2 * b))
        }
    }
}
