internal import ArgumentParser

/// `play FILE` shows a film; `play info`, `play frames` and `play devices` look without playing.
@main
struct Play: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "play",
        abstract: "Plays films in a Wayland window, on a bare monitor, into checksums, or into nothing.",
        version: "0.1.0",
        subcommands: [PlayFile.self, Info.self, Frames.self, Devices.self],
        defaultSubcommand: PlayFile.self)

    /// Without a subcommand, `--help` shows the options of playing, and a missing film is reported as an error of playing.
    static func main() {
        let words = CommandLine.arguments.dropFirst()
        if words == ["--help"] || words == ["-h"] || words == ["help"] {
            print(PlayFile.helpMessage())
        } else if words.isEmpty {
            PlayFile.exit(withError: ValidationError("No film is named."))
        } else {
            main(Array(words))
        }
    }
}
