import Foundation
import Media
import TestSupport
import Testing

/// A monitor, a console and a player that are treated far worse than people treat them.
@Suite("Storms on a monitor", .serialized, .enabled(if: Lab.isHere, "runs in the virtual machine: scripts/lab suite"))
struct MonitorStormTests {
    private let monitor: LabMonitor
    private let buffersBefore: Int

    init() throws {
        monitor = try LabMonitor()
        buffersBefore = try LabMonitor.sharedBufferCount()
    }

    /// Plays on the lab's monitor for ever; returns once the film is on it.
    private func play(_ options: [String] = ["--loop"], terminal: String? = nil) throws -> (PlayProgram.Handle, () throws -> PlayProgram.Outcome) {
        let handle = PlayProgram.Handle()
        let end = PlayProgram.begin(
            ["--sink", "kms", "--connector", monitor.device, "--no-audio", "--stats", "-"] + options + [TestAssets.demo], limit: 400, handle: handle,
            terminal: terminal)
        try monitor.waitForFilm()
        return (handle, end)
    }

    /// Nothing of it is left in the kernel.
    private func expectClean() throws {
        #expect(try !monitor.showsFilm())
        try LabMonitor.expectSharedBuffers(atMost: buffersBefore)
    }

    @Test("unplugged and plugged in again and again, the film goes on")
    func hotplug() throws {
        var dice = Dice(seed: 100)
        let (handle, end) = try play()
        for _ in 0..<(Lab.isFull ? 100 : 12) {
            try monitor.plug(false)
            Thread.sleep(forTimeInterval: .random(in: 0...0.08, using: &dice))
            try monitor.plug(true)
            Thread.sleep(forTimeInterval: .random(in: 0...0.08, using: &dice))
        }
        try monitor.waitForFilm()
        handle.interrupt()
        let outcome = try end()
        #expect(outcome.code == 0 && !outcome.crashed, "\(outcome.errors.suffix(500))")
        try expectClean()
    }

    @Test("with --on-unplug pause the film waits for its monitor")
    func pause() throws {
        let (handle, end) = try play(["--on-unplug", "pause", "--duration", "3"])
        try monitor.plug(false)
        // Twice as long as the film.
        #expect(Polling.holds(for: .seconds(6)) { handle.isRunning })
        try monitor.plug(true)
        let outcome = try end()
        #expect(outcome.code == 0 && !outcome.crashed, "\(outcome.errors)")
        try expectClean()
    }

    @Test("killed again and again, the next one has the monitor")
    func killed() throws {
        for _ in 0..<(Lab.isFull ? 50 : 4) {
            let (handle, end) = try play()
            handle.kill()
            #expect(try end().crashed)
            try monitor.waitForConsole()
        }
        let (handle, end) = try play()
        handle.interrupt()
        #expect(try end().code == 0)
        try expectClean()
    }

    @Test("switches to another console and back")
    func consoles() throws {
        try monitor.switchConsole(to: 1)
        let (handle, end) = try play(terminal: "/dev/tty1")
        for _ in 0..<(Lab.isFull ? 50 : 8) {
            try monitor.switchConsole(to: 2)
            try monitor.switchConsole(to: 1)
        }
        try monitor.waitForFilm()
        handle.interrupt()
        let outcome = try end()
        #expect(outcome.code == 0 && !outcome.crashed, "\(outcome.errors.suffix(500))")
        try expectClean()
        // The console is the kernel's again: it can be left without anybody's consent.
        try monitor.switchConsole(to: 2)
        try monitor.switchConsole(to: 1)
    }
}
