internal import ArgumentParser
internal import JSON
internal import PlaySupport

/// `play devices`: shows what this machine offers.
struct Devices: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "devices",
        abstract: "Show the sinks, decoders, kinds of memory, sound devices, cameras and microphones of this machine, and why one cannot be used.")

    @Flag(help: "Print one JSON object.")
    var json = false

    @Option(help: ArgumentHelp("Look at this render node only.", valueName: "path"))
    var device: String?

    func run() throws {
        let report = DeviceReport(displays: SinkFactory.findings(), device: device)
        try StandardOutput.write((json ? report.json.prettyText : report.text) + "\n")
    }
}
