import DisplaySink
import Foundation
import Media
import SinkConformance
import SurfacePool
import TestSupport
import Testing
import WaylandSink

/// What a sink does with a compositor that behaves as few do but all may.
@Suite("Manners of compositors", .serialized)
struct CompositorManners {
    /// A sink that talks to a compositor through a tap, and a film of 60 frames a second.
    final class Scene {
        let weston: PrivateWeston
        let tap: WireTap
        let sink: WaylandSink
        let frames: TestFrames
        let timebase = Timebase()
        let queue: PresentationQueue
        let events = Monitor<[SinkEvent]>([])

        init(
            _ renderer: PrivateWeston.Renderer = .gl, _ behave: @Sendable (inout WireTap.Behaviour) -> Void = { _ in },
            makeSink: (String) throws -> WaylandSink = { try WaylandSink(display: $0) }
        ) throws {
            weston = try PrivateWeston(renderer)
            tap = try WireTap(to: weston.display)
            tap.change(behave)
            sink = try makeSink(tap.display)
            frames = TestFrames(size: PixelSize(width: 160, height: 120), maximumCount: 12, allocator: sink.preferredAllocator)
            queue = PresentationQueue(capacity: 4, timebase: timebase)
            try sink.start(queue) { [events] event in events.change { $0.append(event) } }
        }

        deinit {
            sink.stop()
            tap.stop()
        }

        func play() { timebase.setRate(1, time: MediaTime(value: -1, timescale: 10), atHostTime: MonotonicClock.shared.now()) }

        func enqueue(_ numbers: Range<Int>) throws {
            for number in numbers {
                let isAccepted = queue.enqueue(try frames.frame(number, rate: 60), waitingUntil: MonotonicClock.shared.now() + .seconds(60))
                try #require(isAccepted, "frame \(number) found no room for a minute")
            }
        }

        /// Puts in a frame that is shown whatever the time, and waits until it has been seen.
        func show(_ number: Int) throws {
            let before = queue.statistics.framesPresented
            queue.enqueue(try frames.frame(number, rate: 60, flags: .displayImmediately))
            try #require(wait { queue.statistics.framesPresented > before }, "frame \(number) is not shown")
        }

        func wait(_ condition: () -> Bool) -> Bool { Polling.until(every: .milliseconds(5), condition) }

        func count(of event: SinkEvent) -> Int { events.withLock { $0 }.count { $0 == event } }
        var sizes: [PixelSize] { events.withLock { $0 }.compactMap { if case .resized(let size) = $0 { size } else { nil } } }
        var failures: [SinkError] { events.withLock { $0 }.compactMap { if case .failed(let error) = $0 { error } else { nil } } }
    }

    @Test("no byte of a frame changes before its release, however late that comes", arguments: PrivateWeston.Renderer.allCases)
    func lateReleases(_ renderer: PrivateWeston.Renderer) throws {
        let scene = try Scene(renderer)
        scene.tap.change { $0.releaseDelay = 0...90 }
        scene.play()
        try scene.enqueue(0..<240)
        scene.queue.markEndOfStream()
        #expect(scene.wait { scene.count(of: .finished) == 1 })
        scene.sink.stop()
        #expect(scene.frames.inUse == 0)
        scene.tap.stop()
        let findings = scene.tap.findings
        #expect(findings.changed == 0 && findings.surprises == 0, "\(findings)")
        #expect(findings.commits >= 40 && findings.unchanged == findings.commits, "\(findings)")
        #expect(scene.failures.isEmpty)
    }

