internal import Media

/// What a viewer is told of a camera that is unplugged and returns.
///
/// Thread-safety: all of it.
package final class CaptureOutage: Sendable {
    private let isOut = Monitor(false)

    package init() {}

    /// One sentence for the session's new state; nil when there is nothing to say, as at the first start and at the end.
    package func sentence(_ state: CaptureSession.State) -> String? {
        let wasOut = isOut.withLock { isOut in
            defer { if case .interrupted = state { isOut = true } else { isOut = false } }
            return isOut
        }
        return switch state {
        case .interrupted(let error): error.description.dropLast() + "; waiting for its return."
        case .running where wasOut: "The camera is back."
        case .running, .idle, .failed: nil
        }
    }
}
