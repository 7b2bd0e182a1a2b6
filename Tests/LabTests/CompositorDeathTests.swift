import DisplaySink
import Foundation
import Media
import Player
import TestSupport
import Testing
import WaylandSink

/// Compositors that are killed at any moment under a film, as crashes do.
@Suite("Compositors that die", .serialized, .enabled(if: Lab.isHere, "runs in the virtual machine: scripts/lab suite"))
struct CompositorDeathTests {
    private static let count = Lab.isFull ? 20 : 4
    private let buffersBefore: Int

    init() throws { buffersBefore = try LabMonitor.sharedBufferCount() }

    private func until(_ what: String, _ isDone: () throws -> Bool) throws {
        guard try Polling.until(every: .milliseconds(100), isDone) else { throw Lab.Failure(description: "\(what) did not happen") }
    }

    @Test("each ends the film with one sentence and leaves nothing behind")
    func storm() throws {
        var dice = Dice(seed: 69)
        let names = LabCompositor.Name.allCases
        for round in 0..<Self.count {
            let compositor = try LabCompositor(names[round % names.count]), handle = PlayProgram.Handle()
            let outcome = PlayProgram.begin(
                ["--sink", "wayland", "--no-audio", "--fullscreen", "--loop", TestAssets.demo], environment: compositor.environment, limit: 150,
                handle: handle)
            try until("a thread that presents") { handle.processIdentifier.map(Self.threads)?.contains("present") == true }
            Thread.sleep(forTimeInterval: .random(in: 0...2, using: &dice))
            compositor.kill()
            let end = try outcome()
            #expect(!end.crashed && end.code == 69, "round \(round), \(compositor.name): \(end.code)")
            #expect(end.errors.split(separator: "\n").count == 1, "round \(round), \(compositor.name): \(end.errors)")
        }
        try LabMonitor.expectSharedBuffers(atMost: buffersBefore)
    }

    @Test("a film that reconnects goes on through all of them")
    func reconnects() throws {
        // Both have the same socket: one takes DMA-BUFs, the other shared memory.
        let names: [LabCompositor.Name] = [.weston, .westonPixman]
        var compositor = try LabCompositor(names[0])
        let sink = try WaylandSink(display: compositor.socket, reconnects: true), messages = Monitor<[String]>([])
        sink.setFullscreen(true)
        var configuration = PlayerConfiguration()
        (configuration.playsAudio, configuration.loops) = (false, true)
        let player = Player(sink: sink, configuration: configuration) { event in messages.change { $0.append("\(event)") } }
        try player.open(TestAssets.demo)
        defer { player.close() }
        var descriptors: [LabCompositor.Name: Int] = [:]
        for round in 0...Self.count {
            if round > 0 {
                compositor.kill()
                compositor = try LabCompositor(names[round % 2])
            }
            let presented = player.statistics.framesPresented
            try until("the film on compositor \(round): \(messages.withLock { $0.suffix(4) })") {
                player.statistics.framesPresented >= presented + 3 && sink.isFullscreen
            }
            let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
            // The decoder may have come to use some surfaces more; a leak would take one or more each time.
            #expect(open <= descriptors[compositor.name, default: open] + 12, "round \(round)")
            descriptors[compositor.name] = descriptors[compositor.name] ?? open
        }
        let whole = PixelRect(compositor.size)
        try until("the film on the screen") { FrameCode(try compositor.screenshot("reconnected"), in: whole) != nil }
        #expect(!messages.withLock { $0.contains { $0.hasPrefix("failed") } }, "\(messages.withLock { $0 })")
        player.close()
        // It keeps buffers of its own while it lives.
        compositor.kill()
        try LabMonitor.expectSharedBuffers(atMost: buffersBefore)
    }

    /// The names of a process's threads; none when it has ended.
    private static func threads(_ process: Int32) -> [String] {
        let folder = "/proc/\(process)/task"
        return ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).compactMap { task in
            (try? String(contentsOfFile: "\(folder)/\(task)/comm", encoding: .utf8))?.trimmingCharacters(in: .newlines)
        }
    }
}
