import DisplaySink
import Foundation
import Glibc
import KMSSink
import Media
import Player
import SinkConformance
import SurfacePool
import TestSupport
import Testing

/// Whether what a monitor shows is written while the device may read it: from the commit to the end of the flip that replaces it.
@Suite("Memory on a monitor", .serialized, .enabled(if: Guest.isOne, "only in the lab's virtual machine")) struct GuestMemoryTests {
    /// Compares each frame's memory at its commit with the same at the end of its use.
    final class Checker: SinkProbe {
        struct Counts: Sendable {
            var commits = 0
            var ends = 0
            var changes = 0
            var bytes = 0
            var open: [UInt64: [UInt8]] = [:]
        }

        let counts = Monitor(Counts())

        func committed(use: UInt64, _ memory: [UInt8]) {
            counts.change {
                $0.commits += 1
                $0.bytes += memory.count
                $0.open[use] = memory
            }
        }

        func ended(use: UInt64, _ memory: [UInt8]) {
            counts.change {
                $0.ends += 1
                guard let before = $0.open.removeValue(forKey: use), before.count == memory.count else {
                    $0.changes += 1
                    return
                }
                if unsafe memcmp(before, memory, memory.count) != 0 { $0.changes += 1 }
            }
        }
    }

    private static let isFull = ProcessInfo.processInfo.environment["LAB_FULL"] == "1"

    /// Straight on a plane, and converted into the device's own memory.
    @Test("is not written while it is shown, wherever the film is sought", arguments: [true, false]) func reuse(isDirect: Bool) throws {
        let commits = Self.isFull ? isDirect ? 5000 : 500 : isDirect ? 100 : 12
        let checker = Checker()
        let sink = try KMSSink(
            KMSSink.Options(connectors: [isDirect ? Guest.vkms : Guest.virtio], mode: #require(ModeRequest(text: isDirect ? "640x480" : "auto"))),
            probe: checker)
        var configuration = PlayerConfiguration()
        configuration.playsAudio = false
        // On a busy machine the end of the film may come before the frames that are waited for.
        configuration.loops = true
        let player = Player(sink: sink, configuration: configuration) { _ in }
        try player.open(TestAssets.path("demo.mp4"))
        player.play()
        var dice = Dice(seed: 5000), seeks = 0
        let limit = MonotonicClock.shared.now() + .seconds(1200)
        func committed() -> Int { checker.counts.withLock { $0.commits } }
        while committed() < commits, MonotonicClock.shared.now() < limit {
            // From one frame after a seek up to a second of film.
            let goal = committed() + Int.random(in: 1...30, using: &dice)
            _ = Polling.until(within: limit - MonotonicClock.shared.now()) { committed() >= goal }
            player.seek(to: MediaTime(value: Int64.random(in: 0..<240, using: &dice), timescale: 30))
            seeks += 1
        }
        player.close()
        #expect((sink.bytesCopied == 0) == isDirect)
        let end = checker.counts.withLock { $0 }
        #expect(end.commits >= commits, "\(end.commits) frames in 20 minutes")
        #expect(end.ends == end.commits && end.open.isEmpty)
        #expect(end.changes == 0)
        try #require(end.commits > 0)
        print("memory: \(end.commits) commits of \(end.bytes / end.commits) bytes, \(seeks) seeks, \(end.changes) changes")
    }

    @Test("that is written is found by this check") func broken() throws {
        let checker = Checker()
        let sink = try KMSSink(KMSSink.Options(connectors: [Guest.vkms], mode: #require(ModeRequest(text: "640x480"))), probe: checker)
        let queue = PresentationQueue(capacity: 4, timebase: Timebase()), frames = TestFrames(allocator: sink.preferredAllocator)
        try sink.start(queue) { _ in }
        let first = try frames.frame(0, flags: .displayImmediately), surface = first.surface
        queue.enqueue(first)
        func wait(for count: Int) throws {
            try #require(Polling.until { checker.counts.withLock { $0.commits } >= count } && checker.counts.withLock { $0.commits } == count)
        }
        try wait(for: 1)
        // As a decoder would that was given the memory too early.
        let memory = unsafe mmap(nil, 64, PROT_READ | PROT_WRITE, MAP_SHARED, surface.fd, 0)
        try #require(unsafe memory != MAP_FAILED)
        unsafe memory!.storeBytes(of: memory!.load(as: UInt8.self) ^ 1, as: UInt8.self)
        unsafe munmap(memory, 64)
        queue.enqueue(try frames.frame(1, flags: .displayImmediately))
        try wait(for: 2)
        sink.stop()
        #expect(checker.counts.withLock { $0.changes } == 1)
    }
}
