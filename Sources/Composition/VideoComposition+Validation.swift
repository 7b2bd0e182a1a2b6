public import Media
package import Reading

/// A rule that a video composition or an audio mix breaks: which, where, and what a person can do about it.
///
/// Thread-safety: a value.
public struct VideoCompositionFault: Sendable, Hashable, CustomStringConvertible {
    /// The rules.
    public enum Rule: String, Sendable, Hashable, CaseIterable {
        /// Frames must last longer than zero.
        case frameDuration
        /// Both sides must be even, from 2 to 16384, and the scale above zero.
        case renderSize
        /// Every time has an instruction.
        case gap
        /// No time has two.
        case overlap
        /// An instruction lasts, begins at zero or later, and ends where the composition does or earlier.
        case outside
        /// The composition has the track, and it carries what is wanted of it.
        case missingTrack
        /// A track that is required has frames at some time of the instruction.
        case withoutMedia
        /// The track that is passed through is one of those required.
        case passthrough
        /// Ramps do not overlap, and their values are allowed.
        case ramp
    }

    /// The rule.
    public let rule: Rule
    /// Where it is broken, in the time of the composition.
    public let range: MediaTimeRange
    /// The track that it is about; nil where it is about none.
    public let track: Int?
    /// One sentence, with the place.
    public let description: String

    /// Describes a fault; for instructions of one's own.
    /// - Parameter sentence: One sentence without the place.
    public init(_ rule: Rule, in range: MediaTimeRange, _ sentence: String, _ track: Int? = nil) {
        self.rule = rule
        self.range = range
        self.track = track
        description = (range.isEmpty ? "At \(range.start): " : "From \(range.start) to \(range.end): ") + sentence
    }

    init(_ rule: Rule, at time: MediaTime, _ sentence: String, _ track: Int? = nil) {
        self.init(rule, in: MediaTimeRange(start: time, end: time), sentence, track)
    }
}

extension VideoComposition {
    /// Whether it can be used with `composition`.
    ///
    /// The counterpart of `AVVideoComposition.isValid(for:timeRange:validationDelegate:)`. It opens no film.
    ///
    /// - Parameters:
    ///   - range: The part of the time line that is looked at; nil looks at all of it.
    ///   - report: Called with each rule that is broken, in the order of time; true goes on, false ends the search.
    public func isValid(
        for composition: Composition, range: MediaTimeRange? = nil, _ report: (VideoCompositionFault) -> Bool = { _ in false }
    ) -> Bool {
        var isValid = true
        for fault in faults(for: composition, range ?? composition.range) {
            isValid = false
            if !report(fault) { break }
        }
        return isValid
    }

    /// Every rule that is broken.
    private func faults(for composition: Composition, _ range: MediaTimeRange) -> [VideoCompositionFault] {
        frameFaults + coverFaults(composition, range)
            + instructions.filter { $0.timeRange.isEmpty || !$0.timeRange.intersection(range).isEmpty }.flatMap { trackFaults($0, composition) }
    }

    /// The longest side that a frame may have.
    private static let longestSide = 16384

    private var frameFaults: [VideoCompositionFault] {
        var faults: [VideoCompositionFault] = []
        if !frameDuration.isNumeric || frameDuration <= .zero {
            faults.append(VideoCompositionFault(.frameDuration, at: .zero, "Frames must last longer than zero, not \(frameDuration)."))
        }
        let isScaled = renderScale.isFinite && renderScale > 0 && renderScale <= 16
        func isFit(_ side: Int) -> Bool { side >= 2 && side % 2 == 0 && side <= Self.longestSide }
        let fits = [renderSize.width, renderSize.height].allSatisfy(isFit)
        if !fits || !isScaled || ![size.width, size.height].allSatisfy(isFit) {
            faults.append(
                VideoCompositionFault(
                    .renderSize, at: .zero,
                    "The render size \(renderSize), scaled by \(renderScale), must have even sides from 2 to \(Self.longestSide)."))
        }
        return faults
    }

    private func coverFaults(_ composition: Composition, _ range: MediaTimeRange) -> [VideoCompositionFault] {
        var faults: [VideoCompositionFault] = [], covered = range.start
        let sorted = instructions.enumerated().sorted { ($0.element.timeRange.start, $0.offset) < ($1.element.timeRange.start, $1.offset) }
        for (number, instruction) in sorted {
            let own = instruction.timeRange
            if own.isEmpty || !composition.range.contains(own) {
                faults.append(
                    VideoCompositionFault(
                        .outside, in: own, "Instruction \(number) must lie in the composition, which ends at \(composition.duration), and last."))
            }
            let part = own.intersection(range)
            guard !part.isEmpty else { continue }
            if part.start > covered {
                let gap = MediaTimeRange(start: covered, end: part.start)
                faults.append(VideoCompositionFault(.gap, in: gap, "There is no instruction before instruction \(number)."))
            } else if part.start < covered {
                let twice = MediaTimeRange(start: part.start, end: min(covered, part.end))
                faults.append(VideoCompositionFault(.overlap, in: twice, "Instruction \(number) begins before another has ended."))
            }
            covered = max(covered, part.end)
        }
        if covered < range.end {
            faults.append(VideoCompositionFault(.gap, in: MediaTimeRange(start: covered, end: range.end), "There is no instruction."))
        }
        return faults
    }

    private func trackFaults(_ instruction: any VideoCompositionInstructing, _ composition: Composition) -> [VideoCompositionFault] {
        let range = instruction.timeRange
        var faults: [VideoCompositionFault] = []
        for id in instruction.requiredTracks {
            guard let track = composition.track(id), track.kind == .video else {
                faults.append(VideoCompositionFault(.missingTrack, in: range, "The composition has no track of frames \(id).", id))
                continue
            }
            if !range.isEmpty, !track.hasMedia(in: range) {
                faults.append(VideoCompositionFault(.withoutMedia, in: range, "Track \(id) is required but has no frames there.", id))
            }
        }
        if let id = instruction.passthroughTrack, !instruction.requiredTracks.contains(id) {
            faults.append(VideoCompositionFault(.passthrough, in: range, "Track \(id) is passed through but not required.", id))
        }
        return faults + instruction.faults()
    }
}

extension ReadingError {
    /// The first fault that a validation finds, as what keeps a composition from being read; nil when there is none.
    /// - Parameter prefix: What stands before the fault's sentence.
    package init?(prefix: String = "", _ validate: ((VideoCompositionFault) -> Bool) -> Bool) {
        var found: VideoCompositionFault?
        let isValid = validate { fault in
            found = fault
            return false
        }
        guard !isValid, let found else { return nil }
        self.init(.composition, prefix + found.description, time: found.range.start)
    }
}
