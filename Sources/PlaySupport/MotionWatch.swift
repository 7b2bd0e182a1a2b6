public import Media
public import Player

/// Tells a player that works from one whose main loop runs while its film stands still.
///
/// A pure value: it gets a reading every so often and says whether the film moves. It stands still when for `patience` the clock has not run that
/// should, or no frame has been taken while one was due.
public struct MotionWatch: Sendable {
    private let patience: HostSpan
    private var last: PlaybackMotion?
    /// When the clock moved last, or was not to; and when a frame was taken last, or none was due.
    private var clockMoved = HostTime.distantPast, frameMoved = HostTime.distantPast

    /// - Parameter patience: How long a film may stand still.
    public init(patience: HostSpan) { self.patience = patience }

    /// Whether the film moves, by this reading and those before it.
    ///
    /// - Parameter motion: nil while no film is open, when nothing is to move.
    public mutating func isMoving(_ motion: PlaybackMotion?, at now: HostTime) -> Bool {
        guard let motion, motion.isExpected, let before = last else {
            last = motion
            (clockMoved, frameMoved) = (now, now)
            return true
        }
        last = motion
        if !motion.clockRuns || motion.position != before.position { clockMoved = now }
        if !motion.isFrameDue || motion.framesTaken != before.framesTaken { frameMoved = now }
        return now - min(clockMoved, frameMoved) <= patience
    }
}
