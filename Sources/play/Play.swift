internal import ArgumentParser
internal import Glibc
internal import Media
internal import PlaySupport
internal import Player

/// `play FILE` shows a film; `play info`, `play frames` and `play devices` look without playing.
@main
struct Play: ParsableCommand {
    // Each command says its name: to make it of the type's takes ArgumentParser a twentieth of the program's start.
    static let configuration = CommandConfiguration(
        commandName: ProgramName.current,
        abstract: "Plays films in a Wayland window, on a bare monitor, into checksums, or into nothing.",
        version: "0.1.0",
        subcommands: [PlayOptions.self, Info.self, Frames.self, Convert.self, Compose.self, Record.self, Devices.self],
        defaultSubcommand: PlayOptions.self)

    /// Runs the command that the words name. Every text goes out whole, or the exit code says that it did not.
    static func main() {
        // Writing to a closed pipe is an error to report, not a reason to die.
        signal(SIGPIPE, SIG_IGN)
        occupyStandardDescriptors()
        Ending.explainShortages()
        let words = Array(arguments.dropFirst())
        do {
            // Without a subcommand, `--help` shows the options of playing, and a missing film is reported as an error of playing.
            if words == ["--help"] || words == ["-h"] || words == ["help"] { return end(saying: PlayOptions.helpMessage()) }
            if words.isEmpty { throw ValidationError(PlayOptions.noFilm) }
            var command = try parsed(words)
            try command.run()
        } catch let error as PlayerError {
            Ending.claim(PlaySupport.ExitCode(error).rawValue)
            Terminal.write("\(ProgramName.current): \(error.description.printable)\n")
            Glibc.exit(PlaySupport.ExitCode(error).rawValue)
        } catch {
            let isOfPlaying = error is ValidationError || message(for: error) == PlayOptions.noFilm
            let code = isOfPlaying ? PlayOptions.exitCode(for: error) : exitCode(for: error)
            // The subcommand that plays is not one to type.
            let text = (isOfPlaying ? PlayOptions.fullMessage(for: error) : fullMessage(for: error))
                .replacing("'file --help'", with: "'\(ProgramName.current) --help'")
            if code.isSuccess { end(saying: text) }
            if !text.isEmpty {
                Terminal.write(text.split(separator: "\n", omittingEmptySubsequences: false).map { String($0).printable + "\n" }.joined())
            }
            Glibc.exit(code.rawValue)
        }
    }

    /// The command that the words name. Among several faults it throws the one that is in a word, before the one that a film is missing.
    private static func parsed(_ words: [String]) throws -> any ParsableCommand {
        do { return try command(words) } catch {
            guard message(for: error) == PlayOptions.noFilm else { throw error }
            _ = try command(words + ["-"])
            throw error
        }
    }

    /// Options that ask about the whole program. What is installed is made of the second one's answer.
    private static let questions: Set = ["--version", "--experimental-dump-help"]

    private static func command(_ words: [String]) throws -> any ParsableCommand {
        let others = configuration.subcommands.filter { $0 != PlayOptions.self }.map { $0._commandName } + ["help"]
        let isOfAll = others.contains(words[0]) || !questions.isDisjoint(with: words)
        return try isOfAll ? parseAsRoot(words) : Configuration.command(words)
    }

    /// Takes the numbers of standard input, output and error where they are closed, so that nothing that the program opens is mistaken for them.
    /// Reading such an input and writing to such an output fail as before.
    private static func occupyStandardDescriptors() {
        for (number, mode) in [(STDIN_FILENO, O_WRONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_RDONLY)] where fcntl(number, F_GETFD) < 0 {
            // The lowest number that is free is this one.
            _ = unsafe open("/dev/null", mode)
        }
    }

    /// The words of the command line, with paths of any bytes.
    private static var arguments: [String] {
        (0..<Int(CommandLine.argc)).flatMap { index in
            unsafe CommandLine.unsafeArgv[index].map { word in
                let text = unsafe PathText.text(UnsafeBufferPointer(start: word, count: strlen(word)).lazy.map { UInt8(bitPattern: $0) })
                return CameraArguments.words(text)
            } ?? []
        }
    }

    /// Writes a help or version text to standard output.
    private static func end(saying text: String) {
        do throws(PlayerError) { try StandardOutput.write(text.hasSuffix("\n") ? text : text + "\n") } catch {
            Terminal.write("\(ProgramName.current): \(error.description.printable)\n")
            Glibc.exit(PlaySupport.ExitCode(error).rawValue)
        }
        Glibc.exit(0)
    }
}
