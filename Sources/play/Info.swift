internal import ArgumentParser
internal import JSON
internal import Media
internal import PlaySupport
internal import Player
internal import Sandbox

/// `play info FILE`: shows what a file holds.
struct Info: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "info", abstract: "Show the tracks, formats and durations of a file.")

    @Argument(help: "A file or a URL that libavformat opens, or a time line (.otio).")
    var file: String

    @Flag(help: "Print one JSON object.")
    var json = false

    @Flag(help: "List every sample: kind, times, size, place in the file. Reads the whole file.")
    var samples = false

    @Option(help: ArgumentHelp("As for playback: full and require read the file in a process without rights.", valueName: "off|decoder|full|require"))
    var sandbox: SandboxChoice = .off

    func run() throws {
        var report = try MediaReport(location: file, sandbox: SandboxOptions(policy: SandboxPolicy(rawValue: sandbox.rawValue) ?? .off))
        for notice in report.notices { Terminal.write(notice.printable + "\n") }
        if samples { try report.readSamples() }
        try StandardOutput.write((json ? report.json.prettyText : report.text) + "\n")
    }
}
