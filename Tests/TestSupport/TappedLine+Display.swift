internal import Media

/// A display of any speed, in the compositor's place.
extension TappedLine {
    func isAsked(_ number: UInt32, as kind: Kind) {
        kinds[number] = kind
        guard state.withLock({ $0.behaviour.refresh }) != nil else { return }
        asked.append((number, kind))
        answered.insert(number)
    }

    func answerAtNextRefresh() {
        guard !asked.isEmpty, let refresh = state.withLock({ $0.behaviour.refresh }) else { return }
        let now = MonotonicClock.shared.now()
        let next = HostTime(nanoseconds: (now.nanoseconds / refresh.nanoseconds + 1) * refresh.nanoseconds)
        answers += asked.map { (next, $0.object, $0.kind) }
        asked = []
    }

    /// `wl_callback.done`, or `wp_presentation_feedback.presented`.
    func answer(_ object: UInt32, _ kind: Kind, at time: HostTime, _ client: WireSocket) {
        let nanoseconds = UInt64(time.nanoseconds), seconds = nanoseconds / 1_000_000_000
        refreshCount += 1
        let words =
            kind == .frameCallback
            ? [UInt32(truncatingIfNeeded: nanoseconds / 1_000_000)]
            : [
                UInt32(seconds >> 32), UInt32(truncatingIfNeeded: seconds), UInt32(nanoseconds % 1_000_000_000),
                UInt32(state.withLock { $0.behaviour.refresh }?.nanoseconds ?? 0), 0, refreshCount, 0,
            ]
        client.send(WireSocket.Message(object: object, operation: kind == .frameCallback ? 0 : 1, words: words))
    }
}
