internal import Media

/// The name under which the program runs: `play` where it is built, `scanout` where it is installed. Help and messages begin with it.
enum ProgramName {
    static let current = name(of: CommandLine.arguments.first ?? "")

    /// The last part of a path; `play` for an empty one.
    static func name(of path: String) -> String {
        let name = path.split(separator: "/").last ?? ""
        return name.isEmpty ? "play" : String(name).printable
    }
}
