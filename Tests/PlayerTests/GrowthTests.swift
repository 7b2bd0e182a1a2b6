import DisplaySink
import Foundation
import Media
import Player
import TestSupport
import Testing

/// A kiosk plays the same films for a year.
@Suite struct GrowthTests {
    @Test func `plays, a thousand with --full, leave descriptors and memory as they were`() async {
        await #expect(processExitsWith: .success) {
            func playOnce() throws {
                let ended = Monitor(false)
                let player = Player(sink: HeadlessSink(isUntimed: true)) { event in
                    if case .ended = event { ended.change { $0 = true } }
                }
                try player.open(TestAssets.path("short.mp4"))
                let isDone = ended.wait(until: MonotonicClock.shared.now() + .seconds(60)) { $0 ? true : nil }
                player.close()
                try #require(isDone == true, "a play did not end")
                try #require(player.statistics.framesPresented > 0, "a play showed nothing")
            }
            func descriptors() -> Int { OpenDescriptors.count }
            func residentKiB() -> Int {
                let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
                let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
                return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
            }
            for _ in 0..<TestExtent.rounds(60, full: 100, sanitized: 20) { try playOnce() }
            let before = (descriptors: descriptors(), memory: residentKiB())
            for _ in 0..<TestExtent.rounds(240, full: 900, sanitized: 80) { try playOnce() }
            let after = (descriptors: descriptors(), memory: residentKiB())
            #expect(after.descriptors <= before.descriptors + 2)
            // Sanitizers keep what was freed; that is no growth of ours.
            let most = TestExtent.isSanitized ? Int.max : before.memory + 6 * 1024
            #expect(after.memory <= most, "KiB")
        }
    }
}
