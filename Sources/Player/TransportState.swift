package import Media

/// Decides when a player plays, pauses, seeks and ends: a pure state that answers each event with actions.
///
/// Playback from a new position begins in two steps. *Prerolling*: the clock stands at the target until the first frame is on the display
/// and the first sound is decoded. *Running*: the clock moves if the viewer wants it to. When the source is slower than the
/// film, the film is *starved*: the clock stands until enough samples have come.
package struct TransportState: Sendable {
    package enum Phase: Sendable, Equatable { case idle, prerolling, running, starved, ended }

    package enum Action: Sendable, Equatable {
        /// Start the clock at its current time, at this rate.
        case startClock(rate: Double)
        /// Stop the clock at its current time.
        case stopClock
        /// Stop the clock, move to this time and begin a preroll.
        case seek(MediaTime)
        /// Everything has been shown and heard.
        case finish
    }

    package private(set) var phase = Phase.idle
    package private(set) var wantsToPlay: Bool
    package private(set) var rate: Double
    /// Where playback begins, and begins again when the film loops.
    package private(set) var beginning = MediaTime.zero
    /// How many times each film begins again at its end; `Int.max`: for ever.
    package private(set) var loops: Int
    /// How many more times the one that is read does.
    package private(set) var loopsLeft: Int
    private let pausesWithoutDisplay: Bool
    /// The film is paused because the display is lost. The display's return ends this pause.
    private var isPausedByDisplay = false
    private var hasVideo = false
    private var hasAudio = false
    /// The sound has failed for good: films that follow without a gap have none either.
    private var isAudioLost = false
    private var isVideoReady = false
    private var isAudioReady = false
    private var isVideoFinished = false
    private var isAudioFinished = false
    /// The state before a seek that the source has not carried out yet.
    private var resumption: Resumption?

    private struct Resumption {
        var phase: Phase
        var isReady: (video: Bool, audio: Bool)
        var isFinished: (video: Bool, audio: Bool)
    }

    package init(wantsToPlay: Bool = true, rate: Double = 1, loops: Int = 0, pausesWithoutDisplay: Bool = false) {
        self.wantsToPlay = wantsToPlay
        self.rate = rate
        (self.loops, loopsLeft) = (loops, loops)
        self.pausesWithoutDisplay = pausesWithoutDisplay
    }

    package var isPlaying: Bool { wantsToPlay && (phase == .running || phase == .prerolling || phase == .starved) }

    package mutating func opened(at beginning: MediaTime, hasVideo: Bool, hasAudio: Bool) {
        self.beginning = beginning
        self.hasVideo = hasVideo
        self.hasAudio = hasAudio
        isAudioLost = false
        preroll()
    }

    /// Another film is shown, which follows the one before without a gap.
    ///
    /// - Parameter isHeard: All of its sound has been heard already, which is not reported again: the film is short, or its first frame came late.
    package mutating func continued(at beginning: MediaTime, hasAudio: Bool, isHeard: Bool) -> [Action] {
        self.beginning = beginning
        self.hasAudio = hasAudio && !isAudioLost
        isAudioFinished = !self.hasAudio || isHeard
        return finishIfDone()
    }

    /// What the display and the sound report of the position at which they are.
    package enum Report: Sendable, Equatable { case videoReady, videoFinished, audioReady, audioFinished }

    /// Answers a report about the current position.
    package mutating func receive(_ report: Report) -> [Action] {
        switch report {
        case .videoReady: videoReady()
        case .videoFinished: videoFinished()
        case .audioReady: audioReady()
        case .audioFinished: audioFinished()
        }
    }

    /// Notes a report about the position before a seek that the source has not carried out yet. It counts if the seek fails.
    package mutating func note(_ report: Report) {
        switch report {
        case .videoReady: resumption?.isReady.video = true
        case .videoFinished:
            resumption?.isReady.video = true
            resumption?.isFinished.video = true
        case .audioReady: resumption?.isReady.audio = true
        case .audioFinished:
            resumption?.isReady.audio = true
            resumption?.isFinished.audio = true
        }
    }

    /// The first frame of the new position is on the display.
    package mutating func videoReady() -> [Action] {
        isVideoReady = true
        return startIfReady()
    }

    /// The first sound of the new position is decoded, or there will be none.
    package mutating func audioReady() -> [Action] {
        isAudioReady = true
        return startIfReady()
    }

    /// The sound has failed for good: the film continues without it.
    package mutating func audioLost() -> [Action] {
        (hasAudio, isAudioLost) = (false, true)
        return phase == .prerolling ? startIfReady() : finishIfDone()
    }

    package mutating func videoFinished() -> [Action] {
        // A stream without frames would never become ready.
        isVideoReady = true
        isVideoFinished = true
        return startIfReady() + finishIfDone()
    }

    package mutating func audioFinished() -> [Action] {
        isAudioReady = true
        isAudioFinished = true
        return startIfReady() + finishIfDone()
    }

    package mutating func play() -> [Action] {
        isPausedByDisplay = false
        guard !wantsToPlay || phase == .ended else { return [] }
        wantsToPlay = true
        switch phase {
        case .running: return [.startClock(rate: rate)]
        case .ended: return seek(to: beginning)
        case .idle, .prerolling, .starved: return []
        }
    }

    package mutating func pause() -> [Action] {
        isPausedByDisplay = false
        guard wantsToPlay else { return [] }
        wantsToPlay = false
        return phase == .running ? [.stopClock] : []
    }

    /// Nothing is left to be shown or heard, and the source has not ended.
    package mutating func starved() -> [Action] {
        guard phase == .running, wantsToPlay else { return [] }
        phase = .starved
        return [.stopClock]
    }

    /// Enough samples have come to continue, or the source has ended.
    package mutating func fed() -> [Action] {
        guard phase == .starved else { return [] }
        phase = .running
        let end = finishIfDone()
        return !end.isEmpty || !wantsToPlay ? end : [.startClock(rate: rate)]
    }

    /// Nobody can see the film any more.
    package mutating func displayLost() -> [Action] {
        guard pausesWithoutDisplay, wantsToPlay, phase != .ended else { return [] }
        let actions = pause()
        isPausedByDisplay = true
        return actions
    }

    package mutating func displayReturned() -> [Action] { isPausedByDisplay ? play() : [] }

    /// This film, and those that follow it, begin again so many times.
    package mutating func setLoops(_ count: Int) { (loops, loopsLeft) = (count, count) }

    /// The film begins again, if it may.
    package mutating func takeLoop() -> Bool {
        guard loopsLeft > 0 else { return false }
        if loopsLeft < .max { loopsLeft -= 1 }
        return true
    }

    /// So many times it does not begin again, although it was to.
    package mutating func returnLoops(_ count: Int) { if loopsLeft < .max { loopsLeft = min(loopsLeft + count, loops) } }

    package mutating func setRate(_ rate: Double) -> [Action] {
        self.rate = rate
        return phase == .running && wantsToPlay ? [.startClock(rate: rate)] : []
    }

    package mutating func seek(to time: MediaTime) -> [Action] {
        guard phase != .idle else { return [] }
        if resumption == nil {
            resumption = Resumption(phase: phase, isReady: (isVideoReady, isAudioReady), isFinished: (isVideoFinished, isAudioFinished))
        }
        preroll()
        return [.seek(max(time, .zero))]
    }

    /// The source is at the new position.
    package mutating func seekSucceeded() { resumption = nil }

    /// The source has not moved: the state before the seek returns. Looping ends, because the source cannot seek.
    package mutating func seekFailed() -> [Action] {
        guard let before = resumption else { return [] }
        resumption = nil
        phase = before.phase
        (isVideoReady, isAudioReady) = before.isReady
        (isVideoFinished, isAudioFinished) = before.isFinished
        loopsLeft = 0
        guard phase == .running else { return startIfReady() + finishIfDone() }
        let end = finishIfDone()
        return !end.isEmpty || !wantsToPlay ? end : [.startClock(rate: rate)]
    }

    private mutating func preroll() {
        phase = .prerolling
        isVideoReady = !hasVideo
        isAudioReady = !hasAudio
        isVideoFinished = !hasVideo
        isAudioFinished = !hasAudio
    }

    private mutating func startIfReady() -> [Action] {
        guard phase == .prerolling, isVideoReady || !hasVideo, isAudioReady || !hasAudio else { return [] }
        phase = .running
        return wantsToPlay ? [.startClock(rate: rate)] : []
    }

    private mutating func finishIfDone() -> [Action] {
        guard phase == .running, isVideoFinished || !hasVideo, isAudioFinished || !hasAudio else { return [] }
        if wantsToPlay, takeLoop() { return seek(to: beginning) }
        phase = .ended
        return [.stopClock, .finish]
    }
}
