import Foundation
import TestSupport

/// A client in a process of its own, with a manner of its own; see `Tests/ExportClient`.
final class ClientProcess {
    enum Manner: String, CaseIterable {
        /// Gives every frame back at once.
        case prompt
        /// Gives frames back much later, in any order.
        case late
        /// Keeps what it has got.
        case never
        /// Gives a frame back, and then again.
        case twice
        /// Gives back what others hold.
        case foreign
        /// Connects and never reads.
        case deaf

        /// The server ends those that break the protocol.
        var isEndedByServer: Bool { self == .twice || self == .foreign }
    }

    enum Ending: Equatable {
        case exit(Int32)
        case signal(Int32)
    }

    /// What all clients of a test have counted together.
    struct Tally {
        let path = "/tmp/export-tally-\(getpid())"

        init() throws {
            let file = unsafe open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
            guard file >= 0, ftruncate(file, 16) == 0 else { throw Failure(what: "no tally") }
            close(file)
        }

        /// Frames that clients have looked at, and those of them that changed while they were held.
        var counts: (seen: UInt64, changed: UInt64) {
            var numbers: [UInt64] = [0, .max]
            let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
            defer { close(file) }
            _ = unsafe numbers.withUnsafeMutableBytes { unsafe read(file, $0.baseAddress, 16) }
            return (numbers[0], numbers[1])
        }

        func remove() { _ = unsafe unlink(path) }
    }

    struct Failure: Error { var what: String }

    let manner: Manner
    private let process = ChildProcess()

    init(_ manner: Manner, socket: String, seed: UInt64, tally: Tally) throws {
        self.manner = manner
        process.executableURL = URL(fileURLWithPath: BuiltPrograms.folder + "/export-client")
        process.arguments = [socket, manner.rawValue, String(seed), tally.path]
        try process.run()
    }

    deinit { _ = kill() }

    /// How it has ended; nil while it runs.
    func ending() -> Ending? {
        guard !process.isRunning else { return nil }
        return process.terminationReason == .exit ? .exit(process.terminationStatus) : .signal(process.terminationStatus)
    }

    /// Ends it as nothing can prevent, wherever it is. How it ended: by this, unless it was quicker.
    func kill() -> Ending {
        process.send(SIGKILL)
        process.waitUntilExit()
        return ending()!
    }
}
