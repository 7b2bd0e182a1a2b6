import Glibc
import Media
import SurfacePool
import TestSupport
import Testing

@testable import FrameExport

/// What a client is told without a thread of its own.
@Suite struct FrameAvailableTests {
    private func exporter(_ stage: ExportStage, _ configuration: FrameExporterConfiguration) -> FrameExporter {
        let exporter = FrameExporter(configuration)
        exporter.connect(to: stage.timebase, isPaced: true)
        return exporter
    }

    @Test func `every frame can be fetched on the thread that brings it`() {
        let stage = ExportStage(slots: 4)
        let exporter = exporter(stage, FrameExporterConfiguration(budget: 1, bound: 1, policy: .makeDecoderWait, delivery: .whenDecoded))
        let numbers = Monitor<[UInt8?]>([]), threads = Monitor<Set<UInt>>([])
        exporter.onFrameAvailable { [unowned exporter] in
            threads.withLock { _ = $0.insert(UInt(pthread_self())) }
            while let frame = exporter.waitForFrame(until: .distantPast) {
                let number = HeldFrame(frame).number
                numbers.withLock { $0.append(number) }
            }
        }
        // With room for one, and for one in the client's hands: nobody but the handler makes room.
        for _ in 0..<20 { exporter.offer(stage.next()!.copy()) }
        exporter.markEndOfStream()
        let all: [UInt8?] = Array(0..<UInt8(20)), found = numbers.withLock { $0 }
        #expect(found == all)
        #expect(threads.withLock { $0 } == [UInt(pthread_self())] && exporter.isOver)
    }

    @Test func `the handler is called for frames, the end, a flush and the clock, and no more when it has been removed`() {
        let stage = ExportStage(runs: false), exporter = exporter(stage, FrameExporterConfiguration()), calls = Monitor(0)
        exporter.onFrameAvailable { calls.withLock { $0 += 1 } }
        let events: [() -> Void] = [
            { exporter.offer(stage.next()!.copy()) }, { exporter.markEndOfStream() }, { exporter.flush() },
            { stage.timebase.setRate(1, time: .zero, atHostTime: stage.start) }, { exporter.cancel() },
        ]
        for event in events {
            let before = calls.withLock { $0 }
            event()
            #expect(calls.withLock { $0 } > before)
        }
        exporter.resume()
        exporter.onFrameAvailable(nil)
        let before = calls.withLock { $0 }
        exporter.offer(stage.next()!.copy())
        #expect(calls.withLock { $0 } == before)
    }

    @Test func `a handler is not running any more when it has been replaced`() {
        let stage = ExportStage(), exporter = exporter(stage, FrameExporterConfiguration()), isInside = Monitor(false), mayLeave = Monitor(false)
        exporter.onFrameAvailable {
            isInside.change { $0 = true }
            let _: Void? = mayLeave.wait { $0 ? () : nil }
            isInside.change { $0 = false }
        }
        let frame = Monitor(stage.next())
        let decoder = LoopThread(name: "test-decode") { exporter.offer(frame.withLock { $0 }!.copy()) }
        let _: Void? = isInside.wait { $0 ? () : nil }
        let leaving = LoopThread(name: "test-leave") { mayLeave.change { $0 = true } }
        exporter.onFrameAvailable(nil)
        #expect(!isInside.withLock { $0 })
        decoder.join()
        leaving.join()
    }

    @Test func `a fence that signals calls the handler: there is room for another frame`() throws {
        let stage = ExportStage(), device = try EventFD(), calls = Monitor(0)
        let exporter = exporter(stage, FrameExporterConfiguration(budget: 1, bound: 1, policy: .makeDecoderWait, delivery: .whenDecoded))
        exporter.offer(stage.next()!.copy())
        switch exporter.waitForFrame(until: .distantPast) {
        case .some(let frame): frame.release(after: try device.fence())
        case .none: Issue.record("no frame came")
        }
        exporter.offer(stage.next()!.copy())
        let isEarly = exporter.waitForFrame(until: .distantPast) != nil
        #expect(!isEarly, "more than the budget")
        exporter.onFrameAvailable { calls.change { $0 += 1 } }
        device.signal()
        let _: Void? = calls.wait { $0 > 0 ? () : nil }
        let isHere = exporter.waitForFrame(until: .distantPast) != nil
        #expect(isHere)
    }

    @Test func `a renderer that sleeps knows until when`() {
        let stage = ExportStage(runs: false), exporter = exporter(stage, FrameExporterConfiguration())
        #expect(exporter.nextTime == nil, "nothing waits")
        for _ in 0..<3 { exporter.offer(stage.next()!.copy()) }
        #expect(exporter.nextTime == .distantPast, "the frame at which the film stands")
        #expect(exporter.pull(.distantFuture)?.number == 0)
        #expect(exporter.nextTime == nil, "the film stands still")
        stage.timebase.setRate(1, time: .zero, atHostTime: stage.start)
        #expect(exporter.nextTime == stage.moment(1))
        #expect(exporter.pull(stage.moment(1))?.number == 1)
        #expect(exporter.nextTime == stage.moment(2))
        exporter.connect(to: stage.timebase, isPaced: false)
        #expect(exporter.nextTime == .distantPast, "nothing waits for a clock")
    }
}
