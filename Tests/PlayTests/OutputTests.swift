import Foundation
import TestSupport
import Testing

/// What the program does when its output has no room or nobody reads it: one sentence, exit code 74.
@Suite(.serialized, .unsanitized) struct OutputTests {
    private static let untimed = ["--sink", "headless", "--untimed"]
    private static let film = TestAssets.path("plain.mp4")

    private static let toStandardOutput = [
        ["info", film], ["info", "--json", film], ["devices"], ["--help"], ["info", "--help"], ["--version"], ["--sink", "md5=-", film],
        untimed + ["--stats", "-", film],
    ]

    @Test(arguments: toStandardOutput) func `a full disk behind standard output is said`(_ arguments: [String]) throws {
        let outcome = try PlayProgram.run(arguments, sink: FileHandle(forWritingAtPath: "/dev/full"))
        expectSentence(outcome, "standard output")
    }

    @Test(arguments: toStandardOutput) func `a pipe that nobody reads is said`(_ arguments: [String]) throws {
        let pipe = Pipe()
        try pipe.fileHandleForReading.close()
        let outcome = try PlayProgram.run(arguments, sink: pipe.fileHandleForWriting)
        expectSentence(outcome, "standard output")
    }

    @Test(arguments: toStandardOutput) func `a closed standard output is said`(_ arguments: [String]) throws {
        let outcome = try PlayProgram.run(arguments, launcher: ["sh", "-c", "exec \"$0\" \"$@\" >&-"])
        // A file that the program opens may have taken the number.
        #expect(!outcome.crashed && (outcome.code == 74 || outcome.code == 73), "\(outcome.code): \(outcome.errors)")
    }

    @Test(arguments: [
        ["--sink", "md5=/dev/full", film], ["--sink", "md5=/dev/full", TestAssets.demo], untimed + ["--stats", "/dev/full", film],
    ])
    func `a file that has no room is said`(_ arguments: [String]) throws {
        expectSentence(try PlayProgram.run(arguments), "/dev/full")
    }

    @Test func `checksums that a signal cuts short are said, too`() throws {
        let arguments = ["--sink", "md5=/dev/full", "--duration", "1", TestAssets.demo]
        expectSentence(try PlayProgram.run(arguments), "/dev/full")
    }

    @Test func `a slow reader gets everything`() throws {
        let pipe = Pipe()
        // A pipe whose writer does not wait says that it is full.
        let descriptor = pipe.fileHandleForWriting.fileDescriptor
        #expect(fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK) == 0)
        let program = PlayProgram.begin(["--sink", "md5=-"] + [TestAssets.demo], sink: pipe.fileHandleForWriting)
        var text = Data()
        while text.count < 20_000, let part = try pipe.fileHandleForReading.read(upToCount: 512), !part.isEmpty { text += part }
        try pipe.fileHandleForWriting.close()
        text += try pipe.fileHandleForReading.readToEnd() ?? Data()
        let outcome = try program()
        let reference = try PlayProgram.run(["--sink", "md5=-", TestAssets.demo]).output
        #expect(outcome.code == 0 && String(decoding: text, as: UTF8.self) == reference, "\(outcome.errors)")
    }

    private func expectSentence(_ outcome: PlayProgram.Outcome, _ words: String) {
        #expect(!outcome.crashed && outcome.code == 74, "\(outcome.code): \(outcome.errors)")
        let lines = outcome.errors.split(separator: "\n")
        #expect(lines.count == 1 && lines[0].hasPrefix("play: ") && lines[0].contains(words), "\(outcome.errors)")
    }
}
