import Foundation
import Media
import TestSupport
import Testing

/// The monitor of the lab's vkms, and what the kernel tells of it (debugfs).
struct LabMonitor {
    /// `/dev/dri/card1`.
    let device: String
    private let state: String

    init() throws {
        device = try Lab.output(of: "lab-card", ["vkms"])
        let number = device.drop { !$0.isNumber }
        state = "/sys/kernel/debug/dri/\(number)/state"
        try plug(true)
    }

    func plug(_ isPlugged: Bool) throws { _ = try Lab.output(of: "lab-hotplug", [isPlugged ? "on" : "off"]) }

    /// Waits until the console is shown, which needs the consent of a player on the one before.
    func switchConsole(to number: Int) throws { _ = try Lab.output(of: "/run/lab/busybox", ["chvt", "\(number)"]) }

    /// The framebuffers on planes now, but for the kernel's own console's.
    private func framebuffers() throws -> Set<Int> {
        var result: Set<Int> = [], last: Int?
        for line in try String(contentsOfFile: state, encoding: .utf8).split(separator: "\n") {
            if line.hasPrefix("\tfb=") { last = Int(line.dropFirst(4)) }
            if line.hasPrefix("\t\tallocated by = "), let framebuffer = last.take(), !line.hasSuffix("[fbcon]") { result.insert(framebuffer) }
        }
        return result
    }

    func showsFilm() throws -> Bool { try !framebuffers().isEmpty }

    /// Returns once frames follow one another on the monitor.
    func waitForFilm() throws {
        var seen: Set<Set<Int>> = []
        try wait("no film on the monitor") {
            let now = try framebuffers()
            if !now.isEmpty { seen.insert(now) }
            return seen.count >= 3
        }
    }

    func waitForConsole() throws { try wait("the film is still on the monitor") { try framebuffers().isEmpty } }

    /// Waits until that console is shown.
    func waitForConsole(_ number: Int) throws {
        try wait("console \(number) is not shown") {
            try String(contentsOfFile: "/sys/class/tty/tty0/active", encoding: .utf8).hasPrefix("tty\(number)\n")
        }
    }

    /// Returns once no new frame has come for much longer than a film's frames take.
    func waitForStandstill() throws {
        var last: Set<Int> = [], since = Date()
        try wait("frames still follow one another") {
            let now = try framebuffers()
            if now != last { since = Date() }
            last = now
            return Date().timeIntervalSince(since) > 0.5
        }
    }

    private func wait(_ failure: String, until isDone: () throws -> Bool) throws {
        guard try Polling.until(every: .milliseconds(10), isDone) else { throw Lab.Failure(description: failure) }
    }

    /// The DMA-BUFs that exist in the whole machine.
    static func sharedBufferCount() throws -> Int {
        let text = try String(contentsOfFile: "/sys/kernel/debug/dma_buf/bufinfo", encoding: .utf8)
        guard let line = text.split(separator: "\n").last, line.hasPrefix("Total "), let count = Int(line.split(separator: " ")[1]) else {
            throw Lab.Failure(description: "the kernel counts no DMA-BUFs: \(text.suffix(200))")
        }
        return count
    }

    /// That what ended a moment ago leaves no DMA-BUF behind: the kernel frees those of a process that was killed after it has told of its end.
    static func expectSharedBuffers(atMost count: Int) throws {
        #expect(try Polling.until(every: .milliseconds(100)) { try sharedBufferCount() <= count })
    }
}
