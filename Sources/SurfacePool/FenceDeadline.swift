internal import Media

/// Decides what to do about a reader's fence that has not signalled: wait, report it once, then only wait.
///
/// The slot is not written before the fence signals, however long that takes: an old frame is better than a torn one.
struct FenceDeadline: Sendable, Equatable {
    enum Step: Sendable, Equatable {
        /// There is nothing to report before this moment.
        case wait(until: HostTime)
        /// Report now, once, that the fence has not signalled for this long.
        case report(HostSpan)
        /// It has been reported.
        case known
    }

    /// 2 s: a device that has not drawn one frame by then is hung. Drivers give up on such a device after 0.5 to 10 s.
    static let patience = HostSpan.seconds(2)

    /// When the fence was handed in.
    let begin: HostTime
    private(set) var isReported = false

    init(begin: HostTime) { self.begin = begin }

    mutating func look(at now: HostTime, patience: HostSpan = patience) -> Step {
        if isReported { return .known }
        guard now - begin >= patience else { return .wait(until: begin + patience) }
        isReported = true
        return .report(now - begin)
    }
}
