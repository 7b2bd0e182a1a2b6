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

    @Test func `a program that is missing is unavailable`() {
        #expect { _ = try SandboxedProcess.start("/nowhere/decoder") } throws: { ($0 as? SandboxError)?.code == .unavailable }
        #expect { _ = try SandboxProgram.decoder.find("/nowhere/decoder") } throws: {
            "\($0)" == "/nowhere/decoder is not a program that can be started"
        }
        #expect { _ = try SandboxProgram.demuxer.find("/bin/true") } throws: {
            "\($0)" == "the program player-demuxer does not lie beside /bin/true"
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
