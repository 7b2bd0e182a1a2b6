import Foundation
import Media
import Sandbox
import TestSupport
import Testing

/// Starting a process without rights, and how its end is reported.
@Suite struct SandboxedProcessTests {
    @Test(arguments: [("/bin/true", "ended with code 0"), ("/bin/false", "ended with code 1")])
    func `a process that has ended by itself says how`(program: String, words: String) throws {
        let process = try SandboxedProcess.start(program)
        var sockets = [PollDescriptor(fd: process.work.rawValue, interest: .readable)]
        #expect(try pollDescriptors(&sockets, until: MonotonicClock.shared.now() + .seconds(60)) == 1)
        #expect(process.end() == words)
        #expect(process.pid == nil && process.end() == nil)
    }

    @Test func `a process that is still running is killed, and says nothing`() throws {
        let process = try SandboxedProcess.start(BuiltPrograms.decoder)
        let pid = try #require(process.pid)
        #expect(process.end() == nil)
        #expect(kill(pid, 0) == -1 && errno == ESRCH)
    }

    @Test(arguments: [BuiltPrograms.decoder, BuiltPrograms.demuxer])
    func `a confined process has no capability, and is not root's`(program: String) throws {
        let process = try SandboxedProcess.start(program), pid = try #require(process.pid)
        var sockets = [PollDescriptor(fd: process.work.rawValue, interest: .readable)]
        try #require(try pollDescriptors(&sockets, until: MonotonicClock.shared.now() + .seconds(60)) == 1)
        let lines = try String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8).split(separator: "\n")
        for name in ["CapInh", "CapPrm", "CapEff", "CapAmb"] {
            let line = try #require(lines.first { $0.hasPrefix(name) })
            #expect(line.hasSuffix("\t0000000000000000"), "\(line)")
        }
        // Where root lacks capabilities of its own, as in a container, its processes cannot leave it.
        guard geteuid() != 0 || Self.isWholeRoot else { return }
        let users = try #require(lines.first { $0.hasPrefix("Uid:") }).split(separator: "\t").dropFirst()
        #expect(users.allSatisfy { $0 != "0" }, "\(users)")
    }

    private static let isWholeRoot =
        (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8))?.contains("CapEff:\t000001ffffffffff") == true

    /// A stopped process does not notice that its sockets are closed: only the kernel can end it.
    @Test func `a process dies with the program that started it, even while it is stopped`() async throws {
        await #expect(processExitsWith: .success) {
            let process = try SandboxedProcess.start(BuiltPrograms.decoder), pid = try #require(process.pid)
            var sockets = [PollDescriptor(fd: process.work.rawValue, interest: .readable)]
            try #require(try pollDescriptors(&sockets, until: MonotonicClock.shared.now() + .seconds(60)) == 1)
            kill(pid, SIGSTOP)
            try "\(pid)".write(toFile: Self.note(of: getppid()), atomically: true, encoding: .utf8)
            // Without ending it.
            withExtendedLifetime(process) { _exit(0) }
        }
        let note = Self.note(of: getpid())
        defer { unsafe unlink(note) }
        let pid = try #require(Int32(try String(contentsOfFile: note, encoding: .utf8)))
        let limit = MonotonicClock.shared.now() + .seconds(60)
        while Self.isAlive(pid), MonotonicClock.shared.now() < limit { usleep(10_000) }
        #expect(!Self.isAlive(pid))
        kill(pid, SIGKILL)
    }

    private static func note(of pid: Int32) -> String { FileManager.default.temporaryDirectory.path + "/orphan-of-\(pid)" }

    /// A process that nobody reaps any more is dead, too.
    private static func isAlive(_ pid: Int32) -> Bool {
        guard let status = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8) else { return false }
        return status.split(separator: ")").last?.split(separator: " ").first != "Z"
    }

    @Test func `a program that is missing is unavailable`() {
        #expect { _ = try SandboxedProcess.start("/nowhere/decoder") } throws: { ($0 as? SandboxError)?.code == .unavailable }
        #expect { _ = try SandboxProgram.decoder.find("/nowhere/decoder") } throws: {
            "\($0)" == "/nowhere/decoder is not a program that can be started"
        }
        #expect { _ = try SandboxProgram.demuxer.find("/bin/true") } throws: {
            "\($0)" == "the program scanout-demuxer does not lie beside /bin/true"
        }
    }

    @Test func `the demuxer lies beside the decoder`() throws {
        #expect(try SandboxProgram.decoder.find(BuiltPrograms.decoder) == BuiltPrograms.decoder)
        #expect(try SandboxProgram.demuxer.find(BuiltPrograms.decoder) == BuiltPrograms.demuxer)
    }

    @Test func `a shortage of descriptors is told from a sandbox that does not exist`() async {
        await #expect(processExitsWith: .success) {
            let starts = Shortage.outcomes { () throws(SandboxError) in
                try SandboxedProcess.start("/bin/true").end()
            } isShortage: {
                $0.code == .outOfResources && [EMFILE, ENFILE].contains($0.status)
            }
            try #require(starts.shortages > 3 && starts.successes > 0 && starts.others.isEmpty, "\(starts)")
        }
    }

    @Test func `a spare process is handed over once, for what it was started for`() throws {
        let spares = SpareProcesses(), key = SpareProcesses.Key(program: "/bin/true")
        spares.prepare(key) { try SandboxedProcess.start("/bin/true") }
        spares.prepare(key) { throw SandboxError(.unavailable, "a second one was started") }
        #expect(spares.take(SpareProcesses.Key(program: "/bin/true", device: "/dev/dri/renderD128")) == nil)
        #expect(spares.take(key) != nil)
        #expect(spares.take(key) == nil)
    }
}
