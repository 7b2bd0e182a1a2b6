import DisplaySink
import FilmReference
import FrameExport
import Media
import Player
import Reading
import TestSupport
import Testing

/// After a seek its clients get nothing older, and the first frame is the exact one.
@Suite struct SeekSerialTests {
    /// A film in one exporter, as clients see it.
    private final class Stage {
        let player: Player
        let exporter: FrameExporter
        /// Presentation times of the film's frames, in order.
        let times: [MediaTime]

        init(_ path: String, _ policy: FrameExporterConfiguration.Policy, isUntimed: Bool, startsPaused: Bool) throws {
            times = try Self.times(path)
            exporter = FrameExporter(FrameExporterConfiguration(policy: policy))
            player = Self.player(exporter, isUntimed: isUntimed, startsPaused: startsPaused)
            try player.open(path)
        }

        deinit { player.close() }

        private static func player(_ exporter: FrameExporter, isUntimed: Bool, startsPaused: Bool) -> Player {
            var configuration = PlayerConfiguration()
            configuration.startsPaused = startsPaused
            configuration.playsAudio = false
            configuration.exporters = [exporter]
            return Player(sink: HeadlessSink(isUntimed: isUntimed), configuration: configuration)
        }

        private static func times(_ path: String) throws -> [MediaTime] {
            let exporter = FrameExporter(FrameExporterConfiguration(policy: .makeDecoderWait))
            let player = player(exporter, isUntimed: true, startsPaused: false)
            defer { player.close() }
            try player.open(path)
            var times: [MediaTime] = []
            while let frame = exporter.waitForFrame() { times.append(frame.description.presentationTime) }
            return times
        }

        func seek(to time: MediaTime) -> UInt64 { SeekSerialTests.seek(player, to: time) }

        /// The frame that is seen at `time`: the last that begins by then; the first where none does.
        func frame(at time: MediaTime) -> MediaTime? { times.last { $0 <= time } ?? times.first }

        func next(within limit: HostSpan = .seconds(30)) -> FrameDescription? {
            switch exporter.waitForFrame(until: MonotonicClock.shared.now() + limit) {
            case .some(let frame): frame.description
            case .none: nil
            }
        }

        func pull() -> FrameDescription? {
            switch exporter.frame(for: .distantFuture) {
            case .some(let frame): frame.description
            case .none: nil
            }
        }
    }

    /// The seek that does not wait, also for asynchronous code.
    private static func seek(_ player: Player, to time: MediaTime) -> UInt64 { player.seek(to: time) }

    /// B-frames, an edit list, VP9, 10 bits, 60 frames a second, and a transport stream, which has no index.
    private static let films = ["demo.mp4", "demo.ts", "plain.mp4", "edit-list.mp4", "vp9.webm", "hevc-10bit.mp4", "rate-23.976.mp4", "rate-60.mp4"]

    private static func path(_ name: String) throws -> String {
        name == "demo.ts" ? try FilmReference.copy(of: TestAssets.demo, as: "ts") : TestAssets.path(name)
    }

    @Test(arguments: TestExtent.cases(films, sanitizedStep: 4), [true, false])
    func `the first frame after each of many seeks is the exact one, however it is fetched`(_ name: String, _ isUntimed: Bool) throws {
        let policy = isUntimed ? FrameExporterConfiguration.Policy.makeDecoderWait : .dropOldest
        let path = try Self.path(name), stage = try Stage(path, policy, isUntimed: isUntimed, startsPaused: false)
        try #require(stage.times.count > 4)
        let end = stage.times[stage.times.count - 1].seconds
        var dice = Dice(seed: 160), targets: [MediaTime] = [], spent = 0.0, seeks: UInt64 = 0
        for round in 0..<TestExtent.rounds(20, full: 160, sanitized: 6) {
            // Sometimes in the middle of a film that plays, sometimes at its end.
            for _ in 0..<Int.random(in: 0..<4, using: &dice) { _ = stage.next() }
            if isUntimed, round % 7 == 3 { while stage.next() != nil {} }
            let target = MediaTime(seconds: Double.random(in: 0...end, using: &dice)), wanted = stage.frame(at: target)
            var first: FrameDescription?, seconds = 0.0
            for _ in 0..<(isUntimed ? 1 : 10) {
                let start = MonotonicClock.shared.now(), serial = stage.player.seek(to: target)
                seeks += 1
                #expect(serial == seeks && stage.player.seekSerial == serial)
                // What is pulled at once is not older: it is nothing, or the first.
                let pulled = round % 2 == 0 ? stage.pull() : nil
                let found = try #require(pulled ?? stage.next(), "no frame, or the end, after seek \(serial) to \(target)")
                seconds = (MonotonicClock.shared.now() - start).seconds
                first = found
                #expect(found.serial == serial)
                // With a clock the film may have run on before this thread had a processor. Then it is sought again.
                guard let wanted, found.presentationTime > wanted else { break }
            }
            spent += seconds
            targets.append(target)
            #expect(first?.presentationTime == wanted, "seek to \(target) of \(name)")
        }
        if TestExtent.isFull, isUntimed {
            let count = Double(targets.count), decoding = try Self.secondsOfDecoding(path, targets)
            print("\(name): a seek \(spent / count * 1000) ms, decoding from the sync sample \(decoding / count * 1000) ms")
        }
    }

