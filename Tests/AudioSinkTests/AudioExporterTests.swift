import Foundation
import Media
import TestSupport
import Testing

@testable import AudioSink

/// The frames between the renderer and a program that is the device.
@Suite struct ProgramRingTests {
    /// 1000 frames a second, so that milliseconds are frames.
    private var ring = ProgramRing(rate: 1000, channelCount: 2, capacity: 100)

    private mutating func write(_ first: Int, _ count: Int) -> Int {
        let samples = (first..<first + count).flatMap { [Float($0), Float(-$0)] }
        return unsafe samples.withUnsafeBufferPointer { unsafe ring.write($0) }
    }

    /// Of each frame the first channel; a frame whose second is not its opposite counts as -1.
    private mutating func read(_ count: Int, heardAt: Int64, now: Int64) -> [Int] {
        var samples = [Float](repeating: 99, count: count * 2)
        _ = unsafe samples.withUnsafeMutableBufferPointer { unsafe ring.read(into: $0, heardAt: Self.time(heardAt), now: Self.time(now)) }
        return (0..<count).map { samples[$0 * 2] == -samples[$0 * 2 + 1] ? Int(samples[$0 * 2]) : -1 }
    }

    private static func time(_ milliseconds: Int64) -> HostTime { HostTime(nanoseconds: milliseconds * 1_000_000) }

    @Test mutating func `nothing is heard before the start, and a program that does not read is no device`() {
        #expect(ring.position(at: Self.time(0)).state == .suspended)
        #expect(write(1, 10) == 10)
        #expect(read(5, heardAt: 30, now: 10) == [0, 0, 0, 0, 0])
        #expect(ring.position(at: Self.time(20)).state == .running)
        #expect(ring.position(at: Self.time(510)).state == .suspended)
        #expect(ring.isRead(at: Self.time(509)) && !ring.isRead(at: Self.time(510)))
    }

    @Test mutating func `frames come once and in order, round the end of the memory`() {
        ring.isRunning = true
        var next = 1, expected = 1
        for round in 0..<20 {
            #expect(write(next, 40) == 40)
            next += 40
            #expect(read(40, heardAt: 0, now: 0) == Array(expected..<expected + 40), "round \(round)")
            expected += 40
        }
        #expect(write(1, 150) == 100, "as many as there is room for")
    }

    @Test mutating func `the delay is what lies in the ring and in the program's device, which passes with time`() {
        _ = write(1, 50)
        ring.isRunning = true
        _ = read(10, heardAt: 1030, now: 1000)
        // 40 in the ring; the next one of them is heard at 1040.
        #expect(ring.position(at: Self.time(1000)) == DevicePosition(state: .running, delay: 80, available: 60, time: Self.time(1000)))
        #expect(ring.position(at: Self.time(1015)).delay == 65)
        #expect(ring.position(at: Self.time(1100)).delay == 40, "a program that is late")
    }

    @Test mutating func `a program that wants more than there is has run dry, until the next piece`() {
        _ = write(1, 3)
        ring.isRunning = true
        #expect(read(5, heardAt: 0, now: 0) == [1, 2, 3, 0, 0])
        #expect(ring.position(at: Self.time(1)).state == .underrun)
        ring.prepare()
        #expect(ring.position(at: Self.time(1)) == DevicePosition(state: .running, delay: 4, available: 100, time: Self.time(1)))
    }
}

/// Everything, in order.
@Suite struct AudioExporterTests {
    private let sound = CountingSound()
    private let timebase = Timebase()

    private func make() throws -> (AudioExporter, AudioRenderer) {
        let exporter = try AudioExporter(.everything())
        #expect(exporter.claim())
        let renderer = try AudioRenderer(format: sound.format, source: sound, deviceName: "exporter", timebase: timebase, exporter: exporter)
        renderer.start()
        return (exporter, renderer)
    }

    private static func soon() -> HostTime { MonotonicClock.shared.now() + .seconds(60) }

    /// Takes blocks to the end; the frames of the film that they hold, which must follow each other.
    private func takeAll(_ exporter: AudioExporter) -> (range: Range<Int>?, breaks: Int, faults: Int) {
        var range: Range<Int>?, breaks = 0, faults = 0
        while let block = exporter.wait(until: Self.soon()) {
            let first = Int((block.presentationTime.seconds * Double(block.sampleRate)).rounded())
            for (index, value) in block.samples.enumerated() where Int(value * 8_388_608) != first + index { faults += 1 }
            if block.isDiscontinuous { breaks += 1 }
            if let known = range, known.upperBound != first { faults += 1 }
            range = (range?.lowerBound ?? first)..<(first + block.frameCount)
        }
        return (range, breaks, faults)
    }

    @Test func `a program gets every sample once, whatever the clock does`() throws {
        let (exporter, renderer) = try make()
        sound.enqueue(2, 12)
        sound.end()
        let taken = takeAll(exporter)
        let frames = 96_000..<(96_000 + (480_000 + 1023) / 1024 * 1024)
        #expect(taken == (frames, 1, 0))
        #expect(exporter.isOver && renderer.hasFinished)
        renderer.stop()
        exporter.release()
    }

    @Test func `after a seek nothing older comes, not even the end`() throws {
        let (exporter, renderer) = try make()
        sound.enqueue(0, 3)
        sound.end()
        #expect(takeAll(exporter).range?.lowerBound == 0)
        exporter.expect(7)
        #expect(!exporter.isOver, "what comes after the seek is not known yet")
        #expect(exporter.wait(until: MonotonicClock.shared.now() + .milliseconds(10)) == nil)
        renderer.flush(serial: 7)
        sound.enqueue(1, 2)
        sound.end()
        let first = try #require(exporter.wait(until: Self.soon()))
        #expect(first.serial == 7 && first.isDiscontinuous && first.presentationTime == MediaTime(value: 1, timescale: 1))
        #expect(takeAll(exporter).faults == 0 && exporter.isOver)
        // A seek that fails leaves the film where it was.
        exporter.expect(8)
        #expect(!exporter.isOver)
        exporter.adopt(8)
        #expect(exporter.isOver)
        exporter.expect(9)
        exporter.withdraw(to: 8)
        #expect(exporter.isOver)
        renderer.stop()
    }

    @Test func `a wait ends when the film does, and one film is served at a time`() throws {
        let (exporter, renderer) = try make()
        #expect(!exporter.claim())
        let ended = Monitor(false)
        let thread = LoopThread(name: "client") {
            _ = exporter.wait()
            ended.change { $0 = true }
        }
        renderer.stop()
        exporter.release()
        let _: Void? = ended.wait(until: Self.soon()) { $0 ? () : nil }
        #expect(ended.withLock { $0 } && exporter.isOver)
        thread.join()
        #expect(exporter.claim() && !exporter.isOver)
        exporter.release()
    }

    @Test func `a shape that no sound has is refused`() {
        #expect(throws: AudioError.self) { try AudioExporter(.everything(sampleRate: 2_000_000)) }
        #expect(throws: AudioError.self) { try AudioExporter(.asHeard(sampleRate: 48_000, channelCount: 65)) }
        #expect(throws: AudioError.self) { try AudioExporter(.asHeard(sampleRate: 0, channelCount: 2)) }
        #expect(throws: AudioError.self) { try AudioExporter(.everything(channelCount: -1)) }
    }
}
