public import DisplaySink
internal import Media
internal import SurfacePool

/// What every sink must do, as checks that throw what was wrong: the suites of all sinks run them all.
///
///     @Test(arguments: SinkConformance.Check.allCases)
///     func conforms(_ check: SinkConformance.Check) throws {
///         try SinkConformance { HeadlessSink() }.check(check)
///     }
///
/// Each check makes a sink of its own and takes well below a second unless something is wrong.
public struct SinkConformance: Sendable {
    public enum Check: String, Sendable, CaseIterable {
        /// `start` and `stop` come back, also with nothing to show, and `stop` twice.
        case startAndStop
        /// Every frame of a film is reported, none dropped but late ones, and the end is told once.
        case showsAFilm
        /// A second stream after a flush is shown and ended like the first.
        case showsASecondFilmAfterAFlush
        /// A frame that comes after a long silence is shown without any other stimulus.
        case wakesForAFrame
        /// A film that stood still is shown when its timebase begins to move.
        case wakesForTheTimebase
        /// A flush that keeps the image keeps one at most, and the next frame is a first one again.
        case flushKeepsTheImage
        /// A flush that removes the image gives every surface back.
        case flushRemovesTheImage
        /// In the middle of a film, `stop` gives every surface back and tells nothing afterwards.
        case stopsInTheMiddle
        /// Never more surfaces are in use than the queue and the sink have said.
        case holdsNoMoreThanItSays
        /// Frames of another size and format are shown in the same run.
        case changesFormat
        /// One sink after another shows a film: nothing of the one before is in the way.
        case oneAfterAnother
    }

    let makeSink: @Sendable () throws -> any DisplaySink

    public init(_ makeSink: @escaping @Sendable () throws -> any DisplaySink) { self.makeSink = makeSink }

    /// What a sink did wrong.
    public struct Violations: Error, CustomStringConvertible {
        public let description: String
    }

    /// Throws `Violations`, or what the sink's `start` threw.
    public func check(_ check: Check) throws {
        let stage = try SinkStage(makeSink())
        switch check {
        case .startAndStop: try startAndStop(stage)
        case .showsAFilm: try showsAFilm(stage)
        case .showsASecondFilmAfterAFlush: try showsASecondFilm(stage)
        case .wakesForAFrame: try wakesForAFrame(stage)
        case .wakesForTheTimebase: try wakesForTheTimebase(stage)
        case .flushKeepsTheImage: try flushKeepsTheImage(stage)
        case .flushRemovesTheImage: try flushRemovesTheImage(stage)
        case .stopsInTheMiddle: try stopsInTheMiddle(stage)
        case .holdsNoMoreThanItSays: try holdsNoMoreThanItSays(stage)
        case .changesFormat: try changesFormat(stage)
        case .oneAfterAnother: try oneAfterAnother(stage)
        }
        stage.sink.stop()
        stage.queue.cancel()
        stage.expect(stage.inUse == 0, "\(stage.inUse) surfaces are in use after stop")
        if !stage.violations.isEmpty { throw Violations(description: stage.violations.joined(separator: "; ")) }
    }

    private func startAndStop(_ stage: SinkStage) throws {
        stage.sink.stop()
        try stage.start()
        stage.sink.stop()
        stage.sink.stop()
        stage.expect(!stage.sink.name.isEmpty, "a sink has a name")
    }

    private func showsAFilm(_ stage: SinkStage) throws {
        try stage.start()
        stage.play()
        try stage.enqueue(0..<30)
        stage.queue.markEndOfStream()
        stage.waitUntil("the film is finished") { stage.count(of: .finished) == 1 }
        // On a busy machine a frame that was submitted may give way to the next before it is shown: that is late, too.
        stage.waitUntil("every frame is reported") { stage.reported + stage.queue.statistics.dropped(.late) == 30 }
        let statistics = stage.queue.statistics
        stage.expect(statistics.framesPresented <= statistics.framesSubmitted, "more frames were shown than submitted")
        stage.expect(stage.firstFrames == 1, "the first frame was told \(stage.firstFrames) times")
        stage.nap(.milliseconds(30))
        stage.expect(stage.count(of: .finished) == 1, "the end is told once")
    }

    private func showsASecondFilm(_ stage: SinkStage) throws {
        try stage.start()
        stage.play()
        for film in 1...2 {
            stage.timebase.setTime(.zero)
            try stage.enqueue(0..<10)
            stage.queue.markEndOfStream()
            stage.waitUntil("film \(film) is finished") { stage.count(of: .finished) == film }
            stage.queue.flush(removeImage: false)
        }
        stage.expect(stage.firstFrames == 2, "a first frame was told \(stage.firstFrames) times for two films")
    }

