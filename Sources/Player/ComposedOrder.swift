/// Which of a composition's two tracks is read next: a pure decision.
///
/// Sound goes first, because mixing it takes little and silence is worse than a late frame; only the first frame after a seek goes before it, so that
/// it appears at once.
package struct ComposedOrder: Sendable, Equatable {
    package enum Step: Sendable, Equatable { case frame, sound, end }

    private var lacksFirst: Bool
    private var hasFrames: Bool
    private var hasSound: Bool

    /// Which tracks there are.
    package init(hasFrames: Bool, hasSound: Bool) {
        (self.hasFrames, self.hasSound) = (hasFrames, hasSound)
        lacksFirst = hasFrames
    }

    /// - Parameter wantsSound: The queue of the sound takes more.
    package func next(wantsSound: Bool) -> Step {
        if !hasFrames { return hasSound ? .sound : .end }
        return hasSound && wantsSound && !lacksFirst ? .sound : .frame
    }

    package mutating func delivered(_ step: Step) { if step == .frame { lacksFirst = false } }

    /// The track has ended.
    package mutating func ended(_ step: Step) {
        switch step {
        case .frame: (hasFrames, lacksFirst) = (false, false)
        case .sound: hasSound = false
        case .end: break
        }
    }
}