    /// A display of a thousand refreshes a second makes of ten thousand frames half a minute.
    @Test("frames, ten thousand without a sanitizer, are as they were handed over when they are given back at random times")
    func randomReleases() throws {
        let count = TestExtent.rounds(10_000, full: 10_000, sanitized: 1_000)
        let scene = try Scene()
        scene.tap.change {
            $0.refresh = .milliseconds(1)
            $0.releaseDelay = 0...15
        }
        scene.play()
        var number = 0
        // Those that come too late on a busy machine are dropped, and others take their place.
        while scene.tap.findings.commits < count && number < 60 * count {
            for _ in 0..<50 {
                let isAccepted = scene.queue.enqueue(
                    try scene.frames.frame(number, rate: 500), waitingUntil: MonotonicClock.shared.now() + .seconds(60))
                try #require(isAccepted, "frame \(number) found no room for a minute")
                number += 1
            }
        }
        scene.queue.markEndOfStream()
        #expect(scene.wait { scene.count(of: .finished) == 1 })
        scene.sink.stop()
        #expect(scene.frames.inUse == 0)
        scene.tap.stop()
        let findings = scene.tap.findings
        #expect(findings.changed == 0 && findings.surprises == 0, "\(findings)")
        #expect(findings.commits >= count && findings.unchanged == findings.commits, "\(findings)")
        #expect(scene.failures.isEmpty)
    }

    @Test("a film goes on while nobody sees its window, and is there when somebody does")
    func hiddenWindow() throws {
        let scene = try Scene()
        scene.play()
        try scene.enqueue(0..<20)
        #expect(scene.wait { scene.queue.statistics.framesPresented > 0 })
        scene.tap.change { $0.isHidden = true }
        let committed = scene.tap.findings.commits
        // Two seconds of film; if each frame waited for an answer, it would take two minutes.
        let begin = MonotonicClock.shared.now()
        try scene.enqueue(20..<140)
        let taken = (MonotonicClock.shared.now() - begin).seconds
        #expect(taken < 60, "\(taken) s for 2 s of film")
        let dropped = scene.queue.statistics.dropped(.late)
        #expect(dropped > 60, "\(scene.queue.statistics)")
        // One a second, for a compositor that forgot to answer, and two for the begin and for a busy machine.
        #expect(scene.tap.findings.commits - committed <= Int(taken) + 3)
        scene.tap.change { $0.isHidden = false }
        let presented = scene.queue.statistics.framesPresented
        try scene.enqueue(140..<200)
        scene.queue.markEndOfStream()
        #expect(scene.wait { scene.count(of: .finished) == 1 })
        #expect(scene.queue.statistics.framesPresented > presented, "\(scene.queue.statistics)")
        #expect(scene.failures.isEmpty)
    }

    @Test("who sees the window again sees the frame of that time, and none of those before")
    func seenAgain() throws {
        let scene = try Scene()
        try scene.show(0)
        scene.tap.change { $0.isHidden = true }
        // The next is handed over and not answered, so that the window counts as hidden; the others have their time meanwhile.
        for number in 1...12 {
            scene.queue.enqueue(try scene.frames.frame(number, rate: 60, flags: .displayImmediately))
            #expect(scene.wait { scene.queue.count == 0 })
            if number == 1 { Thread.sleep(forTimeInterval: 0.2) }
        }
        let commits = scene.tap.findings.commits
        #expect(commits < 12 && scene.frames.inUse <= 4, "\(commits) commits, \(scene.frames.inUse) in use")
        scene.tap.change { $0.isHidden = false }
        #expect(scene.wait { scene.tap.findings.lastWord == TestFrames.word(12, 0) })
        #expect(scene.tap.findings.commits <= commits + 1)
        #expect(scene.wait { scene.queue.statistics.framesPresented >= 2 })
        scene.sink.stop()
        #expect(scene.frames.inUse == 0 && scene.failures.isEmpty)
    }

    @Test("the end of a film is told while nobody sees its window")
    func endsHidden() throws {
        let scene = try Scene()
        scene.play()
        try scene.enqueue(0..<10)
        #expect(scene.wait { scene.queue.statistics.framesPresented > 0 })
        scene.tap.change { $0.isHidden = true }
        try scene.enqueue(10..<30)
        scene.queue.markEndOfStream()
        #expect(scene.wait { scene.count(of: .finished) == 1 })
    }

