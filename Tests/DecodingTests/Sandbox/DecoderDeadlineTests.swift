import Glibc
import Media
import Sandbox
import SurfacePool
import TestSupport
import Testing

@testable import Decoding

/// A decoder process that does not do what it was asked has a limited time, whatever it says meanwhile.
@Suite struct DecoderDeadlineTests {
    private static let layout = SurfaceLayout(format: .yuv420p, covering: PixelSize(width: 64, height: 64))

    /// How the process ends while a thread runs `talk` again and again: at most for a minute, after which the process goes by itself.
    private static func end(of stage: LyingProcess, _ talk: @escaping @Sendable (LyingProcess) throws -> Void) -> String? {
        let listener = stage.listener(deadline: .milliseconds(300))
        let thread = LoopThread(name: "liar") {
            let limit = MonotonicClock.shared.now() + .seconds(60)
            while MonotonicClock.shared.now() < limit, (try? talk(stage)) != nil {}
            stage.work.shutDown()
        }
        defer { thread.join() }
        defer { stage.process.kill() }
        do throws(ProcessEnd) {
            while true { _ = try listener.next() }
        } catch {
            return error.sentence
        }
    }

    @Test func `answers that come slowly do not prolong it`() throws {
        let sentence = Self.end(of: try LyingProcess()) { stage in
            try stage.says(.dropped(sampleNumber: 1, .noFrame))
            usleep(50_000)
        }
        #expect(sentence == ProcessEnd.hung.sentence)
    }

    @Test func `a flood of requests for memory does not hide its end`() throws {
        let sentence = Self.end(of: try LyingProcess(maximumCount: 1)) { stage in
            try stage.wishes(.want(Self.layout))
            var answer = [PollDescriptor(fd: stage.memory.rawValue, interest: .readable)]
            _ = try pollDescriptors(&answer, until: MonotonicClock.shared.now() + .seconds(1))
            while case .some(let grant) = try stage.hears() {
                if case .granted(let slot, _) = grant { try stage.wishes(.gone(slot: slot)) }
            }
        }
        #expect(sentence == ProcessEnd.hung.sentence)
    }

    @Test func `a claim to wait for the frame on the display does not prolong it`() throws {
        let stage = try LyingProcess()
        try stage.wishes(.want(Self.layout))
        try stage.listen()
        guard let use = stage.process.use(ofSlot: 0, visible: PixelRect(Self.layout.size)) else { Issue.record("no use"); return }
        let sentence = Self.end(of: stage) { stage in
            try stage.wishes(.pong(isExhausted: true))
            usleep(50_000)
        }
        #expect(sentence == ProcessEnd.hung.sentence)
        use.end()
    }

    @Test func `answers without end end it`() throws {
        let sentence = Self.end(of: try LyingProcess()) { stage in
            var writer = WireWriter()
            for _ in 0..<100 { writer.put(.dropped(sampleNumber: 1, .noFrame)) }
            try stage.work.send(writer, waits: true)
        }
        #expect(sentence == "answers without end")
    }
}
