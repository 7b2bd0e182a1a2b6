import CAV
import Glibc
import Media
import SampleQueue
import Sandbox
import TestSupport
import Testing

@testable import Demuxing

/// A demuxer process that lies: each lie ends it, and none reaches what is not its film's.
@Suite struct DemuxerLinkTests {
    /// Both sides, with the test in the place of the process.
    struct Stage {
        let link: DemuxerLink
        let work: PacketSocket
        let cancellation = AssetCancellation()

        init(_ path: String = TestAssets.demo, deadline: HostSpan = .seconds(60), total: HostSpan = .seconds(60)) throws {
            let (ours, work) = try PacketSocket.pair(), (memory, _) = try PacketSocket.pair()
            self.work = work
            let film = try AssetBytes(path, options: AssetReaderOptions())
            link = try DemuxerLink(
                SandboxedProcess(work: ours, memory: memory), film: film, deadline: deadline, total: total, cancellation: cancellation)
        }

        func says(_ answer: DemuxerAnswer) throws {
            var writer = WireWriter()
            writer.put(answer)
            try work.send(writer)
        }

        func hears() throws -> DemuxerRequest? {
            guard case .message(let bytes, _) = try work.receive() else { return nil }
            return try DemuxerRequest(bytes[...])
        }
    }

    private static let sample = DemuxedSample(
        trackID: 0, presentationTime: .zero, decodeTime: .zero, duration: .invalid, sourceTimeBase: Ratio(1, 25), flags: .sync,
        packetFlags: .max, fileOffset: nil, offset: 0, byteCount: 4, sideByteCount: 0)

    @Test func `bytes of the film come into the window, and no other's`() throws {
        let stage = try Stage()
        let size = try #require(TextFile.bytes(of: TestAssets.demo)).count
        try stage.says(.bytes(source: 0, offset: Int64(size) - 10, count: 100))
        try stage.says(.bytes(source: 0, offset: Int64(size) + 10, count: 100))
        try stage.says(.done)
        #expect(try stage.link.next() == .done)
        #expect(try stage.hears() == .bytes(10))
        #expect(try stage.hears() == .bytes(0))
        try stage.says(.bytes(source: 1, offset: 0, count: 1))
        #expect(throws: ProcessEnd.self) { try stage.link.next() }
    }

