import DisplaySink
import Foundation
import Media
import Player
import TestSupport
import Testing

/// A kiosk plays the same films for a year.
@Suite struct GrowthTests {
    @Test func `a thousand plays leave descriptors and memory as they were`() async {
        let outcome = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            func playOnce() throws {
                let ended = Monitor(false)
                let player = Player(sink: HeadlessSink(isUntimed: true)) { event in
                    if case .ended = event { ended.change { $0 = true } }
                }
                try player.open(TestAssets.path("short.mp4"))
                let isDone = ended.wait(until: MonotonicClock.shared.now() + .seconds(30)) { $0 ? true : nil }
                player.close()
                precondition(isDone == true, "a play did not end")
                precondition(player.statistics.framesPresented > 0, "a play showed nothing")
            }
            func descriptors() -> Int { (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0 }
            func residentKiB() -> Int {
                let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
                let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
                return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
            }
            for _ in 0..<100 { try playOnce() }
            let before = (descriptors: descriptors(), memory: residentKiB())
            for _ in 0..<900 { try playOnce() }
            let after = (descriptors: descriptors(), memory: residentKiB())
            precondition(after.descriptors <= before.descriptors + 2, "descriptors: \(before.descriptors) → \(after.descriptors)")
            // Sanitizers keep what was freed; that is no growth of ours.
            let isSanitized = unsafe dlsym(nil, "__asan_init") != nil || dlsym(nil, "__tsan_init") != nil
            precondition(isSanitized || after.memory <= before.memory + 6 * 1024, "memory in KiB: \(before.memory) → \(after.memory)")
        }
        if let outcome, outcome.exitStatus != .exitCode(0) {
            let errors = String(decoding: outcome.standardErrorContent, as: UTF8.self)
            Issue.record("\(errors.split(separator: "\n").first { $0.contains("error:") } ?? "")")
        }
    }
}
