internal import ArgumentParser
internal import Glibc
internal import Player

/// `play info FILE`: what a file holds.
struct Info: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Say what a file holds: tracks, formats, durations.")

    @Argument(help: "A file or a URL that libavformat opens.")
    var file: String

    @Flag(help: "As one JSON object.")
    var json = false

    func run() throws {
        do {
            let report = try MediaReport(location: file)
            Terminal.write((json ? report.json.prettyText : report.text) + "\n", to: STDOUT_FILENO)
        } catch {
            Terminal.write("play: \(error.description)\n", to: STDERR_FILENO)
            throw ArgumentParser.ExitCode(error.exitCode.rawValue)
        }
    }
}
