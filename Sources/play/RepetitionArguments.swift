internal import ArgumentParser

/// What happens at the end of a film, and at the end of the list.
struct RepetitionArguments: ParsableArguments {
    @Flag(help: "Play each film again at its end, for ever; --loop=2 (or --loop-file=2): two more times.")
    var loop = false

    @Option(help: ArgumentHelp("Play each film so many more times, as --loop=N.", visibility: .hidden))
    var loopTimes: Int?

    @Flag(help: "Begin again with the first film after the last, for ever; --loop-playlist=2: play the list twice.")
    var loopPlaylist = false

    @Option(help: ArgumentHelp("Play the list so many times, as --loop-playlist=N.", visibility: .hidden))
    var listTurns: Int?

    @Flag(help: "Keep the last frame of the last film until a key ends the program; one may go back from there. --keep-open=always: of each film.")
    var keepOpen = false

    @Flag(help: ArgumentHelp("Keep the last frame of each film, as --keep-open=always.", visibility: .hidden))
    var keepOpenAlways = false

    @Flag(help: "Without a film, and after the last one, wait for remote controls to name one; --idle=once: only before the first.")
    var idle = false

    @Flag(help: ArgumentHelp("Wait for the first film, as --idle=once.", visibility: .hidden))
    var idleOnce = false

    /// How many times each film begins again; `Int.max`: for ever.
    var loopCount: Int { loop ? .max : loopTimes ?? 0 }

    /// How many times the list is played; `Int.max`: for ever.
    var turns: Int { loopPlaylist ? .max : listTurns ?? 1 }

    /// The program may be without a film.
    var waits: Bool { idle || idleOnce }

    /// Whether a film that has ended stays, and nothing follows by itself.
    func keeps(hasNext: Bool) -> Bool { keepOpenAlways || (keepOpen && !hasNext) }

    /// - Parameter isChecked: checksums are made, which have an end.
    func validate(isChecked: Bool) throws {
        if let loopTimes, !(0...10_000).contains(loopTimes) { throw ValidationError("--loop takes at most 10000 times.") }
        if let listTurns, !(1...10_000).contains(listTurns) { throw ValidationError("--loop-playlist takes 1 to 10000 times.") }
        guard isChecked else { return }
        if keepOpen || keepOpenAlways { throw ValidationError("--keep-open would never end the checksums.") }
        if waits { throw ValidationError("--idle would never end the checksums.") }
        if loop || loopPlaylist { throw ValidationError("--\(loop ? "loop" : "loop-playlist") would write checksums for ever.") }
    }
}
