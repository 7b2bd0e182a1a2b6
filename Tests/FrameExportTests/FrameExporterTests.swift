import CLinux
import Glibc
import Media
import SurfacePool
import TestSupport
import Testing

@testable import FrameExport

/// Pull and push, the budget, and what a flush does.
@Suite struct FrameExporterTests {
    private func exporter(_ stage: ExportStage, _ configuration: FrameExporterConfiguration = FrameExporterConfiguration()) -> FrameExporter {
        let exporter = FrameExporter(configuration)
        exporter.connect(to: stage.timebase, isPaced: true)
        return exporter
    }

    @Test func `the renderer gets the frame of the time it asks for, and the same again until the next is due`() throws {
        let stage = ExportStage(), exporter = exporter(stage)
        #expect(exporter.pull(stage.moment(9)) == nil)
        for _ in 0..<6 { exporter.offer(stage.next()!.copy()) }
        let table: [(at: HostTime, number: UInt8?, isNew: Bool)] = [
            (stage.moment(0) - .milliseconds(1), nil, false), (stage.moment(0), 0, true), (stage.moment(0) + .milliseconds(39), 0, false),
            (stage.moment(1), 1, true), (stage.moment(4) + .milliseconds(3), 4, true), (stage.moment(2), 4, false), (stage.moment(99), 5, true),
            (stage.moment(999), 5, false),
        ]
        for row in table {
            let held = exporter.pull(row.at)
            #expect(held?.number == row.number && (held?.isNew ?? false) == row.isNew)
            guard let held else { continue }
            #expect(held.description.hostTime == stage.moment(Int(row.number ?? 0)))
            #expect(held.withFrame { $0.plane(0).fd >= 0 && $0.plane(1).offset > 0 && $0.acquireFence() == nil } == true)
        }
        #expect(exporter.statistics.delivered == 4 && exporter.statistics.late == 2)
    }

    @Test func `while the film stands the frame of its time is given`() {
        let stage = ExportStage(runs: false), exporter = exporter(stage)
        for _ in 0..<3 { exporter.offer(stage.next()!.copy()) }
        #expect(exporter.pull(.distantFuture)?.number == 0)
        stage.timebase.setTime(MediaTime(value: 1, timescale: 25))
        #expect(exporter.pull(.distantPast)?.number == 1)
    }

    /// Another thread's seek between two steps of a pull: by the clock before, the newest frame would be due.
    @Test func `a clock that was read before a flush decides nothing about the frames after it`() {
        let stage = ExportStage(runs: false)
        var state = FrameExporterState(FrameExporterConfiguration())
        let epoch = state.epoch
        let before = TimebaseMapping(hostAnchor: stage.start, mediaAnchor: MediaTime(value: 100, timescale: 1), rate: 0)
        let after = TimebaseMapping(hostAnchor: stage.start, mediaAnchor: .zero, rate: 0)
        _ = state.flush()
        for _ in 0..<4 { _ = state.append(stage.next()!.copy()) }
        let first = Self.word(state.advance(to: .distantFuture, before, in: epoch, isPaced: true))
        #expect(first == "outdated" && state.waitingCount == 4)
        let second = Self.word(state.advance(to: .distantFuture, after, in: state.epoch, isPaced: true))
        #expect(second == "settled" && state.waitingCount == 3)
    }

    private static func word(_ advance: consuming FrameExporterState.Advance) -> String {
        switch consume advance {
        case .outdated: return "outdated"
        case .passed(let frame): return "passed \(frame.sequence)"
        case .settled: return "settled"
        }
    }

    @Test func `a held frame keeps its memory, a client over budget loses frames alone, and the decoder never starves`() {
        let stage = ExportStage(slots: 8)
        let exporter = exporter(stage, FrameExporterConfiguration(budget: 2, bound: 2))
        exporter.offer(stage.next()!.copy())
        let first = exporter.pull(stage.moment(0))!
        exporter.offer(stage.next()!.copy())
        let second = exporter.pull(stage.moment(1))!
        for number in 2..<40 {
            guard let frame = stage.next() else {
                Issue.record("the pool ran dry at frame \(number)")
                return
            }
            exporter.offer(frame.copy())
            #expect(exporter.pull(stage.moment(number)) == nil)
        }
        #expect(first.number == 0 && second.number == 1)
        #expect(exporter.statistics.overBudget == 38)
        first.release()
        #expect(exporter.pull(stage.moment(39))?.number == 39)
        #expect(second.number == 1)
        second.release()
        exporter.cancel()
        #expect(stage.pool.statistics.inUse == 0)
    }

    @Test func `copies for a client over its budget are counted`() {
        let stage = ExportStage(), exporter = exporter(stage, FrameExporterConfiguration(budget: 1, overBudget: .copyOut))
        for _ in 0..<3 { exporter.offer(stage.next()!.copy()) }
        let held = exporter.pull(stage.moment(0))!
        let copy = exporter.pull(stage.moment(1))!
        #expect(copy.isCopy && copy.number == 1 && !held.isCopy)
        #expect(exporter.pull(stage.moment(2)) == nil, "as many copies as the budget")
        #expect(exporter.statistics.bytesCopied == ExportStage.layout.byteCount)
        held.release()
        copy.release()
    }

    /// Memory that only its driver can read, which gives bytes of one value.
    private final class TiledMemory: SurfaceMemoryOwner {
        func read(_ layout: SurfaceLayout, into target: UnsafeMutableRawPointer) -> Bool {
            unsafe UnsafeMutableRawBufferPointer(start: target, count: layout.byteCount).initializeMemory(as: UInt8.self, repeating: 7)
            return true
        }
    }

