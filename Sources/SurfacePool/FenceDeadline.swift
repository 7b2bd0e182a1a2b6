internal import Media

/// What to do about a fence that a reader handed in and that has not signalled: wait, say so once, and then only wait.
///
/// Its slot is not written before it signals, however long that takes: a late device shows an old frame rather than a torn one.
struct FenceDeadline: Sendable, Equatable {
    enum Step: Sendable, Equatable {
        /// Nothing to say before this moment.
        case wait(until: HostTime)
        /// To be said now, and not again: it has been waited for so long.
        case report(HostSpan)
        /// It has been said.
        case known
    }

    /// 2 s: a device that has not drawn one frame by then hangs. Drivers give such a device up after 0.5 to 10 s.
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
