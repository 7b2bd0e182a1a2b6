import Foundation
import Media
import TestSupport
import Testing

/// What the program does where the system gives it little, or its inputs and outputs are none: it works, or says in one sentence why not. It never
/// hangs, and no signal ends it.
@Suite(.serialized, .neverSanitized) struct HardshipTests {
    /// What is wrong with the system: shell commands that the program starts after.
    struct Hardship: CustomStringConvertible {
        var description: String
        var shell: String
        /// The exit codes beside 0 that say it; empty: everything works all the same.
        var codes: Set<Int32>
        /// Standard error is gone, so that nothing can be said.
        var isMute = false
        /// The program runs as a user who has no other process: root is never refused one.
        var isStranger = false

        /// What the program is started by.
        var launcher: [String] {
            let stranger = ["setpriv", "--reuid=61234", "--regid=61234", "--clear-groups"]
            // Reads what the tests have built, wherever that lies.
            let reads = ["--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"]
            return (isStranger ? stranger + reads : []) + ["bash", "-c", shell + "; exec \"$0\" \"$@\""]
        }
    }

    /// 65: what a limit keeps from being decoded. 69, 71, 73, 74: something is missing, short, cannot be created or written.
    private static let refusals: Set<Int32> = [65, 66, 69, 71, 73, 74]

    private static let hardships: [Hardship] =
        // With three the dynamic loader does not even open the libraries.
        [4, 5, 6, 7, 8, 10, 12, 16, 24].map {
            Hardship(description: "\($0) descriptors", shell: "ulimit -n \($0)", codes: $0 == 4 ? refusals : [66, 69, 71, 73])
        }
        // With 350 MB of addresses the dynamic loader loads the libraries, and little more can be had. Where memory ends in the midst of everything,
        // words and ends of other libraries are part of what is seen: looked at in a full run.
        + (TestExtent.isFull ? [400, 450, 600, 1000] : [600, 1000]).map {
            Hardship(description: "\($0) MB of addresses", shell: "ulimit -v \($0 * 1000)", codes: refusals)
        }
        // Threads count, too. Another user cannot be had without rights.
        + (getuid() == 0 ? [1, 2, 3, 4, 6, 8, 12, 16] : []).map {
            Hardship(description: "\($0) processes", shell: "ulimit -u \($0)", codes: [69, 71], isStranger: true)
        } + [
            Hardship(description: "no file may grow", shell: "ulimit -f 0", codes: refusals),
            Hardship(description: "no home and no runtime folder", shell: "unset HOME XDG_RUNTIME_DIR XDG_CONFIG_HOME XDG_CACHE_HOME", codes: []),
            Hardship(description: "a home that cannot be written", shell: "export HOME=/proc/1 XDG_RUNTIME_DIR=/nowhere", codes: []),
            Hardship(description: "a home that is a file", shell: "export HOME=/dev/null XDG_RUNTIME_DIR=/dev/null", codes: []),
            Hardship(description: "standard input closed", shell: "exec <&-", codes: [66]),
            Hardship(description: "standard input endless", shell: "exec </dev/zero", codes: [65]),
            Hardship(description: "standard output closed", shell: "exec >&-", codes: [73, 74]),
            Hardship(description: "standard output full", shell: "exec >/dev/full", codes: [74]),
            Hardship(description: "standard error full", shell: "exec 2>/dev/full", codes: [], isMute: true),
            Hardship(description: "everything closed", shell: "exec <&- >&- 2>&-", codes: [66, 73, 74], isMute: true),
        ]

    private static let film = TestAssets.path("plain.mp4")
    private static let untimed = ["--sink", "headless", "--untimed", "--no-audio"]

    /// Each way to give the program something and to get something from it; `FOLDER` is one that can be written.
    private static let uses: [[String]] = [
        untimed + [film], ["info", film], ["info", "--samples", "--json", film], ["frames", film, "--at", "0", "--size", "64x", "-o", "FOLDER"],
        ["devices"], untimed + ["--stats", "FOLDER/stats", film], untimed + ["--stats", "-", film], ["--sink", "md5=FOLDER/sums", film],
        untimed + ["--export", "unixfd:FOLDER/socket", film], untimed + ["--sandbox", "full", film], ["info", "--sandbox", "full", film],
    ]

