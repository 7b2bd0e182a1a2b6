public import Media

/// How to treat one sample, in addition to its own flags.
///
/// The counterpart of Video Toolbox's `VTDecodeFrameFlags`.
public struct DecodeInstructions: Sendable, Hashable {
    /// Decode it because others need it, but put no frame out: answered with `.dropped` as `.doNotDisplay`. As the sample's own flag of that name.
    public var doNotOutput: Bool
    /// Leave the sample out to save time, unless others need it. A sample left out is answered with `.dropped` as `.skipped`.
    ///
    /// A sample that is known to be `droppable` never reaches the decoder. For others the decoder finds out (H.264, HEVC, MPEG).
    public var skipsNonReference: Bool
    /// The time (CLOCK_MONOTONIC) after which its frame is useless; nil takes `DecoderOptions.deadline`.
    ///
    /// A `droppable` sample whose deadline has passed is not decoded; another's frame is not put out. Both are answered with `.dropped` as `.late`.
    public var deadline: HostTime?

    /// The next sample is available and will be given at once, so the answer to this one may come with that one. A decoder in a separate
    /// process then works on without a pause.
    public var isFollowed: Bool

    /// Makes instructions; without arguments the sample is decoded as its own flags and `DecoderOptions` say.
    public init(doNotOutput: Bool = false, skipsNonReference: Bool = false, deadline: HostTime? = nil, isFollowed: Bool = false) {
        self.doNotOutput = doNotOutput
        self.skipsNonReference = skipsNonReference
        self.deadline = deadline
        self.isFollowed = isFollowed
    }

    /// For playing in real time: the frame is useless once `timebase` has passed `time`, the end of its presentation.
    ///
    /// While the timebase stands or runs backwards nothing is late.
    public init(endingAt time: MediaTime, of timebase: Timebase, doNotOutput: Bool = false, skipsNonReference: Bool = false) {
        let mapping = timebase.mapping
        self.init(
            doNotOutput: doNotOutput, skipsNonReference: skipsNonReference,
            deadline: time.isNumeric && mapping.rate > 0 ? mapping.hostTime(of: time) : nil)
    }
}
