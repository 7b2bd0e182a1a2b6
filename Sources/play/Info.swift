internal import ArgumentParser
internal import Glibc
internal import Player
internal import Sandbox

/// `play info FILE`: what a file holds.
struct Info: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Say what a file holds: tracks, formats, durations.")

    @Argument(help: "A file or a URL that libavformat opens.")
    var file: String

    @Flag(help: "As one JSON object.")
    var json = false

    @Option(help: ArgumentHelp("As for playing: full and require read the file in a process without rights.", valueName: "off|decoder|full|require"))
    var sandbox: SandboxChoice = .off

    func run() throws {
        do {
            let report = try MediaReport(location: file, sandbox: SandboxOptions(policy: SandboxPolicy(rawValue: sandbox.rawValue) ?? .off))
            if let notice = report.notice { Terminal.write("\(notice)\n", to: STDERR_FILENO) }
            Terminal.write((json ? report.json.prettyText : report.text) + "\n", to: STDOUT_FILENO)
        } catch {
            Terminal.write("play: \(error.description)\n", to: STDERR_FILENO)
            throw ArgumentParser.ExitCode(error.exitCode.rawValue)
        }
    }
}
