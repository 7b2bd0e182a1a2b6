internal import ArgumentParser

/// How the pictures are given to other programs.
struct ExportChoice: ExpressibleByArgument, Equatable {
    /// The socket's.
    let path: String

    init?(argument: String) {
        guard argument.hasPrefix("unixfd:"), argument.count > 7 else { return nil }
        path = String(argument.dropFirst(7))
    }
}
