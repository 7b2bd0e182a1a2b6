internal import Media

/// Decides when a session leaves its hardware decoder for software, and when it tries hardware again.
///
/// Decoding can change hands at sync frames only, for each decoder needs the frames that a frame refers to:
///
///     hardware ── too many errors since the last sync frame, then a sync frame ──► software
///     hardware ── an error at a sync frame itself: that frame is decoded anew ──► software
///     hardware ── the process that drives it dies for the second time ─────────────► software
///     software ── a sync frame after the pause ───────────────────────────────────► hardware
///
/// A single error is no reason: the next sync frame forgets it. Each time hardware is given up in a row the pause doubles.
struct HardwareFallbackState {
    enum Way: Hashable { case hardware, software }

    enum Verdict: Hashable {
        /// The sample is lost; go on.
        case goOn
        /// Decode the same sample again, in software.
        case redo
    }

    /// 3: a frame that fails also spoils the frames that refer to it; as many errors as this are not an accident.
    static let tolerance = 3
    /// Seconds of software before hardware is tried again; a driver that resets itself is back by then.
    static let shortestPause = 10.0
    /// 5 minutes: about what a person watches without wondering.
    static let longestPause = 300.0

    let isRequired: Bool
    private(set) var way: Way
    /// Errors since the last sync frame.
    private(set) var errors = 0
    /// When a process that drove the hardware died last.
    private var lastDeath: HostTime?
    /// Times that hardware was given up in a row.
    private(set) var defeats = 0
    private var retryTime = HostTime.distantPast
    private var isCondemned = false
    private var goodKeyframes = 0

    init(isRequired: Bool, way: Way) {
        self.isRequired = isRequired
        self.way = way
    }

    /// A sync frame comes next: the way from here on.
    mutating func keyframe(now: HostTime) -> Way {
        switch way {
        case .hardware:
            if isCondemned {
                giveUp(now: now)
            } else if errors == 0 {
                goodKeyframes += 1
                // One sync frame may be luck.
                if goodKeyframes > 2 { defeats = 0 }
            }
        case .software:
            if now >= retryTime {
                way = .hardware
                isCondemned = false
                goodKeyframes = 0
            }
        }
        errors = 0
        return way
    }

    /// Hardware failed at a frame.
    /// - Parameter isKeyframe: It failed at the sync frame that is being decoded, so that software can take over with it.
    mutating func failed(isKeyframe: Bool, now: HostTime) -> Verdict {
        guard way == .hardware else { return .goOn }
        errors += 1
        goodKeyframes = 0
        if isRequired { return .goOn }
        if isKeyframe {
            giveUp(now: now)
            return .redo
        }
        if errors >= Self.tolerance { isCondemned = true }
        return .goOn
    }

    /// The process that drove the hardware has died. Once is an accident; twice within `window` gives the hardware up.
    mutating func died(now: HostTime, window: HostSpan) {
        guard way == .hardware, !isRequired else { return }
        errors = 0
        isCondemned = false
        goodKeyframes = 0
        if let last = lastDeath, now - last < window {
            lastDeath = nil
            giveUp(now: now)
        } else {
            lastDeath = now
        }
    }

    /// The hardware does not take the stream or is no longer available: software decodes until the pause has passed.
    mutating func refused(now: HostTime) {
        if way == .hardware { giveUp(now: now) }
    }

    private mutating func giveUp(now: HostTime) {
        let pause = min(Self.shortestPause * Double(1 << min(defeats, 10)), Self.longestPause)
        way = .software
        retryTime = now + .seconds(pause)
        isCondemned = false
        errors = 0
        defeats += 1
    }
}