    /// An NV12 frame whose third plane is of a compression, as some drivers lay it out.
    private func tiledFrame(_ number: UInt64, isReadable: Bool) throws -> VideoFrame {
        let plain = SurfaceLayout(format: .nv12, covering: PixelSize(width: 64, height: 16))
        let layout = SurfaceLayout(
            format: .nv12, size: plain.size, modifier: FormatModifier(rawValue: 0x0100_0000_0000_0001),
            planes: [plain.plane(0), plain.plane(1), plain.plane(0)], byteCount: plain.byteCount)
        let descriptor = OwnedFD(adopting: unsafe clinux_memfd("tiled"))
        #expect(ftruncate(descriptor.rawValue, layout.byteCount) == 0 && clinux_memfd_seal_shrink(descriptor.rawValue) == 0)
        let use: SurfaceUse
        if isReadable {
            let surface = try Surface.adopting(descriptor, layout, owner: TiledMemory())
            use = surface.share {}
            surface.endWriting()
        } else {
            use = try SurfaceUse(SurfaceMemory(memfd: descriptor), layout)
        }
        return VideoFrame(
            use: use, visible: PixelRect(PixelSize(width: 64, height: 16)),
            presentationTime: MediaTime(value: Int64(number), timescale: 25), duration: MediaTime(value: 1, timescale: 25), sequence: number)
    }

    @Test func `a copy of a tiled frame is linear, and says so`() throws {
        let stage = ExportStage(), exporter = exporter(stage, FrameExporterConfiguration(budget: 1, overBudget: .copyOut))
        for number in 0..<2 { exporter.offer(try tiledFrame(UInt64(number), isReadable: true)) }
        let held = try #require(exporter.pull(stage.moment(0))), copy = try #require(exporter.pull(stage.moment(1)))
        #expect(!held.isCopy && held.description.modifier != .linear)
        #expect(copy.isCopy && copy.number == 7)
        #expect(copy.description.modifier == .linear && copy.description.layout.planeCount == 2)
        held.release()
        copy.release()
    }

    @Test func `there is no copy of a frame that the CPU cannot read`() throws {
        let stage = ExportStage(), exporter = exporter(stage, FrameExporterConfiguration(budget: 1, overBudget: .copyOut))
        for number in 0..<2 { exporter.offer(try tiledFrame(UInt64(number), isReadable: false)) }
        let held = try #require(exporter.pull(stage.moment(0)))
        #expect(exporter.pull(stage.moment(1)) == nil)
        #expect(exporter.statistics.bytesCopied == 0)
        held.release()
    }

    @Test func `a fence keeps the memory after the release`() throws {
        let stage = ExportStage(slots: 1), exporter = exporter(stage)
        exporter.offer(stage.next()!.copy())
        let frame = exporter.pull(stage.moment(0))!
        exporter.flush()
        let device = try EventFD()
        frame.take()!.release(after: try device.fence())
        exporter.cancel()
        #expect(stage.next() == nil)
        device.signal()
        let writer = try stage.pool.acquire(waitingUntil: MonotonicClock.shared.now() + .seconds(60))
        let isFree = writer != nil
        #expect(isFree)
    }

    @Test func `the last of all frames comes also to a client that held too many at the end`() {
        let stage = ExportStage()
        let exporter = exporter(stage, FrameExporterConfiguration(budget: 1, policy: .makeDecoderWait, delivery: .whenDecoded))
        for _ in 0..<2 { exporter.offer(stage.next()!.copy()) }
        exporter.markEndOfStream()
        let first = exporter.pull(stage.moment(0))
        #expect(first?.number == 0 && exporter.pull(stage.moment(1)) == nil && !exporter.isOver)
        first?.release()
        #expect(exporter.pull(stage.moment(1))?.number == 1 && exporter.isOver)
    }

    @Test func `where every frame counts the decoder waits, and a flush ends its wait`() async {
        let stage = ExportStage()
        let exporter = exporter(stage, FrameExporterConfiguration(bound: 2, policy: .makeDecoderWait, delivery: .whenDecoded))
        let frames = Monitor((0..<12).map { _ in stage.next()! })
        let decoder = LoopThread(name: "test-decode") {
            for frame in frames.withLock({ $0 }) { exporter.offer(frame.copy()) }
            exporter.markEndOfStream()
        }
        var numbers: [UInt8?] = []
        for await held in exporter.frames { numbers.append(held.number) }
        decoder.join()
        let all: [UInt8?] = Array(0..<UInt8(12))
        #expect(numbers == all)
        #expect(exporter.statistics.late == 0)

        let stuck = LoopThread(name: "test-decode") { for frame in frames.withLock({ $0 }) { exporter.offer(frame.copy()) } }
        while exporter.statistics.offered < 14 { await Task.yield() }
        exporter.cancel()
        stuck.join()
        #expect(exporter.statistics.offered == 14)
    }

    @Test func `asynchronous code gets a frame at its time, and the next when there is one`() async {
        let stage = ExportStage(runs: false), exporter = exporter(stage)
        let start = MonotonicClock.shared.now() + .milliseconds(30)
        stage.timebase.setRate(1, time: .zero, atHostTime: start)
        exporter.offer(stage.next()!.copy())
        let first = await exporter.frames.makeAsyncIterator().next()
        #expect(first?.number == 0 && MonotonicClock.shared.now() >= start)
        let task = Task { await exporter.frames.makeAsyncIterator().next()?.number }
        exporter.offer(stage.next()!.copy())
        #expect(await task.value == 1)
    }

    @Test func `an asynchronous wait ends with its task`() async {
        let stage = ExportStage(), exporter = exporter(stage)
        let task = Task { await exporter.frames.makeAsyncIterator().next() == nil }
        task.cancel()
        #expect(await task.value)
    }
}
