package import Media

/// A film without a clock that stands still: what its client may have nevertheless.
struct UntimedHold: Sendable {
    /// Frames up to this time are due: the display has taken them; nil: none are. For a client that does not get every frame.
    var limit: MediaTime?
    /// Frames that steps have set free. For a client that gets every frame, which may be behind the display.
    var steps = 0

    mutating func takeStep() { steps = max(steps - 1, 0) }
}

extension FrameExporter {
    /// Withholds the frames of a film without a clock, except those that are shown at once, until `endHold`.
    ///
    /// - Parameter limit: The time that the display has reached; nil: none.
    package func hold(at limit: MediaTime?) { state.withLock { $0.hold(at: limit) } }

    /// Lets the film go on.
    package func endHold() { changeHold { $0.endHold() } }

    /// Sets the next frame free for a client that gets every frame; `extendHold` does so for others.
    package func step() { changeHold { $0.step() } }

    /// The display has taken the frame of `limit`.
    package func extendHold(to limit: MediaTime) { changeHold { $0.extendHold(to: limit) } }

    /// How far a client that gets every frame is.
    package enum Progress: Sendable, Equatable {
        /// The client does not get every frame, or takes none any more.
        case irrelevant
        /// The media time of the frame that it has, or the film's end; nil before its first frame since the start or a flush.
        case at(MediaTime?)
    }

    /// How far a client that gets every frame is.
    package var progress: Progress { state.withLock { $0.progress } }

    private func changeHold(_ body: (inout FrameExporterState) -> Void) {
        state.withLock { body(&$0) }
        client.wakeWaiters()
        client.frameAvailable.call()
    }
}
