import Media
import Player
import Testing

@Suite struct TransportStateTests {
    private func opened(video: Bool = true, audio: Bool = true, plays: Bool = true, loops: Bool = false) -> TransportState {
        var state = TransportState(wantsToPlay: plays, rate: 1, loops: loops ? .max : 0)
        state.opened(at: .zero, hasVideo: video, hasAudio: audio)
        return state
    }

    private let ten = MediaTime(value: 10, timescale: 1)

    @Test func `time runs once frame and sound are both there`() {
        var state = opened()
        #expect(state.videoReady() == [])
        #expect(state.phase == .prerolling)
        #expect(state.audioReady() == [.startClock(rate: 1)])
        #expect(state.phase == .running)
    }

    @Test func `a film without sound waits for the frame alone, music for the sound alone`() {
        var silent = opened(audio: false)
        #expect(silent.videoReady() == [.startClock(rate: 1)])
        var music = opened(video: false)
        #expect(music.audioReady() == [.startClock(rate: 1)])
    }

    @Test func `sound that fails does not hold the frame back`() {
        var state = opened()
        #expect(state.videoReady() == [])
        #expect(state.audioLost() == [.startClock(rate: 1)])
        #expect(state.videoFinished() == [.stopClock, .finish])
    }

    @Test(arguments: [true, false]) func `after sound that failed no film that follows waits for any`(isLate: Bool) {
        var state = opened()
        _ = state.videoReady() + state.audioReady()
        if isLate { #expect(state.continued(at: .zero, hasAudio: true, isHeard: false) == []) }
        #expect(state.audioLost() == [])
        if !isLate { #expect(state.continued(at: .zero, hasAudio: true, isHeard: false) == []) }
        #expect(state.videoFinished() == [.stopClock, .finish])
        // One that is opened has its own.
        state.opened(at: .zero, hasVideo: true, hasAudio: true)
        #expect(state.videoReady() == [] && state.audioReady() == [.startClock(rate: 1)])
    }

    @Test func `a film that was over before it was said to be shown ends`() {
        var state = opened()
        _ = state.videoReady() + state.audioReady()
        #expect(state.audioFinished() == [] && state.videoFinished() == [.stopClock, .finish])
        state = opened()
        _ = state.videoReady() + state.audioReady()
        _ = state.audioFinished()
        // That was the sound of the film before.
        #expect(state.continued(at: .zero, hasAudio: true, isHeard: false) == [] && state.videoFinished() == [])
        // And this the sound of all.
        #expect(state.continued(at: .zero, hasAudio: true, isHeard: true) == [.stopClock, .finish])
    }

    @Test func `started paused, time waits for play`() {
        var state = opened(audio: false, plays: false)
        #expect(state.videoReady() == [])
        #expect(state.phase == .running && !state.isPlaying)
        #expect(state.play() == [.startClock(rate: 1)])
        #expect(state.play() == [])
        #expect(state.pause() == [.stopClock])
        #expect(state.pause() == [])
    }

    @Test func `a seek prerolls again, and keeps a pause a pause`() {
        var state = opened()
        _ = state.videoReady()
        _ = state.audioReady()
        _ = state.pause()
        #expect(state.seek(to: ten) == [.seek(ten)])
        #expect(state.phase == .prerolling)
        #expect(state.videoReady() == [])
        #expect(state.audioReady() == [])
        #expect(state.phase == .running && !state.isPlaying)
    }

    @Test func `a seek goes back to before where playing began, and no further than to where the film does`() {
        var state = TransportState()
        state.opened(at: ten, hasVideo: true, hasAudio: false)
        #expect(state.seek(to: MediaTime(value: 4, timescale: 1)) == [.seek(MediaTime(value: 4, timescale: 1))])
        #expect(state.seek(to: MediaTime(value: -50, timescale: 1)) == [.seek(.zero)])
    }

    @Test func `a starved film stands until it is fed`() {
        var state = opened()
        _ = state.videoReady()
        _ = state.audioReady()
        #expect(state.starved() == [.stopClock])
        #expect(state.phase == .starved && state.isPlaying)
        #expect(state.starved() == [])
        #expect(state.fed() == [.startClock(rate: 1)])
        #expect(state.phase == .running)
        #expect(state.fed() == [])
    }

    @Test func `a viewer's pause of a starved film holds when it is fed, and ends when the viewer says`() {
        var state = opened()
        _ = state.videoReady()
        _ = state.audioReady()
        _ = state.starved()
        #expect(state.pause() == [])
        #expect(state.fed() == [])
        #expect(state.phase == .running && !state.isPlaying)
        #expect(state.play() == [.startClock(rate: 1)])
    }

    @Test func `neither a paused nor a prerolling film starves`() {
        var state = opened()
        #expect(state.starved() == [])
        _ = state.videoReady()
        _ = state.audioReady()
        _ = state.pause()
        #expect(state.starved() == [])
    }

    @Test func `a starved film whose source has ended ends`() {
        var state = opened()
        _ = state.videoReady()
        _ = state.audioReady()
        _ = state.starved()
        #expect(state.videoFinished() + state.audioFinished() == [])
        #expect(state.fed() == [.stopClock, .finish])
    }

    @Test func `a seek ends the wait, and one that fails goes on waiting`() {
        var state = opened()
        _ = state.videoReady()
        _ = state.audioReady()
        _ = state.starved()
        #expect(state.seek(to: ten) == [.seek(ten)])
        #expect(state.fed() == [])
        #expect(state.seekFailed() == [])
        #expect(state.phase == .starved)
    }

    @Test func `the film ends when both tracks have`() {
        var state = opened()
        _ = state.videoReady()
        _ = state.audioReady()
        #expect(state.audioFinished() == [])
        #expect(state.videoFinished() == [.stopClock, .finish])
        #expect(state.phase == .ended)
        #expect(state.play() == [.seek(.zero)])
    }

    @Test func `a track that ends before the other begins holds nothing up`() {
        var state = opened()
        #expect(state.audioFinished() == [])
        #expect(state.videoReady() == [.startClock(rate: 1)])
        #expect(state.videoFinished() == [.stopClock, .finish])
    }

    @Test func `a loop goes back instead of ending`() {
        var state = opened(audio: false, loops: true)
        _ = state.videoReady()
        #expect(state.videoFinished() == [.seek(.zero)])
        #expect(state.phase == .prerolling)
        #expect(state.videoReady() == [.startClock(rate: 1)])
    }

    @Test func `a seek that fails leaves everything as it was`() {
        var state = opened(audio: false)
        _ = state.videoReady()
        #expect(state.seek(to: ten) == [.seek(ten)])
        #expect(state.seek(to: .zero) == [.seek(.zero)])
        #expect(state.seekFailed() == [.startClock(rate: 1)])
        #expect(state.phase == .running)
        #expect(state.videoFinished() == [.stopClock, .finish])
        #expect(state.play() == [.seek(.zero)])
        #expect(state.seekFailed() == [])
        #expect(state.phase == .ended)
        // One that has succeeded cannot fail any more.
        #expect(state.play() == [.seek(.zero)])
        state.seekSucceeded()
        #expect(state.seekFailed() == [])
        #expect(state.phase == .prerolling)
    }

    @Test func `what is reported while a seek is under way counts if the seek fails`() {
        var state = opened()
        #expect(state.seek(to: ten) == [.seek(ten)])
        state.note(.videoReady)
        state.note(.audioReady)
        #expect(state.seekFailed() == [.startClock(rate: 1)])
        #expect(state.seek(to: ten) == [.seek(ten)])
        state.note(.videoFinished)
        state.note(.audioFinished)
        #expect(state.seekFailed() == [.stopClock, .finish])
        // A film that has shown nothing before the seek, and all of it during the seek.
        var short = opened(audio: false)
        #expect(short.seek(to: ten) == [.seek(ten)])
        short.note(.videoFinished)
        #expect(short.seekFailed() == [.startClock(rate: 1), .stopClock, .finish])
        // It says nothing about the new position.
        var moved = opened(audio: false)
        #expect(moved.seek(to: ten) == [.seek(ten)])
        moved.note(.videoFinished)
        moved.seekSucceeded()
        #expect(moved.phase == .prerolling)
        #expect(moved.receive(.videoReady) == [.startClock(rate: 1)])
        #expect(moved.receive(.videoFinished) == [.stopClock, .finish])
    }

    @Test func `a film that cannot begin again ends`() {
        var state = opened(audio: false, loops: true)
        _ = state.videoReady()
        #expect(state.videoFinished() == [.seek(.zero)])
        #expect(state.seekFailed() == [.stopClock, .finish])
        #expect(state.phase == .ended)
    }

    @Test func `a new speed takes effect at once only while time runs`() {
        var state = opened(audio: false)
        #expect(state.setRate(2) == [])
        #expect(state.videoReady() == [.startClock(rate: 2)])
        #expect(state.setRate(0.5) == [.startClock(rate: 0.5)])
        _ = state.pause()
        #expect(state.setRate(1) == [])
        #expect(state.play() == [.startClock(rate: 1)])
    }

    @Test func `before anything is open nothing happens`() {
        var state = TransportState()
        #expect(state.seek(to: ten) == [])
        #expect(state.play() == [])
        #expect(state.pause() == [])
    }
}

@Suite struct FeederStateTests {
    private let ten = MediaTime(value: 10, timescale: 1)

    @Test(arguments: [
        (true, 0, FeederState.Step.read), (true, 99, .read), (true, 100, .sleep), (false, 0, .sleep),
    ])
    func `reads while a queue is hungry and memory allows`(_ hungry: Bool, _ bytes: Int, _ expected: FeederState.Step) {
        var state = FeederState()
        #expect(state.next(hungry: hungry, bytes: bytes, limit: 100) == expected)
    }

    @Test func `of several seeks the newest is carried out, before any read`() {
        var state = FeederState()
        state.requestSeek(.zero)
        state.requestSeek(ten)
        #expect(state.isSuperseded)
        #expect(state.next(hungry: true, bytes: 0, limit: 1) == .seek(ten))
        #expect(!state.isSuperseded)
        #expect(state.next(hungry: true, bytes: 0, limit: 1) == .read)
    }

    @Test func `at the end it sleeps until a seek`() {
        var state = FeederState()
        state.reachedEnd()
        #expect(state.next(hungry: true, bytes: 0, limit: 1) == .sleep)
        state.requestSeek(.zero)
        let wasWoken = state.takeWake()
        #expect(wasWoken)
        #expect(state.next(hungry: true, bytes: 0, limit: 1) == .seek(.zero))
        #expect(state.next(hungry: true, bytes: 0, limit: 1) == .read)
    }

    @Test func `tracks that have ended by themselves go on with a seek`() {
        var state = FeederState()
        state.note(1, isEnd: true)
        #expect(state.endedTracks == [1])
        #expect(state.next(hungry: true, bytes: 0, limit: 1) == .read)
        state.requestSeek(ten)
        #expect(state.next(hungry: true, bytes: 0, limit: 1) == .seek(ten))
        #expect(state.endedTracks == [])
    }

    @Test func `stopping comes before everything`() {
        var state = FeederState()
        state.requestSeek(ten)
        state.stop()
        #expect(state.next(hungry: true, bytes: 0, limit: 1) == .stop)
    }

    @Test func `a wake between the decision and the sleep is not lost`() {
        var state = FeederState()
        #expect(state.next(hungry: false, bytes: 0, limit: 1) == .sleep)
        state.wake()
        let wasWoken = state.takeWake()
        #expect(wasWoken)
        let again = state.takeWake()
        #expect(!again)
    }

    @Test func `without a display the film waits if it is to, and for nobody else's pause`() {
        func running(pauses: Bool) -> TransportState {
            var state = TransportState(pausesWithoutDisplay: pauses)
            state.opened(at: .zero, hasVideo: true, hasAudio: false)
            _ = state.videoReady()
            return state
        }
        var unseen = running(pauses: false)
        #expect(unseen.displayLost() == [] && unseen.isPlaying)
        #expect(unseen.displayReturned() == [])

        var waiting = running(pauses: true)
        #expect(waiting.displayLost() == [.stopClock] && !waiting.isPlaying)
        #expect(waiting.displayReturned() == [.startClock(rate: 1)] && waiting.isPlaying)

        var paused = running(pauses: true)
        #expect(paused.pause() == [.stopClock])
        #expect(paused.displayLost() == [] && paused.displayReturned() == [] && !paused.isPlaying)

        // What the viewer says meanwhile counts.
        var played = running(pauses: true)
        _ = played.displayLost()
        #expect(played.play() == [.startClock(rate: 1)])
        #expect(played.displayReturned() == [] && played.isPlaying)
        var stopped = running(pauses: true)
        _ = stopped.displayLost()
        #expect(stopped.pause() == [])
        #expect(stopped.displayReturned() == [] && !stopped.isPlaying)

        var ended = running(pauses: true)
        #expect(ended.videoFinished() == [.stopClock, .finish])
        #expect(ended.displayLost() == [] && ended.displayReturned() == [] && ended.phase == .ended)
    }
}
