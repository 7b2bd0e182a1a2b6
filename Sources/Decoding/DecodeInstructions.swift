public import Media

/// How one sample is to be treated, besides what its own flags say.
///
/// The counterpart of Video Toolbox's `VTDecodeFrameFlags`.
public struct DecodeInstructions: Sendable, Hashable {
    /// Decode it because others need it, but put no frame out: answered with `.dropped` as `.doNotDisplay`. As the sample's own flag of that name.
    public var doNotOutput: Bool
    /// Time is short: leave the sample out unless others need it. What is left out is answered with `.dropped` as `.skipped`.
    ///
    /// A sample that is known to be `droppable` never reaches the decoder; of others the decoder itself finds out (H.264, HEVC, MPEG).
    public var skipsNonReference: Bool
    /// The moment (CLOCK_MONOTONIC) from which on its frame is of no use; nil takes `DecoderOptions.deadline`.
    ///
    /// A `droppable` sample whose deadline has passed is not decoded; another's frame is not put out. Both are answered with `.dropped` as `.late`.
    public var deadline: HostTime?

    /// The next sample is at hand and will be given at once: what comes of this one may be put out with that one. A decoder in a process of its
    /// own then works on without a pause.
    public var isFollowed: Bool

    public init(doNotOutput: Bool = false, skipsNonReference: Bool = false, deadline: HostTime? = nil, isFollowed: Bool = false) {
        self.doNotOutput = doNotOutput
        self.skipsNonReference = skipsNonReference
        self.deadline = deadline
        self.isFollowed = isFollowed
    }

    /// For playing in real time: the frame is of no use once `timebase` has passed `time`, the end of its presentation.
    ///
    /// While the timebase stands or runs backwards nothing is late.
    public init(endingAt time: MediaTime, of timebase: Timebase, doNotOutput: Bool = false, skipsNonReference: Bool = false) {
        let mapping = timebase.mapping
        self.init(
            doNotOutput: doNotOutput, skipsNonReference: skipsNonReference,
            deadline: time.isNumeric && mapping.rate > 0 ? mapping.hostTime(of: time) : nil)
    }
}
