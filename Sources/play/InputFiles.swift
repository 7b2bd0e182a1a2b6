internal import Media
internal import PlaySupport
internal import RemoteControl

/// What keys mean by the files of key bindings.
enum InputFiles {
    /// The bindings of the program, then those of `input.conf` in the folders of the configuration, then those of `--input-conf`. Lines that make no
    /// sense are said and left out.
    static func bindings(_ options: PlayOptions) -> KeyBindings {
        var bindings = KeyBindings(standard: options.inputDefaultBindings)
        var files = options.configuration.paths(of: "input.conf").map { ($0, isNeeded: false) }
        if let path = options.inputConf { files.append((path, isNeeded: true)) }
        for (path, isNeeded) in files {
            guard let text = Configuration.read(path, isNeeded: isNeeded) else { continue }
            for fault in bindings.add(text) where !options.quiet {
                Terminal.write("\(ProgramName.current): \("\(path):\(fault.line): \(fault.reason).".printable)\n")
            }
        }
        return bindings
    }
}
