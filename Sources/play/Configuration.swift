internal import ArgumentParser
internal import Glibc
internal import Media
internal import PlaySupport

/// Where the program finds its configuration.
struct ConfigurationArguments: ParsableArguments {
    @Flag(help: "Do not read the configuration files /etc/scanout/scanout.conf and ~/.config/scanout/scanout.conf.")
    var noConfig = false

    @Option(help: ArgumentHelp("Read scanout.conf in this folder instead.", valueName: "folder"))
    var configDir: String?

    @Option(help: ArgumentHelp("Take the options of these profiles of the configuration files.", valueName: "name,…"))
    var profile: String?

    /// The files of this name, the weakest first.
    func paths(of name: String) -> [String] {
        if noConfig { return [] }
        if let configDir { return ["\(configDir)/\(name)"] }
        let folder = Self.variable("XDG_CONFIG_HOME") ?? Self.variable("HOME").map { $0 + "/.config" }
        return ["/etc/scanout/\(name)"] + (folder.map { ["\($0)/scanout/\(name)"] } ?? [])
    }

    private static func variable(_ name: String) -> String? {
        unsafe getenv(name).map { unsafe String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }
}

/// The words of a command line that plays, together with what configuration files and mpv's names of options mean.
enum Configuration {
    /// 1 MiB: nobody writes more.
    private static let sizeLimit = 1 << 20

    /// Parses the words of a command line that plays. Lines of files that make no sense are said and left out.
    static func command(_ words: [String]) throws -> PlayOptions {
        let given = words.first == PlayOptions.configuration.commandName ? Array(words.dropFirst()) : words
        var command: PlayOptions
        do { command = try PlayOptions.parse(given) } catch {
            // Perhaps mpv's words.
            command = try PlayOptions.parse(try resolved([], [], given).words)
        }
        let arguments = command.configuration
        var files: [(path: String, file: ConfigurationFile)] = []
        for path in arguments.paths(of: "scanout.conf") { if let text = read(path) { files.append((path, ConfigurationFile(text: text))) } }
        if files.isEmpty && arguments.profile == nil { return command }
        let (all, faults) = try resolved(files, arguments.profile?.split(separator: ",").map(String.init) ?? [], given)
        command = try PlayOptions.parse(all)
        if !command.quiet { for fault in faults { Terminal.write("\(ProgramName.current): \(fault.printable)\n") } }
        return command
    }

    /// The words of files, profiles and the command line, and what of the files makes no sense.
    private static func resolved(
        _ files: [(path: String, file: ConfigurationFile)], _ profiles: [String], _ given: [String]
    ) throws -> (words: [String], faults: [String]) {
        guard let catalogue else { return (given, []) }
        var words = OptionWords(catalogue), faults: [String] = []
        do throws(OptionWords.Failure) {
            for (path, file) in files { faults += words.add(file).map { "\(path):\($0.line): \($0.reason)." } }
            for name in profiles { faults += try words.add(profile: name).map { "profile \(name), line \($0.line): \($0.reason)." } }
            try words.add(given)
        } catch { throw ValidationError("\(error.reason.prefix(1).uppercased() + error.reason.dropFirst()).") }
        return (words.words, faults)
    }

    /// The options of playing.
    private static let catalogue: OptionCatalogue? = {
        do { _ = try PlayOptions.parse(["--experimental-dump-help"]) } catch {
            return OptionCatalogue(description: PlayOptions.fullMessage(for: error))
        }
        return nil
    }()

    /// False where there is none, and in a folder that is closed to this user, such as another one's home. It needs no descriptor, which the system
    /// may lack. Keeps `errno`.
    private static func isSeen(_ path: String) -> Bool {
        let code = errno
        defer { errno = code }
        var status = stat()
        return unsafe stat(path, &status) == 0 || ![ENOENT, ENOTDIR, EACCES].contains(errno)
    }

    /// The file's text; nil where there is none. One that cannot be read is said, and one that is needed and is not there.
    static func read(_ path: String, isNeeded: Bool = false) -> String? {
        // A pipe without a writer would keep everybody waiting.
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        if !isNeeded, descriptor < 0, !isSeen(path) { return nil }
        if descriptor >= 0 {
            let file = OwnedFD(adopting: descriptor)
            var bytes: [UInt8] = [], chunk = [UInt8](repeating: 0, count: 64 << 10), count = 0
            repeat {
                count = unsafe Glibc.read(file.rawValue, &chunk, chunk.count)
                bytes += chunk.prefix(max(count, 0))
            } while count > 0 && bytes.count <= sizeLimit
            if count == 0 { return String(decoding: bytes, as: UTF8.self) }
            if count > 0 { errno = EFBIG }
        }
        Terminal.write("\(ProgramName.current): \(path.printable): the configuration cannot be read: \(unsafe String(cString: strerror(errno))).\n")
        return nil
    }
}
