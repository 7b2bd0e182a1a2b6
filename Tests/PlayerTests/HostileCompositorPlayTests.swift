import Composition
import Dispatch
import Glibc
import Media
import PixelConversion
import Player
import SurfacePool
import TestSupport
import Testing

/// A compositor that misbehaves harms its own frames only; the film goes on.
@Suite struct HostileCompositorPlayTests {
    enum Vice: CaseIterable { case never, twice, afterCancel, wrongSize, throwing, late, cancelsItself, keepsEverything, blocks }

    /// Shows track 1 as it is at every second frame, and does something else at the others.
    final class Hostile: VideoCompositing {
        let vice: Vice
        private let kept = Monitor<[VideoCompositionRequest]>([])
        private let surfaces = Monitor<[SharedFrame]>([])
        private let queue = DispatchQueue(label: "hostile")
        let gate = Monitor(false)

        init(_ vice: Vice) { self.vice = vice }

        var sourceRequirements: OutputRequirements { OutputRequirements(formats: [.yuv420p], usages: [.cpu]) }
        var renderFormat: PixelFormat { .yuv420p }

        struct Refusal: Error {}

        private func answer(_ request: VideoCompositionRequest) {
            if let frame = request.sourceFrame(1) { request.finish(with: frame) } else { request.finishCancelled() }
        }

        func start(_ request: VideoCompositionRequest) throws {
            guard Int((request.compositionTime.seconds * 30).rounded()) % 2 == 1 else { return answer(request) }
            switch vice {
            case .never: break
            case .twice:
                answer(request)
                request.finish(throwing: Refusal())
            case .afterCancel: kept.withLock { $0.append(request) }
            case .wrongSize:
                let layout = SurfaceLayout(format: .yuv420p, covering: PixelSize(width: 8, height: 8))
                guard let writer = try SurfacePool(layout: layout, allocator: MemfdAllocator(), maximumCount: 1).acquire() else { throw Refusal() }
                request.finish(
                    with: VideoFrame(use: writer.finish(), visible: PixelRect(x: 0, y: 0, width: 8, height: 8), presentationTime: .zero, sequence: 0))
            case .throwing: throw Refusal()
            case .late: queue.asyncAfter(deadline: .now() + .milliseconds(1500)) { [self] in answer(request) }
            case .cancelsItself: request.finishCancelled()
            case .keepsEverything:
                var frames = [SharedFrame(request.renderContext.frame(try request.renderContext.makeSurface()))]
                if let frame = request.sourceFrame(1) { frames.append(SharedFrame(frame)) }
                let more = frames
                surfaces.withLock { $0 += more }
            case .blocks: let _: Void? = gate.wait { $0 ? () : nil }
            }
        }

        func cancelAllPendingRequests() {
            let late = kept.withLock { requests in
                defer { requests = [] }
                return requests
            }
            queue.async { for request in late { request.finish(throwing: Refusal()) } }
        }
    }

    /// Does not wait for the frame.
    private static func jump(_ player: Player, to number: Int) { player.seek(to: ComposedFilmTests.frames(number)) }

    @Test(arguments: Vice.allCases)
    func `under seeks and to its end the film goes on, shows no frame of another time, and the viewer is told once`(_ vice: Vice) async throws {
        let sink = WatchingSink(), hostile = Hostile(vice), listener = ComposedFilmTests.Listener()
        let player = Player(sink: sink, configuration: ComposedFilmTests.configuration(paused: true)) { listener.hear($0) }
        // An instruction that changes, so that each frame is asked for.
        let instruction = VideoCompositionInstruction.crossDissolve(from: 1, to: 2, in: ComposedFilmTests.range(0, 40))
        try player.open(
            .composition(ComposedFilm(ComposedFilmTests.twoTracks(lasting: 40), ComposedFilmTests.video([instruction]), compositor: hostile)))
        let seed = UInt64.random(in: 0 ... .max)
        var dice = Dice(seed: seed)
        // Several at once, of which the last counts.
        for _ in 0..<TestExtent.rounds(2, full: 100, sanitized: 1) {
            for _ in 0..<Int.random(in: 1...3, using: &dice) {
                Self.jump(player, to: Int.random(in: 0..<34, using: &dice))
                if Bool.random(using: &dice) { try? await Task.sleep(for: .milliseconds(5)) }
            }
            let place = Int.random(in: 0..<17, using: &dice) * 2
            try await player.seek(to: ComposedFilmTests.frames(place))
            #expect(sink.sightings.last?.number == place, "seed \(seed)")
            // The frame of this time is not drawn: the next that is.
            let odd = place + 1
            if vice != .blocks {
                try await player.seek(to: ComposedFilmTests.frames(odd))
                #expect([odd, odd + 1, odd + 3].contains(sink.sightings.last?.number), "seed \(seed)")
            }
        }
        try await player.seek(to: ComposedFilmTests.frames(32))
        player.play()
        let (isPlayed, error) = listener.waitForEnd()
        #expect(isPlayed, "\(String(describing: error))")
        player.close()
        hostile.gate.change { $0 = true }
        let report = try #require(player.statistics.composition)
        switch vice {
        case .never, .afterCancel, .keepsEverything, .blocks: #expect(report.framesLate > 0)
        case .late: #expect(report.framesLate + report.framesSkipped > 0)
        case .wrongSize, .throwing, .cancelsItself: #expect(report.framesFailed > 0)
        case .twice: #expect(report.answersIgnored > 0 && report.framesFailed == 0)
        }
        let notices = listener.notices
        #expect(notices.count <= 2 && notices.allSatisfy { $0.hasPrefix("At 00:00:0") && $0.contains("the compositor") }, "\(notices)")
        #expect(notices.count >= 1 || vice == .late, "\(report)")
    }

    @Test func `frames whose time is over are not asked for, and are counted`() async throws {
        /// Takes three frames' time for each.
        final class Slow: VideoCompositing {
            private let queue = DispatchQueue(label: "slow")
            let started = Monitor(0)
            var sourceRequirements: OutputRequirements { OutputRequirements(formats: [.yuv420p], usages: [.cpu]) }
            var renderFormat: PixelFormat { .yuv420p }
            func start(_ request: VideoCompositionRequest) throws {
                started.withLock { $0 += 1 }
                queue.asyncAfter(deadline: .now() + .milliseconds(100)) {
                    if let frame = request.sourceFrame(1) { request.finish(with: frame) } else { request.finishCancelled() }
                    usleep(100_000)
                }
            }
        }
        let sink = WatchingSink(), slow = Slow(), listener = ComposedFilmTests.Listener()
        let player = Player(sink: sink, configuration: ComposedFilmTests.configuration()) { listener.hear($0) }
        let instruction = VideoCompositionInstruction.crossDissolve(from: 1, to: 2, in: ComposedFilmTests.range(0, 60))
        try player.open(
            .composition(ComposedFilm(ComposedFilmTests.twoTracks(lasting: 60), ComposedFilmTests.video([instruction]), compositor: slow)))
        #expect(listener.waitForEnd().isPlayed)
        player.close()
        let report = try #require(player.statistics.composition)
        #expect(report.framesSkipped > 0 && report.framesDrawn > 0 && slow.started.withLock { $0 } < 60, "\(report)")
        #expect(listener.notices == [])
    }
}
