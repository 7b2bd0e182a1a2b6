internal import Media

/// State that the renderer's callers and its two threads share.
final class AudioShared: Sendable {
    struct State {
        var isStopping = false
        /// The timebase or the sound was changed: what the device holds is no longer right.
        var mustRestart = false
        var volume: Float = 1
        var isMuted = false
        /// How much later than its times the sound is heard, in nanoseconds of the film.
        var delay: Int64 = 0
        var phase = AudioRenderer.Phase.opening
        var hasFinished = false
        /// The format of the first decoded frame; the device is opened for it.
        var shape: (rate: Int, channelCount: Int)?
        var store: PCMStore?
        var startLatency = HostSpan.milliseconds(60)
        var statistics = AudioStatistics()
        /// How far the sound was ahead at the last check of the device; nil while nothing is heard.
        var lead: HostSpan?
        var pieces: [AudioPiece] = []
    }
    let state = Monitor(State())
    let bell: EventFD

    init() throws(AudioError) {
        do { bell = try EventFD() } catch { throw AudioError(.system, "\(error)", underlying: error.code) }
    }

    var isStopping: Bool { state.withLock { $0.isStopping } }

    /// Makes the output thread read the timebase again and drop what the device holds.
    func restart() {
        state.change { $0.mustRestart = true }
        bell.signal()
    }

    /// What the output thread must do since it last asked: start anew, and at which gain and how much later it plays.
    func takeOrders() -> (mustRestart: Bool, gain: Float, delay: Int64) {
        state.withLock { state in
            defer { state.mustRestart = false }
            return (state.mustRestart, state.isMuted ? 0 : state.volume, state.delay)
        }
    }
}