    @Test("the user's wish to close is passed on and nothing else happens")
    func closeRequest() throws {
        let scene = try Scene()
        scene.play()
        try scene.enqueue(0..<10)
        #expect(scene.wait { scene.queue.statistics.framesPresented > 0 })
        scene.tap.change { $0.closeRequests = 1 }
        #expect(scene.wait { scene.count(of: .closeRequested) == 1 })
        let before = scene.queue.statistics.framesSubmitted
        try scene.enqueue(10..<60)
        #expect(scene.queue.statistics.framesSubmitted > before)
        #expect(scene.count(of: .closeRequested) == 1 && scene.failures.isEmpty)
    }

    @Test("a window that is dragged larger and smaller follows while the film runs")
    func resizing() throws {
        let scene = try Scene()
        scene.play()
        try scene.enqueue(0..<10)
        #expect(scene.wait { scene.queue.statistics.framesPresented > 0 })
        let sizes = (1...20).map { PixelSize(width: 200 + 17 * $0, height: 400 - 11 * $0) }
        for (index, size) in sizes.enumerated() {
            scene.tap.change { $0.sizes.append(size) }
            try scene.enqueue((10 + 3 * index)..<(13 + 3 * index))
        }
        #expect(scene.wait { scene.sizes.last == sizes.last })
        #expect(scene.sizes.count <= sizes.count + 1)
        #expect(scene.failures.isEmpty, "\(scene.failures)")
    }

    /// As a film that is paused when its window is made to cover the monitor: nothing comes after the one frame.
    @Test("a frame that is laid out anew before it was seen counts as seen")
    func laidOutBeforeSeen() throws {
        let weston = try PrivateWeston(.gl)
        let tap = try WireTap(to: weston.display)
        tap.change { $0.discardsSuperseded = true }
        let stage = try Stage(weston, sink: WaylandSink(display: tap.display))
        try stage.start()
        try stage.show(Quadrants(format: .yuv420p))
        weston.freeze(true)
        try stage.enqueueUnseen(Quadrants(format: .yuv420p))
        #expect(stage.wait { tap.findings.commits == 2 })
        // Twice, so that the answer to the second commit comes before the last one's, too.
        for width in [400, 480] {
            let before = tap.findings.surfaceCommits
            tap.change { $0.sizes = [PixelSize(width: width, height: 300)] }
            #expect(stage.wait { tap.findings.surfaceCommits == before + 2 })
        }
        weston.freeze(false)
        #expect(stage.wait { stage.queue.statistics.framesPresented == 2 })
        #expect(stage.queue.statistics.dropped(.late) == 0)
        try stage.show(Quadrants(format: .yuv420p))
        #expect(stage.queue.statistics.framesPresented == 3 && stage.queue.statistics.dropped(.late) == 0)
        stage.sink.stop()
        #expect(stage.inUse == 0 && stage.failures.isEmpty)
    }

    @Test("a window whose edge is dragged keeps the film's shape")
    func dragging() throws {
        let scene = try Scene()
        scene.play()
        try scene.enqueue(0..<10)
        #expect(scene.wait { scene.queue.statistics.framesPresented > 0 })
        scene.tap.change {
            $0.isDragging = true
            $0.sizes = [PixelSize(width: 400, height: 400), PixelSize(width: 800, height: 240)]
        }
        #expect(scene.wait { scene.sizes.last == PixelSize(width: 320, height: 240) })
        #expect(scene.sizes.dropFirst().first == PixelSize(width: 400, height: 300))
        #expect(scene.failures.isEmpty, "\(scene.failures)")
    }

    @Test("a compositor that stands still for a second holds up neither the film nor the end")
    func frozenCompositor() throws {
        let scene = try Scene()
        scene.play()
        try scene.enqueue(0..<10)
        #expect(scene.wait { scene.queue.statistics.framesPresented > 0 })
        scene.weston.freeze(true)
        try scene.enqueue(10..<70)
        scene.weston.freeze(false)
        try scene.enqueue(70..<100)
        scene.weston.freeze(true)
        let begin = MonotonicClock.shared.now()
        scene.sink.stop()
        #expect(MonotonicClock.shared.now() - begin < .milliseconds(900))
        #expect(scene.frames.inUse == scene.queue.count)
        scene.queue.cancel()
        scene.weston.freeze(false)
        #expect(scene.failures.isEmpty)
    }
}
