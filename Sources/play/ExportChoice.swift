internal import ArgumentParser

/// Where `--export` serves the frames to other programs.
struct ExportChoice: ExpressibleByArgument, Equatable {
    /// The path of the socket.
    let path: String

    init?(argument: String) {
        guard argument.hasPrefix("unixfd:"), argument.count > 7 else { return nil }
        path = String(argument.dropFirst(7))
    }
}