    private func wakesForAFrame(_ stage: SinkStage) throws {
        try stage.start()
        stage.nap(.milliseconds(50))
        try stage.enqueue(0..<1, flags: .displayImmediately)
        stage.waitUntil("the frame is shown") { stage.reported == 1 }
        stage.nap(.milliseconds(50))
        try stage.enqueue(1..<2, flags: .displayImmediately)
        stage.waitUntil("the frame after a silence is shown") { stage.reported == 2 }
    }

    private func wakesForTheTimebase(_ stage: SinkStage) throws {
        try stage.start()
        try stage.enqueue(0..<3)
        stage.nap(.milliseconds(50))
        if stage.sink.pacing == .display {
            stage.expect(stage.queue.statistics.framesSubmitted <= 1, "a film that stands still shows its first frame only")
        }
        stage.play()
        stage.waitUntil("the film is shown once it moves") { stage.reported + stage.queue.statistics.dropped(.late) == 3 }
    }

    private func flushKeepsTheImage(_ stage: SinkStage) throws {
        try stage.start()
        stage.play()
        try stage.enqueue(0..<4)
        stage.waitUntil("frames are shown") { stage.reported > 0 }
        stage.queue.flush(removeImage: false)
        stage.timebase.setTime(MediaTime(value: 50, timescale: 1))
        try stage.enqueue(5000..<5001)
        stage.waitUntil("the frame after the flush is a first one") { stage.firstFrames == 2 }
        let held = stage.sink.surfaceHoldCount
        stage.expect(stage.inUse <= max(held, 1), "\(stage.inUse) surfaces are in use where \(held) were said")
    }

    private func flushRemovesTheImage(_ stage: SinkStage) throws {
        try stage.start()
        stage.play()
        try stage.enqueue(0..<4)
        stage.waitUntil("frames are shown") { stage.reported > 0 }
        stage.queue.flush(removeImage: true)
        stage.waitUntil("every surface comes back") { stage.inUse == 0 }
    }

    private func stopsInTheMiddle(_ stage: SinkStage) throws {
        try stage.start()
        stage.play()
        try stage.enqueue(0..<10)
        stage.sink.stop()
        let told = stage.events.count
        let waiting = stage.queue.count
        stage.expect(stage.inUse == waiting, "\(stage.inUse) surfaces are in use and \(waiting) frames wait")
        stage.queue.cancel()
        stage.nap(.milliseconds(30))
        stage.expect(stage.events.count == told, "an event was told after stop")
    }

    private func holdsNoMoreThanItSays(_ stage: SinkStage) throws {
        try stage.start()
        stage.play()
        // One more: the frame that waits for room.
        let limit = stage.sink.surfaceHoldCount + SinkStage.capacity + 1
        var most = 0
        for number in 0..<60 {
            try stage.enqueue(number..<(number + 1))
            guard stage.inUse > limit else { continue }
            // A frame on its way back, already out of the queue, may be counted for a moment.
            stage.nap(.milliseconds(2))
            most = max(most, stage.inUse)
        }
        stage.expect(most <= limit, "\(most) surfaces were in use, \(limit) were said")
    }

    private func changesFormat(_ stage: SinkStage) throws {
        let other = TestFrames(
            format: .yuv420p, size: PixelSize(width: 98, height: 34), allocator: stage.sink.preferredAllocator)
        try stage.start()
        stage.play()
        try stage.enqueue(0..<5)
        for number in 5..<10 { stage.queue.enqueue(try other.frame(number)) }
        stage.queue.markEndOfStream()
        stage.waitUntil("the film is finished") { stage.count(of: .finished) == 1 }
        stage.expect(stage.failures.isEmpty, "failed: \(stage.failures)")
        stage.sink.stop()
        stage.expect(other.inUse == 0, "\(other.inUse) surfaces of the second size are in use after stop")
    }

    private func oneAfterAnother(_ first: SinkStage) throws {
        try showsAFilm(first)
        first.sink.stop()
        let second = try SinkStage(makeSink())
        try showsAFilm(second)
        second.sink.stop()
        second.queue.cancel()
        second.expect(second.inUse == 0, "\(second.inUse) surfaces of the second sink are in use")
        first.violations += second.violations
    }
}
