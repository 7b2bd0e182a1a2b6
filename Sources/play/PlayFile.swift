internal import ArgumentParser
internal import PlaySupport
internal import RemoteControl

/// `play FILE …`: wires options, sink, player, keys, signals and the status line together.
///
/// The options are the command: a level of option groups less. In debug builds ArgumentParser looks at each group sixteen times for each level.
extension PlayOptions: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "file", abstract: "Plays films in a Wayland window, on a bare monitor, into checksums, or into nothing.",
        usage: """
            \(ProgramName.current) [OPTIONS] FILE|URL|FOLDER|PLAYLIST|- …
            \(ProgramName.current) --camera [NAME|/dev/videoN] [--camera-size WxH] [--camera-rate N] [OPTIONS]
            \(ProgramName.current) info FILE [--json] [--samples]
            \(ProgramName.current) frames FILE --at TIMES | --every TIME | --sheet FILE [-o FOLDER]
            \(ProgramName.current) convert IN OUT [--copy | --video CODEC] [--start TIME]
            \(ProgramName.current) record OUT [--camera NAME] [--duration TIME]
            \(ProgramName.current) devices [--json]
            """,
        discussion: """
            Keys in the window and in the terminal: space or p pause, q or Esc quit, Q quit and begin here the next time, f full screen, ← → 5 s \
            (with Shift 1 s), ↑ ↓ 1 min, PgUp and PgDn next and previous chapter, . and , one frame, m mute, 9 and 0 (/ and *) volume, [ ] { } \
            speed, Backspace normal speed, End back to live, w W A Alt+arrows Alt++ Alt+- how the film fits, # sound track, j J v z x r t F G \
            subtitles, o where the film is, i I statistics, s S screenshot, l A-B loop, L the film for ever, F8 F9 the list and the \
            tracks, > or Enter next film, < previous film. input.conf in the folders of the configuration binds others (--input-keylist, \
            --input-cmdlist).

            A time line of OpenTimelineIO (.otio) is played like a film: what it has that is not supported is listed, and the rest plays.

            Of several films, one that fails is named and skipped; the exit code is that of the first failure.

            Exit codes: 0 played (or ended by q, a closed window, SIGINT, SIGTERM, SIGHUP or SIGQUIT), 64 wrong options, 65 nothing playable \
            or damaged, 66 cannot open, 69 no display or device, 70 internal error, 71 the system refuses memory, threads or descriptors, \
            73 cannot create an output file, 74 the film ends before its end, or an output cannot be written whole.
            """)

    func run() throws {
        if inputKeylist || inputCmdlist {
            let lines = inputKeylist ? KeyBindings.keyNames : KeyBindings.commandNames
            return try StandardOutput.write(lines.map { $0 + "\n" }.joined())
        }
        Ending.awaitSignals()
        let code = try PlaySession(options: self, terminal: Terminal()).run()
        if code != 0 { throw ArgumentParser.ExitCode(code) }
    }
}