    @Test func `a film that is no playlist opens nothing else`() throws {
        let stage = try Stage()
        for name in ["plain.mp4", "../README.md", "/etc/passwd", "http://127.0.0.1/", "file:plain.mp4"] { try stage.says(.other(name)) }
        try stage.says(.done)
        #expect(try stage.link.next() == .done)
        for _ in 0..<5 { #expect(try stage.hears() == .other(.refused)) }
    }

    @Test func `random bytes end it`() throws {
        var dice = Dice(seed: 0x1_1a75)
        for _ in 0..<200 {
            let stage = try Stage()
            var writer = WireWriter()
            writer.put(UInt8.random(in: 14...255, using: &dice))
            for _ in 0..<Int.random(in: 0...100, using: &dice) { writer.put(UInt8.random(in: 0...255, using: &dice)) }
            try stage.work.send(writer)
            #expect(throws: ProcessEnd.self) { try stage.link.next() }
        }
    }

    @Test func `silence ends it, a cancellation too`() throws {
        let silent = try Stage(deadline: .milliseconds(100))
        #expect { _ = try silent.link.next() } throws: { ($0 as? ProcessEnd)?.sentence == "hung and was ended" }
        let cancelled = try Stage()
        cancelled.cancellation.cancel()
        #expect(throws: ProcessEnd.self) { try cancelled.link.next() }
        #expect(cancelled.link.end(.gone, "film.mp4").code == .cancelled)
    }

    @Test func `no more samples come than one request is answered with, not even empty ones`() throws {
        let stage = try Stage()
        var sample = Self.sample
        sample.byteCount = 0
        try stage.link.ask(.read)
        for _ in 0...DemuxerAnswer.mostSamples { try stage.says(.sample(sample)) }
        for _ in 0..<DemuxerAnswer.mostSamples { #expect(try stage.link.next() == .sample(sample)) }
        #expect(throws: ProcessEnd.self) { try stage.link.next() }
    }

    @Test func `samples that somebody keeps are limited, those that are gone are not`() throws {
        let tray = try SharedBytes(count: DemuxerAnswer.trayByteCount), kept = KeptSamples(limit: 100_000)
        var unpacking = Unpacking(kept), sample = Self.sample
        for byteCount in [0, 1000] {
            sample.byteCount = byteCount
            for _ in 0..<1000 { _ = try unpacking.sample(sample, of: tray, .other("x")) }
            #expect(kept.used == 0)
            var held: [SampleBuffer] = []
            #expect(throws: ProcessEnd.self) { while true { held.append(try unpacking.sample(sample, of: tray, .other("x"))) } }
            #expect(held.count > 10 && held.count <= 100)
        }
        #expect(kept.used == 0)
    }

    @Test func `messages that come slowly do not prolong its time`() throws {
        let stage = try Stage(total: .milliseconds(300))
        let thread = LoopThread(name: "liar") { [work = stage.work] in
            let limit = MonotonicClock.shared.now() + .seconds(60)
            var writer = WireWriter()
            writer.put(.closed(source: 9))
            while MonotonicClock.shared.now() < limit, (try? work.send(writer)) != nil { usleep(50_000) }
            work.shutDown()
        }
        #expect { _ = try stage.link.next() } throws: { ($0 as? ProcessEnd)?.sentence == "hung and was ended" }
        stage.link.process.end()
        thread.join()
    }

    @Test func `a sample lies on the tray, and nothing lets a decoder trust it`() throws {
        let tray = try SharedBytes(count: DemuxerAnswer.trayByteCount)
        unsafe tray.base.copyMemory(from: [1, 2, 3, 4] as [UInt8], byteCount: 4)
        var unpacking = Unpacking()
        let format = MediaFormat.other("subrip")
        let taken = try unpacking.sample(Self.sample, of: tray, format)
        // What the process writes afterwards is not seen.
        unsafe tray.base.storeBytes(of: 99, as: UInt8.self)
        guard case .compressed(let block, _) = taken.content else { return }
        #expect(unsafe block.withUnsafeBytes { unsafe Array($0) } == [1, 2, 3, 4])
        #expect(unsafe block.packet.pointee.flags & 8 == 0, "AV_PKT_FLAG_TRUSTED")
        func refuses(_ change: (inout DemuxedSample) -> Void) {
            var sample = Self.sample
            change(&sample)
            #expect(throws: ProcessEnd.self) { _ = try unpacking.sample(sample, of: tray, format) }
        }
        refuses { $0.offset = tray.count - 3 }
        refuses { $0.byteCount = tray.count + 1 }
        // Side data must add up.
        refuses { ($0.byteCount, $0.sideByteCount) = (0, 3) }
        unsafe tray.base.storeBytes(of: 0xffff_ffff, toByteOffset: 4, as: UInt32.self)
        refuses { ($0.byteCount, $0.sideByteCount) = (0, 8) }
    }

    @Test func `a sample in parts ends where it says, and before memory does`() throws {
        let tray = try SharedBytes(count: DemuxerAnswer.trayByteCount)
        var unpacking = Unpacking()
        try unpacking.add(tray.count, of: tray)
        var sample = Self.sample
        sample.byteCount = tray.count + 4
        #expect(try unpacking.sample(sample, of: tray, .other("x")).byteCount == tray.count + 4)
        try unpacking.add(8, of: tray)
        #expect(throws: ProcessEnd.self) { _ = try unpacking.sample(Self.sample, of: tray, .other("x")) }
        #expect(throws: ProcessEnd.self) { while true { try unpacking.add(tray.count, of: tray) } }
    }
}
