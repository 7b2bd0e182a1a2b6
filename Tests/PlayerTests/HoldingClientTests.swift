import Decoding
import DisplaySink
import Foundation
import FrameExport
import Media
import Player
import Sandbox
import TestSupport
import Testing

/// A client that keeps every third frame for longer than the player can spare it.
@Suite struct HoldingClientTests {
    private struct Findings: Sendable {
        var received = 0, held = 0, changed = 0, copies = 0
        /// Frames that are to be held, and `held`: those that have been.
        var taken = 0
    }

    private static func checksum(_ frame: borrowing ExportedFrame) -> Int? {
        unsafe frame.withUnsafeBytes { bytes in
            var hasher = Hasher()
            unsafe hasher.combine(bytes: bytes)
            return hasher.finalize()
        }
    }

    /// Sixty frames a second: the demo at twice its speed.
    @Test(.measuresTime, arguments: [SandboxPolicy.off, .decoder])
    func `frames held for 200 ms stay as they were, the film plays on, and copies are counted`(_ policy: SandboxPolicy) throws {
        #expect(try withinAttempts { try played(policy) } == [])
    }

    private func played(_ policy: SandboxPolicy) throws -> [String] {
        let exporter = FrameExporter(FrameExporterConfiguration(budget: 3, overBudget: .copyOut))
        let findings = Monitor(Findings()), ended = Monitor(false)
        let later = DispatchQueue(label: "holding")
        let client = exporter.deliver { frame in
            let isThird = findings.withLock { findings in
                findings.received += 1
                if frame.isCopy { findings.copies += 1 }
                return findings.received % 3 == 0
            }
            guard isThird else { return frame.release() }
            findings.withLock { $0.taken += 1 }
            let before = Self.checksum(frame), held = HeldFrame(frame)
            later.asyncAfter(deadline: .now() + .milliseconds(200)) {
                let after = held.withFrame { Self.checksum($0) } ?? nil
                findings.change { findings in
                    findings.held += 1
                    if before == nil || before != after { findings.changed += 1 }
                }
                held.take()?.release()
            }
        }
        var configuration = PlayerConfiguration()
        configuration.playsAudio = false
        configuration.rate = 2
        configuration.exporters = [exporter]
        configuration.sandbox.policy = policy
        configuration.sandbox.decoderPath = BuiltPrograms.folder + "/scanout-decoder"
        let player = Player(sink: HeadlessSink(), configuration: configuration) { event in
            if case .ended = event { ended.change { $0 = true } }
        }
        try player.open(TestAssets.demo)
        #expect(ended.wait(until: MonotonicClock.shared.now() + .seconds(60)) { $0 ? true : nil } == true, "the film stands still")
        player.close()
        client.join()
        // The last frames are looked at 200 ms after they came.
        #expect(Polling.until { findings.withLock { $0.held == $0.taken } })
        let seen = findings.withLock { $0 }, statistics = player.statistics
        #expect(seen.changed == 0 && statistics.framesDecoded == 300, "\(seen) \(statistics)")
        #expect(statistics.framesDropped.first { $0.reason == "outOfSurfaces" }?.count == 0)
        #expect(seen.copies > 0 && exporter.statistics.bytesCopied > 0, "\(exporter.statistics)")
        let isInTime = seen.held > 50 && statistics.framesPresented > 200
        return isInTime ? [] : ["\(seen.held) held, \(statistics.framesPresented) presented"]
    }
}
