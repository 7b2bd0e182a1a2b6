import Foundation
import TestSupport
import Testing

/// `play` as a user who may open no display, given one by a real seatd.
@Suite("A seat's manager", .serialized, .enabled(if: Lab.isHere, "runs in the virtual machine: scripts/lab suite"))
struct SeatTests {
    private let monitor: LabMonitor
    private let seat: LabSeat

    init() throws {
        monitor = try LabMonitor()
        try monitor.switchConsole(to: 1)
        seat = try LabSeat()
    }

    private func begin(_ options: [String], _ handle: PlayProgram.Handle, limit: Double = 200) -> () throws -> PlayProgram.Outcome {
        PlayProgram.begin(
            ["--sink", "kms", "--connector", monitor.device, "--no-audio", "--verbose"] + options + [TestAssets.demo],
            environment: seat.environment, limit: limit, handle: handle, launcher: LabSeat.user)
    }

    /// Plays for ever; returns once the film is on the monitor.
    private func play() throws -> (PlayProgram.Handle, () throws -> PlayProgram.Outcome) {
        let handle = PlayProgram.Handle(), end = begin(["--loop"], handle)
        do { try monitor.waitForFilm() } catch {
            handle.kill()
            throw Lab.Failure(description: "\(error): \(try end().errors.suffix(500))")
        }
        return (handle, end)
    }

    @Test("a user without rights shows the film, leaves for another console and returns")
    func consoles() throws {
        let (handle, end) = try play()
        for _ in 0..<(Lab.isFull ? 50 : 5) {
            try monitor.switchConsole(to: 2)
            try monitor.waitForStandstill()
            try monitor.switchConsole(to: 1)
            try monitor.waitForFilm()
        }
        handle.interrupt()
        let outcome = try end()
        #expect(outcome.code == 0 && !outcome.crashed, "\(outcome.errors.suffix(500))")
        #expect(outcome.errors.contains("\(monitor.device) is opened by seatd, on seat0."), "\(outcome.errors)")
        #expect(try !monitor.showsFilm())
        // seatd gives the console back: it can be left without anybody's consent.
        try monitor.switchConsole(to: 2)
        try monitor.switchConsole(to: 1)
    }

    @Test("the seat's keyboards are heard: another console by Ctrl-Alt-F2, and the end by q")
    func keyboard() throws {
        let (_, end) = try play()
        try LabKeyboard.press("ctrl", "alt", "f2")
        try monitor.waitForConsole(2)
        // Not ours to hear, there.
        try LabKeyboard.press("q")
        try monitor.waitForStandstill()
        try monitor.switchConsole(to: 1)
        try monitor.waitForFilm()
        try LabKeyboard.press("q")
        let outcome = try end()
        #expect(outcome.code == 0 && !outcome.crashed, "\(outcome.errors)")
        #expect(try !monitor.showsFilm())
    }

    @Test("a manager that dies ends the film with one sentence")
    func death() throws {
        let (_, end) = try play()
        seat.kill()
        let outcome = try end()
        #expect(outcome.code == 69 && !outcome.crashed, "\(outcome.code)")
        let words = outcome.errors.split(separator: "\n").last ?? ""
        #expect(words.contains("The connection to the seat manager (seatd) is lost, and with it the monitor."), "\(outcome.errors)")
        #expect(try !monitor.showsFilm())
    }

    @Test("who is given nothing is told why")
    func refusals() throws {
        let (handle, end) = try play()
        let second = try begin([], PlayProgram.Handle(), limit: 60)()
        #expect(second.code == 69, "\(second.errors)")
        #expect(second.errors.contains("\(monitor.device) cannot be opened: Permission denied; the seat manager grants no seat"), "\(second.errors)")
        handle.interrupt()
        #expect(try end().code == 0)
        seat.kill()
        let alone = try begin([], PlayProgram.Handle(), limit: 60)()
        #expect(alone.code == 69, "\(alone.errors)")
        #expect(alone.errors.contains("Permission denied; members of the group video may open it"), "\(alone.errors)")
    }

    @Test("play devices says by which way the monitor is had")
    func devices() throws {
        let bySeat = try PlayProgram.run(["devices"], environment: seat.environment, launcher: LabSeat.user)
        #expect(bySeat.output.contains("opened by seatd, on seat0"), "\(bySeat.output) \(bySeat.errors)")
        seat.kill()
        let direct = try PlayProgram.run(["devices"], environment: seat.environment)
        #expect(direct.output.contains("opened directly"), "\(direct.output) \(direct.errors)")
    }
}
