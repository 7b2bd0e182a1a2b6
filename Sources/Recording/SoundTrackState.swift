package import Media

/// Decides how a microphone's blocks become a track without gaps, each sound at the time at which it was captured.
///
/// What is missing becomes silence, what lies before the beginning is left out, and the drift of the device's crystal against CLOCK_MONOTONIC is
/// taken out by making the sound a little longer or shorter. It is asked before each block, and told how long the track is by then.
package struct SoundTrackState: Sendable {
    /// What to do with a block, in frames of the device. First the silence, then the block without its first frames.
    package struct Plan: Sendable, Hashable {
        /// Silence before the block.
        package var silence = 0
        /// Frames at the beginning of the block that are left out.
        package var skipped = 0
        /// The next second of the track is to be longer (above 0) or shorter by this many of its frames.
        package var correction: Int?

        package init(silence: Int = 0, skipped: Int = 0, correction: Int? = nil) {
            self.silence = silence
            self.skipped = skipped
            self.correction = correction
        }
    }

    /// Frames a second of the device and of the track.
    private let rate: Int, trackRate: Int
    /// What is at 0 in the track.
    private var beginning: HostTime
    /// The number of the frame that follows the last block.
    private var next: UInt64?
    /// The track has not begun, or a whole block was left out: the next one goes exactly to its place.
    private var isPlacing = true
    /// Frames of the device since the last correction.
    private var sinceCorrection = 0

    /// 40 ms: what is further off did not come about by drift, and nobody should hear it approached.
    private static let jump = 0.040
    /// 5 ms a second, which is inaudible as pitch, and ten times what a bad crystal needs.
    private static let steepest = 0.005

    package init(rate: Int, trackRate: Int, beginning: HostTime) {
        self.rate = rate
        self.trackRate = trackRate
        self.beginning = beginning
    }

    /// What follows belongs behind a pause: `beginning` is what would be at 0 in the track without it. The next block goes exactly to its place.
    package mutating func move(beginning: HostTime) {
        self.beginning = beginning
        next = nil
        isPlacing = true
    }

    /// A block has come.
    /// - Parameter place: Where in the track its first frame would be heard, in frames of the track.
    package mutating func receive(number: UInt64, count: Int, time: HostTime, place: Int64) -> Plan {
        let missing = next.map { Int(clamping: Int64(clamping: number) - Int64(clamping: $0)) } ?? 0
        // Seconds by which it would be heard too early.
        let early = (time - beginning).seconds - Double(place) / Double(trackRate)
        defer { next = number + UInt64(count) }
        if isPlacing || missing != 0 || abs(early) > Self.jump {
            sinceCorrection = 0
            let frames = Int((early * Double(rate)).rounded())
            isPlacing = -frames >= count
            // An ongoing correction would add to what is put right now.
            return Plan(silence: max(frames, 0), skipped: min(max(-frames, 0), count), correction: 0)
        }
        sinceCorrection += count
        guard sinceCorrection >= rate else { return Plan() }
        sinceCorrection = 0
        let limit = Self.steepest * Double(trackRate)
        return Plan(correction: Int(min(max(early * Double(trackRate), -limit), limit).rounded()))
    }
}