    @Test(arguments: hardships) func `every use of the program works, or says in one sentence why not`(_ hardship: Hardship) throws {
        // Standard input is that of one use only. A usual run takes every sixth pair.
        let uses = Self.uses + (hardship.shell.contains("<") ? [Self.untimed + ["-"]] : []), step = TestExtent.rounds(6, full: 1)
        let place = Self.hardships.firstIndex { $0.description == hardship.description } ?? 0
        for (number, use) in uses.enumerated() where (number + place) % step == 0 {
            let folder = "/tmp/hardship-\(UUID().uuidString.prefix(8))"
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: hardship.isStranger ? 0o777 : 0o700])
            defer { try? FileManager.default.removeItem(atPath: folder) }
            let outcome = try PlayProgram.run(
                use.map { $0.replacingOccurrences(of: "FOLDER", with: folder) }, environment: ["TERM": "dumb"],
                launcher: hardship.launcher)
            let what = Comment(rawValue: "\(hardship), \(use.joined(separator: " ")): \(outcome.code) \(outcome.errors)")
            #expect(!outcome.crashed && hardship.codes.union([0]).contains(outcome.code), what)
            // Runtimes that have no memory say so in words of their own first.
            let isOfOthers = ["Fatal error: failed to allocate ", "terminate called ", "  what():  std::bad_alloc"]
            let lines = outcome.errors.split(separator: "\n").filter { line in !isOfOthers.contains { line.hasPrefix($0) } }
            #expect(lines.count == (outcome.code == 0 || hardship.isMute ? 0 : 1), what)
            #expect(lines.allSatisfy { $0.hasPrefix("play: ") }, what)
        }
    }

    @Test(arguments: [
        untimed + ["/dev/zero"], ["info", "/dev/zero"], ["info", "--sandbox", "full", "/dev/zero"],
        ["frames", "/dev/zero", "--at", "0", "-o", "/tmp"],
        untimed + ["--raw", "h264", "/dev/zero"], untimed + ["--raw", "hevc", "/dev/zero"], untimed + ["/dev/urandom"], ["info", "/dev/urandom"],
    ]) func `an endless input that is no film is refused in one sentence`(_ arguments: [String]) throws {
        let outcome = try PlayProgram.run(arguments)
        #expect(!outcome.crashed && outcome.code == 65, "\(outcome.code): \(outcome.errors)")
        #expect(outcome.errors.hasPrefix("play: /dev/") && outcome.errors.split(separator: "\n").count == 1, "\(outcome.errors)")
    }

    /// An input that says nothing for ever: the program waits, and a signal ends it.
    @Test(arguments: [untimed + ["-"], untimed + ["--raw", "h264", "-"], untimed + ["--sandbox", "full", "-"]])
    func `an input that stays silent is waited for until a signal comes`(_ arguments: [String]) throws {
        let folder = "/tmp/hardship-\(UUID().uuidString.prefix(8))", handle = PlayProgram.Handle()
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try #require(unsafe mkfifo(folder + "/fifo", 0o600) == 0)
        let ended = PlayProgram.begin(arguments, handle: handle, terminal: folder + "/fifo")
        #expect(Polling.until { handle.isRunning })
        #expect(Polling.holds(for: .milliseconds(500)) { handle.isRunning })
        let told = Date()
        handle.send(SIGTERM)
        let outcome = try ended()
        #expect(!outcome.crashed && outcome.code == 0, "\(outcome.code): \(outcome.errors)")
        // Ten times what is promised: a busy machine.
        #expect(Date().timeIntervalSince(told) < 10)
    }

    /// A film that comes a few bytes at a time is played whole.
    @Test func `a slow input is played whole`() throws {
        let slowly = "exec < <(dd if='\(Self.film)' bs=200 status=none)"
        let outcome = try PlayProgram.run(Self.untimed + ["--stats", "-", "-"], launcher: ["bash", "-c", slowly + "; exec \"$0\" \"$@\""])
        let whole = try PlayProgram.run(Self.untimed + ["--stats", "-", Self.film])
        func presented(_ text: String) -> Substring? { text.split(separator: "\n").first { $0.contains("\"framesPresented\"") } }
        #expect(outcome.code == 0 && outcome.errors.isEmpty, "\(outcome.errors)")
        #expect(presented(outcome.output) != nil && presented(outcome.output) == presented(whole.output))
    }

    /// The file has another name until it is whole; what lies under that name is not written through.
    @Test func `a link in the way of a frame stays what it points to`() throws {
        let folder = "/tmp/hardship-\(UUID().uuidString.prefix(8))", kept = folder + "/kept", name = "plain-0.00.00.000.png"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try Data("mine".utf8).write(to: URL(fileURLWithPath: kept))
        try FileManager.default.createSymbolicLink(atPath: "\(folder)/\(name).part", withDestinationPath: kept)
        let outcome = try PlayProgram.run(["frames", Self.film, "--at", "0", "-o", folder])
        #expect(outcome.code == 0, "\(outcome.errors)")
        #expect(try String(contentsOfFile: kept, encoding: .utf8) == "mine")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == ["kept", name])
    }
}
