internal import DisplaySink
public import Media
internal import SampleQueue

/// Whether a film moves at one moment, for those who watch over a player: a service manager's watchdog, say.
///
/// A film that is to move shows that by two readings one after the other: the position differs, and frames were taken by the display in between, or
/// none is due. `MotionWatch` of the program compares them.
public struct PlaybackMotion: Sendable, Hashable {
    /// Whether frames are to come: the film plays, or is about to.
    public var isExpected: Bool
    /// Whether the clock is to run: the film plays.
    public var clockRuns: Bool
    /// Where the clock stands, in the stream of all films that have followed each other without a gap.
    public var position: MediaTime
    /// Frames that the display has taken, and those that were dropped because they came too late for it. Of one film; it may go back when the next
    /// one begins.
    public var framesTaken: Int
    /// Whether a frame should have come by now: one waits whose time has come, or the decoder has samples, and room for what it makes of them. False
    /// for a still image, for a film without frames, in the long pause between two frames, and while the source has nothing.
    public var isFrameDue: Bool

    /// Makes a reading.
    public init(isExpected: Bool, clockRuns: Bool, position: MediaTime, framesTaken: Int, isFrameDue: Bool) {
        self.isExpected = isExpected
        self.clockRuns = clockRuns
        self.position = position
        self.framesTaken = framesTaken
        self.isFrameDue = isFrameDue
    }
}

extension Player {
    /// Whether the film moves now. Any thread.
    public var motion: PlaybackMotion {
        let (state, pipeline) = storage.withLock { ($0.publicState, $0.pipeline) }
        // Films that follow each other are one stream to the display.
        let position = pipeline?.time ?? .zero, display = pipeline?.display, shown = display?.presentation.motion
        let isWaiting = shown?.next.map { $0 <= position } ?? false
        let isUndecoded = shown?.hasRoom == true && (display?.samples.count ?? 0) > 0
        return PlaybackMotion(
            isExpected: state == .playing || state == .preparing, clockRuns: state == .playing, position: position,
            framesTaken: shown?.taken ?? 0, isFrameDue: isWaiting || isUndecoded)
    }
}
