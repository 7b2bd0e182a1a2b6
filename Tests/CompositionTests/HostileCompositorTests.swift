import Composition
import Dispatch
import Media
import PixelConversion
import Reading
import SurfacePool
import TestSupport
import Testing

/// A compositor that misbehaves harms its own frames only.
@Suite struct HostileCompositorTests {
    enum Vice: CaseIterable {
        case never, twice, afterCancel, wrongSize, throwing, slow, cancelsItself, keepsEverything
    }

    /// Does what it should for every second frame.
    final class Hostile: VideoCompositing {
        let vice: Vice
        let good = LayerCompositor()
        let kept = Monitor<[VideoCompositionRequest]>([])
        let surfaces = Monitor<[SharedFrame]>([])
        let queue = DispatchQueue(label: "hostile")

        init(_ vice: Vice) { self.vice = vice }

        var sourceRequirements: OutputRequirements { good.sourceRequirements }
        var renderFormat: PixelFormat { good.renderFormat }

        struct Refusal: Error {}

        func start(_ request: VideoCompositionRequest) throws {
            let isGood = (request.compositionTime.seconds * 25).rounded().truncatingRemainder(dividingBy: 2) == 0
            if isGood { return try good.start(request) }
            switch vice {
            case .never: break
            case .twice:
                let surface = try request.renderContext.makeSurface()
                let frame = request.renderContext.frame(surface)
                let copy = frame.copy()
                request.finish(with: frame)
                request.finish(with: copy)
                request.finish(throwing: Refusal())
            case .afterCancel: kept.withLock { $0.append(request) }
            case .wrongSize:
                let layout = SurfaceLayout(format: .yuv420p, covering: PixelSize(width: 8, height: 8))
                let pool = SurfacePool(layout: layout, allocator: MemfdAllocator(), maximumCount: 1)
                guard let writer = try pool.acquire() else { throw Refusal() }
                let frame = VideoFrame(
                    use: writer.finish(), visible: PixelRect(x: 0, y: 0, width: 8, height: 8), presentationTime: .zero, sequence: 0)
                request.finish(with: frame)
            case .throwing: throw Refusal()
            case .slow:
                queue.asyncAfter(deadline: .now() + .milliseconds(30)) { [good] in try? good.start(request) }
            case .cancelsItself: request.finishCancelled()
            case .keepsEverything:
                var frames = [SharedFrame(request.renderContext.frame(try request.renderContext.makeSurface()))]
                if let frame = request.sourceFrame(1) { frames.append(SharedFrame(frame)) }
                let more = frames
                surfaces.withLock { $0 += more }
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

    /// What should be gone after a test.
    private final class Remains {
        weak var compositor: Hostile?
        weak var output: CompositionVideoOutput?
    }

    @Test(arguments: Vice.allCases)
    func `under random seeks there is no hang, no frame of another time, and nothing that stays`(vice: Vice) throws {
        let remains = Remains()
        try Self.seek(vice, remains)
        #expect(Polling.until { remains.compositor == nil && remains.output == nil })
    }

    private static func seek(_ vice: Vice, _ remains: Remains) throws {
        let (a, b) = (try TestFilm(seed: 30, frames: 25), try TestFilm(seed: 31, frames: 25)), film = try Drawing.film([a, b])
        let video = VideoComposition(
            frameDuration: TestFilm.frameDuration, renderSize: Drawing.size,
            instructions: [VideoCompositionInstruction.crossDissolve(from: 1, to: 2, in: Drawing.second)])
        let hostile = Hostile(vice)
        let options = CompositionReadingOptions(latePolicy: .drop(after: HostSpan(nanoseconds: vice == .slow ? 20_000_000_000 : 60_000_000)))
        let output = try CompositionVideoOutput(of: film, video, compositor: hostile, options: options)
        (remains.compositor, remains.output) = (hostile, output)
        let seed = UInt64.random(in: 0 ... .max)
        var dice = Dice(seed: seed), good = 0
        for _ in 0..<TestExtent.rounds(12, full: 200, sanitized: 4) {
            let start = Int.random(in: 0..<24, using: &dice)
            output.reset(forReadingTimeRange: MediaTimeRange(start: TestFilm.frameDuration.multiplied(by: start), end: film.duration))
            for _ in 0..<2 {
                guard let frame = try output.nextFrame() else { break }
                let number = Int((frame.presentationTime.seconds * 25).rounded())
                #expect(number >= start)
                let wanted = FloatFrame(Drawing.size, b.frames[number])
                    .under(FloatFrame(Drawing.size, a.frames[number]), opacity: 1 - Double(number) / 25)
                guard number % 2 == 0 || vice == .slow else { continue }
                #expect(wanted.difference(FrameBytes(frame)) <= 1, "seed \(seed), frame \(number)")
                good += 1
            }
        }
        // A machine that is too busy to draw a good frame in time leaves it out.
        let report = output.report
        switch vice {
        case .never, .keepsEverything: #expect(report.framesLate > 0)
        case .afterCancel: #expect(report.framesLate > 0)
        case .twice: #expect(report.answersIgnored > 0 && report.lastFault?.contains("twice") == true, "\(report)")
        case .wrongSize: #expect(report.framesFailed > 0)
        case .throwing, .cancelsItself: #expect(report.framesFailed > 0)
        case .slow: #expect(report.framesLate == 0 && good > 0)
        }
        output.cancel()
        #expect(throws: ReadingError.self) { _ = try output.nextFrame() }
    }

    /// Draws the frame of one time later than `patience` allows, once each time that `slowTime` is set.
    final class SlowAtFirst: VideoCompositing {
        static let patience = HostSpan.seconds(1)
        private let good = LayerCompositor()
        private let queue = DispatchQueue(label: "slow at first")
        let slowTime = Monitor(MediaTime?.none)
        /// Requests since the last slow one, itself included; and how many those were when each slow one was answered.
        let counts = Monitor((requests: 0, whenAnswered: [Int]()))

        var sourceRequirements: OutputRequirements { good.sourceRequirements }
        var renderFormat: PixelFormat { good.renderFormat }

        func start(_ request: VideoCompositionRequest) throws {
            let isLate = slowTime.withLock { time in
                defer { if time == request.compositionTime { time = nil } }
                return time == request.compositionTime
            }
            counts.withLock { $0.requests = isLate ? 1 : $0.requests + 1 }
            guard isLate else { return try good.start(request) }
            queue.asyncAfter(deadline: .now() + .milliseconds(1500)) { [self] in
                counts.withLock { $0.whenAnswered.append($0.requests) }
                try? good.start(request)
            }
        }
    }

    @Test func `the first frame after a seek is asked for alone, and waited for beyond the patience for those that may be late`() throws {
        let (a, b) = (try TestFilm(seed: 34, frames: 25), try TestFilm(seed: 35, frames: 25)), film = try Drawing.film([a, b])
        let video = VideoComposition(
            frameDuration: TestFilm.frameDuration, renderSize: Drawing.size,
            instructions: [VideoCompositionInstruction.crossDissolve(from: 1, to: 2, in: Drawing.second)])
        let compositor = SlowAtFirst(), options = CompositionReadingOptions(latePolicy: .drop(after: SlowAtFirst.patience))
        let output = try CompositionVideoOutput(of: film, video, compositor: compositor, options: options)
        for place in [7, 3] {
            let start = TestFilm.frameDuration.multiplied(by: place)
            compositor.slowTime.withLock { $0 = start }
            output.reset(forReadingTimeRange: MediaTimeRange(start: start, end: film.duration))
            #expect(try output.nextFrame()?.presentationTime == start)
            // Those that follow are asked for ahead.
            #expect(try output.nextFrame()?.presentationTime == start + TestFilm.frameDuration)
            #expect(Polling.until { compositor.counts.withLock { $0.requests } >= 3 })
        }
        #expect(compositor.counts.withLock { $0.whenAnswered } == [1, 1])
        #expect(output.report.framesLate == 0)
    }

    @Test func `while exporting, a frame that cannot be drawn ends the reading with its time`() throws {
        let a = try TestFilm(seed: 32, frames: 25), film = try Drawing.film([a, a])
        let video = VideoComposition(
            frameDuration: TestFilm.frameDuration, renderSize: Drawing.size,
            instructions: [VideoCompositionInstruction.crossDissolve(from: 1, to: 2, in: Drawing.second)])
        let output = try CompositionVideoOutput(of: film, video, compositor: Hostile(.wrongSize))
        _ = try output.nextFrame()
        let error = #expect(throws: ReadingError.self) { _ = try output.nextFrame() }
        #expect(error?.code == .composition)
        #expect(error?.description == "At 00:00:00.040: the compositor made a frame of 8x8 yuv420p, not of 64x36 yuv420p.")
    }

    @Test func `a reader that waits for a compositor which never answers can be cancelled`() async throws {
        let a = try TestFilm(seed: 33, frames: 25), film = try Drawing.film([a, a])
        let video = VideoComposition(
            frameDuration: TestFilm.frameDuration, renderSize: Drawing.size,
            instructions: [VideoCompositionInstruction.crossDissolve(from: 1, to: 2, in: Drawing.second)])
        let output = try CompositionVideoOutput(of: film, video, compositor: Hostile(.never))
        let reader = Task { () throws(ReadingError) -> Int in
            var count = 0
            for try await _ in output.frames { count += 1 }
            return count
        }
        while output.report.framesDrawn == 0 { await Task.yield() }
        reader.cancel()
        let result = await reader.result
        #expect(throws: ReadingError.self) { try result.get() }
    }
}
