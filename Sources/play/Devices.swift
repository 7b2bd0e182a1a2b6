internal import ArgumentParser
internal import Glibc
internal import Player

/// `play devices`: what this machine offers.
struct Devices: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Say which sinks, decoders, kinds of memory and sound devices there are, and why one is not usable.")

    @Flag(help: "As one JSON object.")
    var json = false

    @Option(help: ArgumentHelp("Look at this render node instead of all.", valueName: "path"))
    var device: String?

    func run() {
        let report = DeviceReport(displays: SinkFactory.findings(), device: device)
        Terminal.write((json ? report.json.prettyText : report.text) + "\n", to: STDOUT_FILENO)
    }
}
