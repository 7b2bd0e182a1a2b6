import Foundation
import Media
import TestSupport
import Testing

/// The kiosk under systemd: the unit of `contrib/kiosk`, as its page says it is set up.
@Suite("A kiosk under systemd", .serialized, .enabled(if: Lab.isHere, "runs in the virtual machine: scripts/lab suite"))
struct KioskTests {
    private let monitor: LabMonitor

    init() throws {
        monitor = try LabMonitor()
        // The console that the unit shows when the player ends.
        try monitor.switchConsole(to: 1)
    }

    /// Waits until systemd has started it again so often, and the film is on the monitor.
    private func expectRestart(_ count: Int, of kiosk: LabKiosk) throws {
        // Each question starts a program, which takes a processor of the lab for half a second.
        let isBack = try Polling.until(every: .seconds(2)) { try kiosk.restarts() == count && kiosk.property("ActiveState") == "active" }
        #expect(isBack, "\(kiosk.log)")
        try monitor.waitForFilm()
    }

    /// The words of the unit's own command, but for the monitor: the lab has two.
    private func command(_ words: String) -> [String] {
        ["ExecStart=", "ExecStart=/usr/local/bin/scanout --sink kms --connector \(monitor.device) \(words)"]
    }

    @Test("it starts with its first frame, waits for its monitor, and starts again when it crashes, hangs, or its film stands still")
    func restarts() throws {
        let kiosk = try LabKiosk(command("--loop --quiet /srv/kiosk/film.mp4"))
        try monitor.plug(false)
        try kiosk.begin()
        #expect(try Polling.holds(for: .seconds(5)) { try kiosk.property("ActiveState") == "activating" })
        try monitor.plug(true)
        try kiosk.start()
        #expect(try monitor.showsFilm(), "\(kiosk.log)")
        let before = try kiosk.restarts()
        // Longer than systemd waits for a sign of life: nothing moves, and nothing is wrong.
        try monitor.plug(false)
        Thread.sleep(forTimeInterval: 20)
        try monitor.plug(true)
        try monitor.waitForFilm()
        #expect(try kiosk.restarts() == before, "\(kiosk.log)")
        // Without the rights to open a monitor: by the seat manager.
        let player = try kiosk.player()
        let status = try String(contentsOfFile: "/proc/\(player)/status", encoding: .utf8)
        #expect(status.contains("NoNewPrivs:\t1") && !status.contains("Uid:\t0"))
        kill(player, SIGKILL)
        try expectRestart(before + 1, of: kiosk)
        // The same watchdog as below, which finds what is harder to notice; each costs the lab half a minute.
        if Lab.isFull {
            kill(try kiosk.player(), SIGSTOP)
            try expectRestart(before + 2, of: kiosk)
        }
        let crashes = try kiosk.restarts()
        // The main loop runs on, and nobody asks for frames any more. A thread that is traced outlives its process.
        var stopped = StoppedThread("present", of: try kiosk.player())
        #expect(stopped != nil)
        #expect(try Polling.until(every: .seconds(2)) { try kiosk.property("Result") == "watchdog" }, "\(kiosk.log)")
        stopped = nil
        try expectRestart(crashes + 1, of: kiosk)
        try kiosk.stop()
        try monitor.waitForConsole(1)
        #expect(try !monitor.showsFilm())
    }

    @Test("a folder may change while it plays")
    func folder() throws {
        let socket = "/run/kiosk/player"
        let kiosk = try LabKiosk(
            command("--loop-playlist --image-duration 1 --input-ipc-server \(socket) /srv/kiosk") + ["RuntimeDirectory=kiosk"])
        let folder = kiosk.path("/srv/kiosk/"), files = FileManager.default
        let film = ["-f", "lavfi", "-i", "testsrc=s=64x64", "-frames:v", "1", folder + "a.png"]
        _ = try Lab.output(of: "ffmpeg", ["-nostdin", "-v", "error"] + film)
        try files.removeItem(atPath: folder + "film.mp4")
        try files.copyItem(atPath: folder + "a.png", toPath: folder + "b.png")
        try kiosk.start()
        func waitFor(_ name: String, of count: Int) throws {
            let isSeen = try Polling.until(every: .milliseconds(200)) {
                try kiosk.answer("filename", at: socket) == "\"\(name)\"" && kiosk.answer("playlist-count", at: socket) == "\(count)"
            }
            #expect(isSeen, "\(name): \(kiosk.log)")
        }
        try waitFor("b.png", of: 2)
        try files.copyItem(atPath: folder + "a.png", toPath: folder + "c.png")
        try waitFor("c.png", of: 3)
        try files.removeItem(atPath: folder + "b.png")
        try waitFor("c.png", of: 2)
        #expect(try kiosk.restarts() == 0)
        try kiosk.stop()
    }
}