    /// What it takes to decode the frames of these times, each from the sync sample before it: no seek can take less.
    private static func secondsOfDecoding(_ path: String, _ targets: [MediaTime]) throws -> Double {
        let output = try VideoTrackOutput(url: path)
        _ = try output.nextFrame()
        var spent = 0.0
        for target in targets {
            let start = MonotonicClock.shared.now()
            try output.reset(forReadingTimeRanges: [MediaTimeRange(start: target, duration: MediaTime(value: 1, timescale: 1))])
            _ = try output.nextFrame()
            spent += (MonotonicClock.shared.now() - start).seconds
        }
        return spent
    }

    @Test func `between the rounded end of a frame and the next one the frame is still on the screen`() throws {
        // WebM counts in milliseconds: frames at 433 and 467, each of 33.
        let stage = try Stage(TestAssets.path("vp9.webm"), .makeDecoderWait, isUntimed: true, startsPaused: false)
        for (target, frame) in [(466, 433), (4665, 433), (467, 467), (500, 500), (499, 467), (533, 533), (5332, 533), (5665, 533)] {
            let serial = Self.seek(stage.player, to: MediaTime(value: Int64(target), timescale: target > 1000 ? 10_000 : 1000))
            let first = try #require(stage.next())
            #expect(first.serial == serial && first.presentationTime == MediaTime(value: Int64(frame), timescale: 1000), "\(target)")
        }
    }

    @Test func `while a film is paused nothing older is pulled after a seek, and its frame stays`() async throws {
        let stage = try Stage(TestAssets.demo, .dropOldest, isUntimed: false, startsPaused: true)
        try #require(stage.next() != nil)
        var dice = Dice(seed: 40)
        for _ in 0..<TestExtent.rounds(20, full: 80, sanitized: 6) {
            let target = MediaTime(value: Int64.random(in: 0..<300, using: &dice), timescale: 30)
            let serial = stage.seek(to: target)
            var found = stage.pull()
            while found == nil {
                await Task.yield()
                found = stage.pull()
            }
            #expect(found?.serial == serial && found?.presentationTime == target)
            #expect(stage.pull()?.presentationTime == target, "the same again")
        }
    }

    @Test func `an event says that the frame of a seek is there, and the last of many seeks is reported`() async throws {
        let stage = try Stage(TestAssets.demo, .dropOldest, isUntimed: false, startsPaused: true)
        let events = stage.player.events
        var last: UInt64 = 0
        for number in [5, 20, 70, 10, 33] { last = stage.seek(to: MediaTime(value: Int64(number), timescale: 30)) }
        #expect(last == 5)
        var reported: [UInt64] = []
        for await event in events {
            if case .seekCompleted(let serial) = event {
                reported.append(serial)
                if serial == last { break }
            }
        }
        #expect(reported == reported.sorted() && Set(reported).count == reported.count)
        let frame = stage.pull()
        #expect(frame?.serial == 5 && frame?.presentationTime == MediaTime(value: 33, timescale: 30))
        let serial = try await stage.player.seek(to: .seconds(3))
        #expect(serial == 6 && stage.pull()?.serial == 6)
    }

    @Test func `the end after a seek is that of the new position`() throws {
        let stage = try Stage(TestAssets.path("plain.mp4"), .makeDecoderWait, isUntimed: true, startsPaused: false)
        for _ in 0..<TestExtent.rounds(10, full: 40, sanitized: 4) {
            while stage.next() != nil {}
            let serial = stage.player.seek(to: stage.times[stage.times.count - 2])
            #expect(stage.next()?.serial == serial)
            #expect(stage.next()?.presentationTime == stage.times.last)
            #expect(stage.next() == nil)
            // Beyond the end there is none, and the end is told.
            stage.player.seek(to: .seconds(1000))
            #expect(stage.next(within: .seconds(30)) == nil)
        }
    }

    @Test func `where the source cannot seek the film goes on, its frames follow the seek, and an event says why`() async throws {
        let exporter = FrameExporter(FrameExporterConfiguration(policy: .makeDecoderWait))
        var configuration = PlayerConfiguration()
        configuration.rawCodec = .h264
        configuration.exporters = [exporter]
        let player = Player(sink: HeadlessSink(isUntimed: true), configuration: configuration)
        let events = player.events
        try await player.open(TestAssets.path("annexb.h264"))
        defer { player.close() }
        func next() -> FrameDescription? {
            switch exporter.waitForFrame() {
            case .some(let frame): frame.description
            case .none: nil
            }
        }
        let first = try #require(next())
        let serial = Self.seek(player, to: MediaTime(value: 1, timescale: 1))
        let second = try #require(next())
        #expect(second.serial == serial && second.sequence == first.sequence + 1, "no frame is lost")
        for await event in events {
            if case .seekFailed(let failed, let error) = event {
                #expect(failed == serial && error.code == .notSeekable)
                break
            }
        }
        while next() != nil {}
        #expect(Polling.until { player.state == .ended })
    }

    @Test func `a seek that fails while the film begins does not hold it`() throws {
        for round in 0..<TestExtent.rounds(20, full: 200, sanitized: 10) {
            var configuration = PlayerConfiguration()
            configuration.rawCodec = .h264
            let player = Player(sink: HeadlessSink(isUntimed: true), configuration: configuration)
            defer { player.close() }
            try player.open(TestAssets.path("annexb.h264"))
            // A seek is under way when the first frame is reported.
            #expect(Polling.holds(for: .milliseconds(10)) { Self.seek(player, to: MediaTime(value: 1, timescale: 1)) > 0 })
            #expect(Polling.until { player.state == .ended }, "round \(round)")
        }
    }
}
